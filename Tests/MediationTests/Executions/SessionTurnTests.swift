import Contract
import Domain
import JSON
import NagzAI
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Turns of an AI session")
struct SessionTurnTests {
    private func begin(_ scene: AIScene, as person: TestPerson? = nil) async throws -> Secret {
        try await scene.server.call(
            API.beginAISession, AISessionCreate(familyID: scene.home.id), as: person ?? scene.home.guardian
        ).sessionID
    }

    private func coach(_ scene: AIScene, _ session: Secret?) async throws -> ExecutionAnswer {
        scene.server.clock.advance(by: .seconds(1))
        return try await scene.execute(.coaching, ExecutionOptions(sessionID: session, taskType: .heuristic))
    }

    private func turns(_ server: TestServer) async throws -> Int {
        try await server.rows("SELECT 1 FROM ai_session_turns").count
    }

    @Test("in a session the coach repeats nothing and counts the turns it used, of which it keeps four")
    func coaching() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let session = try await begin(scene)
            var tips: [String] = []
            for used in [0, 1, 2, 3, 4, 4] {
                let answer = try await coach(scene, session)
                #expect(answer.execution.grounding?.session == used)
                tips.append(answer.response.content)
            }
            #expect(tips[0] != tips[1] && Set(tips.prefix(2)).count == 2)
            #expect(try await turns(server) == 4)
            let outside = try await coach(scene, nil)
            #expect(outside.execution.grounding?.session == 0 && outside.response.content == tips[0])
            let other = try await begin(scene)
            #expect(try await coach(scene, other).execution.grounding?.session == 0, "another session")
        }
    }

    @Test("a follow-up to the coach continues the question before it, in the same session alone")
    func followUp() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let sessions = (try await begin(scene), try await begin(scene))
            func ask(_ text: String, _ session: Secret) async throws -> (topic: String?, turns: Int?) {
                server.clock.advance(by: .seconds(1))
                let answer = try await scene.execute(
                    .askCoach, text: text, ExecutionOptions(sessionID: session, taskType: .heuristic))
                return (answer.result["topic"]?.stringValue, answer.execution.grounding?.session)
            }
            #expect(try await ask("What is due?", sessions.0) == ("due", 0))
            #expect(try await ask("What else?", sessions.0) == ("due", 1))
            #expect(try await ask("What else?", sessions.1) == ("unknown", 0))
        }
    }

    @Test("turns are sealed, and end with their session, at once or 45 minutes after its last use")
    func gone() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            for isEnded in [true, false] {
                let session = try await begin(scene)
                let options = ExecutionOptions(sessionID: session, taskType: .heuristic)
                _ = try await scene.summarize("zanzibar was late", options, as: scene.home.guardian)
                #expect(try await turns(server) == 1)
                let plain = try await server.rows(
                    """
                    SELECT 1 FROM ai_session_turns t WHERE t::text ILIKE '%zanzibar%'
                        OR position('zanzibar'::bytea IN t.sealed) > 0
                    """)
                #expect(plain.isEmpty)
                let used = try await coach(scene, session)
                #expect(used.execution.grounding?.session == 1, "the excuse is remembered")
                if isEnded {
                    try await server.call(API.endAISession, AISessionName(sessionID: session), as: scene.home.guardian)
                } else {
                    server.clock.advance(by: .minutes(45))
                    _ = try await server.database.run {
                        try await Housekeeping.applyRetention($0, at: server.clock.now())
                    }
                }
                #expect(try await turns(server) == 0)
                _ = try await scene.expectRefusal(.sessionEnded, 409) { try await coach(scene, session) }
            }
        }
    }

    @Test("turns of another person's session are not read, and a turn moved to another session cannot be opened")
    func bound() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let (mine, other) = (try await begin(scene), try await begin(scene))
            _ = try await coach(scene, mine)
            let theirs = try await begin(scene, as: scene.home.child)
            _ = try await scene.expectRefusal(.sessionEnded, 409) { try await coach(scene, theirs) }
            try await server.sql("UPDATE ai_session_turns SET digest = \(AITokens.digest(other))")
            #expect(try await coach(scene, other).execution.grounding?.session == 0)
        }
    }
}
