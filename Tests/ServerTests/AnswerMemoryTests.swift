import Contract
import Domain
import HTTP
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("The memory for answers")
struct AnswerMemoryTests {
    @Test("feed and other answers share one memory: while it is taken, large ones get 503 and small ones pass")
    func shared() async throws {
        try await TestServer.run(configure: {
            $0.maxAnswerMemoryBytes = 1 << 20
            $0.maxAnswerMemoryBytesPerAddress = 1 << 20
        }) { server in
            let family = try await server.family()
            for _ in 0..<60 { _ = try await server.nag(from: family.guardian, to: family.child, in: family.id) }
            let budget = try #require(server.answerMemory)
            let paths = ["/api/v1/sync/events?family_id=\(family.id)", "/api/v1/nags?family_id=\(family.id)"]
            func replies() async throws -> [Reply] {
                var replies: [Reply] = []
                for path in paths { replies.append(try await server.call("GET", path, as: family.guardian)) }
                return replies
            }
            #expect(try await replies().map(\.status) == [200, 200])
            var held = budget.reserve((1 << 20) - (1 << 16) - 8_192, for: nil)
            let isHeld = held != nil
            #expect(isHeld)
            let refused = try await replies()
            #expect(refused.map(\.status) == [503, 503])
            // The feed says so before it builds the page, the others when it is to be sent.
            #expect(refused[0].json?["error"]?["message"] == "The server has no memory for this answer now. Try again.")
            #expect(try await server.call("GET", "/api/v1/blocks", as: family.guardian).status == 200)
            held = nil
            #expect(try await replies().map(\.status) == [200, 200])
        }
    }
}
