import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Dictated words about others and about oneself")
struct DictationTests {
    private static func nag(
        to recipient: TestPerson, in scene: OutboxScene, due: Timestamp.Span = .hours(3), recurrence: Recurrence? = nil,
        capture: Capture = Capture(.dictation)
    ) -> NagCreate {
        var order = NagCreate(
            familyID: scene.home.id, recipientID: recipient.id, dueAt: scene.server.clock.now() + due,
            category: .chores, doneDefinition: .binaryCheck, description: "the dishes", recurrence: recurrence)
        order.capture = capture
        return order
    }

    private static func item(
        to recipient: TestPerson, in scene: OutboxScene, id: UInt64 = 1, due: Timestamp.Span = .hours(3),
        recurrence: Recurrence? = nil
    ) -> OutboxItem {
        var order = nag(to: recipient, in: scene, due: due, recurrence: recurrence, capture: .keyboard)
        order.familyID = nil
        return OutboxItem(
            clientID: InputID(high: 0x0d, low: id), nagID: nil, act: .nag(order), madeAt: scene.server.clock.now(),
            capture: Capture(.dictation, confidence: 0.75, context: .dashboard))
    }

    @Test("dictated words in an outbox become one draft of their author, and a nag only by execution")
    func outbox() async throws {
        try await TestServer.run { server in
            let scene = try await OutboxScene(server)
            let guardian = scene.home.guardian
            let item = Self.item(to: scene.home.child, in: scene)
            let results = try await server.expectOnly(audit: ["draft.created"]) {
                try await scene.upload([item], as: guardian)
            }
            let result = try #require(results.first)
            #expect(result.outcome == .drafted && result.eventID == nil && result.error == nil)
            let draft = try await server.draft(#require(result.draftID), as: guardian)
            #expect(draft.source == .voice && draft.model == "client" && draft.authorID == guardian.id)
            #expect(draft.suggestedNag?.description == "the dishes")
            #expect(draft.suggestedNag?.recipientID == scene.home.child.id)
            #expect(try await server.expectOnly { try await scene.upload([item], as: guardian) } == results)
            #expect(try await server.rows("SELECT 1 FROM nags").count == 1)
            let details = try #require(try await server.audit(scene.home.id).last?.details)
            #expect(details["source"] == "voice" && details["source_confidence"] == "0.75")
            #expect(details["source_context"] == "dashboard")
            let key = try await server.confirmed(draft, as: guardian)
            try await server.expectOnly(audit: ["nag.created"], events: ["nag_created"], stamped: 1) {
                try await server.execute(draft, key, as: guardian)
            }
            let sources = try await server.rows("SELECT source FROM nags WHERE description = 'the dishes'")
            #expect(sources == [["source": "voice"]])
        }
    }

    @Test("dictated words in an outbox that cannot be a draft are refused, each item by itself")
    func refusedInOutbox() async throws {
        try await TestServer.run { server in
            let scene = try await OutboxScene(server, consents: [])
            let guardian = scene.home.guardian
            let refused = try await scene.upload([Self.item(to: scene.home.child, in: scene)], as: guardian)
            #expect(refused.map(\.error?.code) == [.authorizationDenied])
            try await server.call(
                API.grantConsent, ConsentCreate(familyID: scene.home.id, type: .aiMediation), as: guardian)
            let results = try await scene.upload(
                [
                    Self.item(to: scene.home.child, in: scene, id: 2, recurrence: .daily),
                    Self.item(to: scene.home.stranger, in: scene, id: 3),
                    Self.item(to: scene.home.child, in: scene, id: 4),
                    Self.item(to: scene.home.child, in: scene, id: 5, due: .days(3 * 366)),
                    Self.item(to: scene.home.child, in: scene, id: 6, due: .seconds(0)),
                ], as: guardian)
            #expect(results.map(\.outcome) == [.refused, .refused, .drafted, .refused, .refused])
            #expect(
                results.map(\.error?.code) == [.validationFailed, .notFound, nil, .validationFailed, .validationFailed])
            #expect(try await server.rows("SELECT 1 FROM drafts").count == 1)
        }
    }

    @Test("a dictated request for somebody else is refused, and one for oneself is carried out")
    func requests() async throws {
        try await TestServer.run { server in
            let scene = try await OutboxScene(server)
            let (guardian, child) = (scene.home.guardian, scene.home.child)
            let refused = try await server.expectOnly(audit: ["nag.create.denied"]) {
                try await expectRefusal(403) {
                    try await server.call(API.createNag, Self.nag(to: child, in: scene), as: guardian)
                }
            }
            #expect(refused.code == .policyForbidden && refused.reason == "voice_only_drafts")
            let own = try await server.call(API.createNag, Self.nag(to: guardian, in: scene), as: guardian)
            #expect(own.source == .voice)
            var move = NagUpdate(dueAt: server.clock.now() + .hours(9))
            move.capture = Capture(.dictation)
            let edit = try await server.expectOnly(audit: ["nag.edit.denied"]) {
                try await expectRefusal(403) {
                    try await server.call(API.updateNag, NagPath(nagID: scene.nag), move, as: guardian)
                }
            }
            #expect(edit.reason == "voice_only_drafts")
            let note = try await scene.upload([scene.item(.note(text: "n"), source: .dictation)], as: guardian)
            #expect(note.map(\.outcome) == [.refused] && note[0].error?.code == .policyForbidden)
        }
    }
}
