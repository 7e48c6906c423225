import Contract
import Domain
import JSON
import NagzAI
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Drafts of evaluated push-backs")
struct PushBackDraftTests {
    private static func evaluate(
        _ scene: AIScene, wantsDraft: Bool = true, as person: TestPerson? = nil
    ) async throws -> AIAnswer<PushBackResponse> {
        try await scene.server.call(
            API.evaluatePushBack, NoParameters(),
            AIEnvelope(PushBackRequest(nagID: scene.nag, wantsDraft: wantsDraft)), as: person ?? scene.home.guardian)
    }

    @Test("an allowed push-back becomes a draft of its words, which is sent without counting again")
    func sent() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let family = scene.home
            let answer = try await server.expectOnly(audit: ["ai.push_back"], mediations: ["push_back"]) {
                try await Self.evaluate(scene)
            }
            let id = try #require(answer.draftID)
            #expect(answer.execution?.provider == "heuristic")
            #expect(try await server.audit(family.id).last?.details["draft"] == id.description)
            let draft = try await server.draft(id, as: family.guardian)
            let message = try #require(answer.response.message)
            #expect(draft.body == .pushBack(PushBackMessage(message: message)) && draft.nagID == scene.nag)
            #expect(draft.authorID == family.guardian.id && draft.citations == draft.contextIDs)
            #expect(draft.citations.count == 1 && draft.progress.state == .draft && draft.model == "heuristic")
            let key = try await server.confirmed(draft, as: family.guardian)
            try await server.expectOnly(audit: ["draft.executed"], events: ["push_back_sent"]) {
                try await server.execute(draft, key, as: family.guardian)
            }
            #expect(try await server.payloads("push_back_sent", of: scene.nag).map { $0.contains(message) } == [true])
            #expect(try await scene.pushBack().reason == PushBackDecisionReason.cooldownActive.rawValue)
        }
    }

    @Test("an evaluation makes no draft without the option, or if no push-back is allowed")
    func none() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let plain = try await Self.evaluate(scene, wantsDraft: false)
            #expect(plain.response.shouldPushBack && plain.draftID == nil && plain.execution == nil)
            let refused = try await server.expectOnly(audit: ["ai.push_back"], mediations: ["push_back_refused"]) {
                try await Self.evaluate(scene)
            }
            #expect(!refused.response.shouldPushBack && refused.draftID == nil && refused.execution != nil)
            try await server.expect(.refusal(.authorizationDenied)) {
                _ = try await Self.evaluate(scene, as: scene.home.child)
            }
            #expect(try await server.rows("SELECT 1 FROM drafts").isEmpty)
        }
    }

    @Test("a push-back draft can be sent despite its own count, but not after another push-back")
    func counted() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let first = try await server.draft(
                #require(try await Self.evaluate(scene).draftID), as: scene.home.guardian)
            server.clock.advance(by: .hours(2))
            let second = try await server.draft(
                #require(try await Self.evaluate(scene).draftID), as: scene.home.guardian)
            let refused = try await expectRefusal(409) { try await server.approve(first, as: scene.home.guardian) }
            #expect(refused.reason == "cooldown_active")
            let key = try await server.confirmed(second, as: scene.home.guardian)
            try await server.execute(second, key, as: scene.home.guardian)
            #expect(try await server.rows("SELECT 1 FROM nag_events WHERE event_type = 'push_back_sent'").count == 1)
        }
    }

    @Test("of ten evaluations at once one allows a push-back and makes a draft")
    func atOnce() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let answers = try await together(10) { _ in try await Self.evaluate(scene) }
            #expect(answers.count { $0.response.shouldPushBack } == 1 && answers.compactMap(\.draftID).count == 1)
            #expect(try await server.rows("SELECT 1 FROM drafts").count == 1)
        }
    }
}
