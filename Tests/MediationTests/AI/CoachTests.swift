import Contract
import Domain
import NagzAI
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("AI: a person's own question")
struct AskCoachTests {
    @Test("a question to the coach is answered from the requester's facts alone, and recorded without its words")
    func own() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let home = scene.home
            let request = CoachQuestionRequest(familyID: home.id, text: "Zanzibar: what is due for me?")
            let answer = try await server.expectOnly(audit: ["ai.ask_coach"], mediations: ["ask_coach"]) {
                try await server.call(API.askCoach, request, as: home.child)
            }
            #expect(answer.topic == .due && answer.citations == [scene.nag])
            #expect(answer.answer == "You have one nag ahead: your chore, due tomorrow at 11:00.")
            let entry = try #require(try await server.audit(home.id).last)
            #expect(entry.subject == home.child.pseudonym && entry.details["output"] == "due")
            #expect(entry.details["text_length"] == "\(request.text.unicodeScalars.count)")
            let leaks = try await server.rows(
                """
                SELECT 1 FROM ai_mediation_events a WHERE a::text ILIKE '%zanzibar%'
                UNION ALL SELECT 1 FROM ai_executions e WHERE e::text ILIKE '%zanzibar%'
                UNION ALL SELECT 1 FROM audit_payload p WHERE position('anzibar'::bytea IN p.body) > 0
                """)
            #expect(leaks.isEmpty)
            // A guardian asks about themselves as well.
            let guardian = try await server.call(API.askCoach, request, as: home.guardian)
            #expect(guardian.answer == "You have no open nags." && guardian.citations.isEmpty)
        }
    }

    @Test("a constraint on the words refuses a question to the coach, and the history has the refusal")
    func constrained() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            _ = try await scene.constrain(.block(reason: "no"), [("content", "contains", "zanzibar")])
            let fault = try await expectRefusal(403) {
                try await server.call(
                    API.askCoach, CoachQuestionRequest(familyID: scene.home.id, text: "Zanzibar: what is due?"),
                    as: scene.home.child)
            }
            #expect(fault.execution?.code == "E-POLICY-001")
        }
    }
}
