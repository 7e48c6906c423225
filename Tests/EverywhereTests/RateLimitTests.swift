import Contract
import Domain
import HTTP
import JSON
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Rate limits")
struct RateLimitTests {
    private static let limits: @Sendable (inout Configuration) -> Void = { $0.enforcesRateLimits = true }

    @Test("of 350 reads at once 300 pass, and the others wait until the minute is over")
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

    @Test("requests with a token of an ended session use up nothing of the account's limit")
    func endedSession() async throws {
        try await TestServer.run(configure: Self.limits) { server in
            let old = try await server.signUp("ada@example.org", name: "Ada")
            let new = try await server.logIn("ada@example.org", password: "correct horse")
            let gone = old.accessToken.wireText
            #expect(try await server.call("POST", "/api/v1/auth/logout", token: gone).status == 204)
            var statuses: [Int] = []
            for _ in 0..<310 { statuses.append(try await server.call("GET", "/api/v1/blocks", token: gone).status) }
            #expect(statuses == Array(repeating: 401, count: 300) + Array(repeating: 429, count: 10))
            let own = try await server.call("GET", "/api/v1/blocks", token: new.accessToken.wireText)
            #expect(own.status == 200 && own.header("x-ratelimit-remaining") == "299")
        }
    }

    @Test("requests without a token are limited by address, and probes never")
    func anonymous() async throws {
        try await TestServer.run(configure: Self.limits) { server in
            var statuses: [Int] = []
            for _ in 0..<301 { statuses.append(try await server.call("GET", "/api/v1/metrics").status) }
            #expect(statuses.count { $0 == 200 } == 300 && statuses.last == 429)
            for _ in 0..<310 { #expect(try await server.call("GET", "/health/live").status == 200) }
        }
    }

    @Test("requests without a valid token are limited by address, and say so")
    func unauthenticated() async throws {
        try await TestServer.run(configure: Self.limits) { server in
            let family = try await server.family()
            for number in 1...301 {
                let reply = try await server.call(
                    "GET", "/api/v1/audit/events", token: number.isMultiple(of: 2) ? "guessed" : nil)
                #expect(reply.status == (number <= 300 ? 401 : 429))
                #expect(reply.header("x-ratelimit-remaining") == String(max(0, 300 - number)))
            }
            #expect(try await server.call("GET", "/api/v1/audit/events", as: family.guardian).status == 200)
        }
    }

    @Test("behind a configured proxy clients are limited apart, and otherwise the proxy's field is ignored")
    func forwarded() async throws {
        for proxies in [["127.0.0.1"], []] {
            let proxies = try TrustedProxies(proxies)
            try await TestServer.run { configuration in
                configuration.enforcesRateLimits = true
                configuration.proxies = proxies
            } _: { server in
                let remaining = try await withThrowingTaskGroup(of: String?.self) { group in
                    for client in ["192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2"] {
                        group.addTask {
                            try await server.call("GET", "/api/v1/metrics", headers: ["X-Forwarded-For": client])
                                .header("x-ratelimit-remaining")
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }.compactMap(\.self).sorted()
                }
                let isBehindProxy = proxies.contains(.loopback)
                #expect(remaining == (isBehindProxy ? ["298", "299", "299", "299"] : ["296", "297", "298", "299"]))
            }
        }
    }

    @Test("reads below one nag have a tier of their own: a family with 250 nags can open its page four times a minute")
    func nagDetail() async throws {
        try await TestServer.run(configure: Self.limits) { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child, in: family.id)
            for _ in 0..<299 { try await server.call("GET", "/api/v1/nags/\(nag)", as: family.child) }
            var statuses: [Int: Int] = [:]
            for _ in 0..<1_201 {
                let reply = try await server.call("GET", "/api/v1/nags/\(nag)/excuses", as: family.child)
                statuses[reply.status, default: 0] += 1
            }
            #expect(statuses == [200: 1_200, 429: 1])
            #expect(try await server.call("GET", "/api/v1/nags/\(nag)", as: family.child).status == 200)
        }
    }

    @Test("calls of third parties have a limit of their own: five a minute over all providers")
    func thirdParties() async throws {
        try await TestServer.run(configure: Self.limits) { server in
            let loner = try await server.account()
            let statuses = try await server.expectOnly {
                var statuses: [Int] = []
                for provider in ["openai", "custom", "openai", "anthropic", "openai", "custom"] {
                    statuses.append(
                        try await server.call("POST", "/api/v1/ai/keys/\(provider)/check", as: loner).status)
                }
                return statuses
            }
            #expect(statuses == [404, 404, 404, 404, 404, 429])
            #expect(try await server.call("GET", "/api/v1/ai/keys", as: loner).status == 200)
            server.clock.advance(by: .minutes(1))
            #expect(try await server.call("POST", "/api/v1/ai/keys/openai/check", as: loner).status == 404)
        }
    }

    @Test("status changes have a limit of their own: 60 a minute")
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
