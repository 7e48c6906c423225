import Contract
import Domain
import JSON
import NagzAI
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("The grounding of answers")
struct GroundingTests {
    private static let options = ExecutionOptions(taskType: .heuristic)

    @Test("the grounding of a tip and a push-back is the recipient's tone and the events counted, also in the history")
    func named() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            try await scene.addMisses([scene.now - .days(1), scene.now - .days(20)], of: scene.home.child)
            try await scene.addExcuse(.timeConflict, by: scene.home.child, at: scene.now - .days(2))
            let first = try await scene.execute(.coaching, Self.options).execution
            #expect(first.grounding == Grounding(persona: .friendly, events: 2))

            let reply = try await server.call(
                "PATCH", "/api/v1/preferences?family_id=\(scene.home.id)", as: scene.home.child,
                body: ["prefs_json": ["tone": "playful"]])
            #expect(reply.status == 200)
            server.clock.advance(by: .seconds(1))
            let second = try await scene.execute(.coaching, Self.options).execution
            #expect(second.grounding == Grounding(persona: .playful, events: 2))
            server.clock.advance(by: .seconds(1))
            let third = try await scene.execute(.pushBack, Self.options).execution
            #expect(third.grounding == Grounding(persona: .playful, events: 1))
            #expect(try await scene.history().map(\.execution) == [third, second, first])

            let export = try await server.call(API.exportAccount, as: scene.home.guardian)
            let exported = try #require(export.sections[.aiExecutions]).map { $0["execution"]?["grounding"] }
            #expect(exported.contains(["persona": "playful", "session": 0, "events": 1]))
        }
    }

    @Test("other operations have no grounding, and none is stored")
    func others() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            #expect(try await scene.tone(Self.options).execution?.grounding == nil)
            #expect(try await scene.execute(.digest, Self.options).execution.grounding == nil)
            let stored = try await server.rows("SELECT report::jsonb ? 'grounding' AS named FROM ai_executions")
            #expect(stored.allSatisfy { $0["named"] == false } && stored.count == 2)
        }
    }
}
