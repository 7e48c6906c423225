import Contract
import Domain
import JSON
import Testing

@testable import Server

@Suite("Rate limits")
struct RateLimitTests {
    private static let limits: @Sendable (inout Configuration) -> Void = { $0.enforcesRateLimits = true }

    @Test("350 reads at once: 300 pass, the others wait until the minute is over")
    func exact() async throws {
        try await TestServer.run(configure: Self.limits) { server in
            let family = try await server.family()
            let replies = try await withThrowingTaskGroup(of: Reply.self) { group in
                for _ in 0..<350 {
                    group.addTask { try await server.call("GET", "/api/v1/audit/events?limit=1", as: family.guardian) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(replies.count { $0.status == 200 } == 300)
            let refused = replies.filter { $0.status == 429 }
            #expect(refused.count == 50)
            for reply in refused {
                #expect(reply.errorCode == "RATE_LIMITED" && reply.header("retry-after") == "60")
                #expect(reply.header("x-ratelimit-remaining") == "0" && reply.header("x-ratelimit-reset") == "60")
            }
            let remaining = replies.compactMap { $0.header("x-ratelimit-remaining").flatMap { Int($0) } }
            #expect(Set(remaining) == Set(0...299) && replies.allSatisfy { $0.header("x-ratelimit-limit") == "300" })
            // Others are not held up, and neither is she in another tier.
            #expect(try await server.call("GET", "/api/v1/audit/events", as: family.secondGuardian).status == 200)
            server.clock.advance(by: .seconds(59))
            #expect(
                try await server.call("GET", "/api/v1/audit/events", as: family.guardian).header("retry-after") == "1")
            server.clock.advance(by: .seconds(1))
            #expect(try await server.call("GET", "/api/v1/audit/events", as: family.guardian).status == 200)
        }
    }

    @Test("who is not signed in counts by address; probes never count")
    func anonymous() async throws {
        try await TestServer.run(configure: Self.limits) { server in
            var statuses: [Int] = []
            for _ in 0..<301 { statuses.append(try await server.call("GET", "/api/v1/metrics").status) }
            #expect(statuses.count { $0 == 200 } == 300 && statuses.last == 429)
            for _ in 0..<310 { #expect(try await server.call("GET", "/health/live").status == 200) }
        }
    }

    @Test("status changes are counted apart: 60 a minute")
    func tiers() async throws {
        try await TestServer.run(configure: Self.limits) { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child, in: family.id)
            for number in 1...61 {
                let reply = try await server.call(
                    "POST", "/api/v1/nags/\(nag)/status", as: family.child, body: ["status": "completed"])
                #expect(reply.status == (number <= 60 ? 200 : 429))
            }
            #expect(try await server.call("POST", "/api/v1/nags/\(nag)/dismiss", as: family.child).status == 200)
        }
    }
}
