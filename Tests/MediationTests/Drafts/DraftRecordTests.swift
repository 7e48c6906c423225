import Audit
import Contract
import Domain
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("The record of a draft")
struct DraftRecordTests {
    @Test("selected rows are 422 for a suggested nag, and for a digest with a finished body")
    func unusedContext() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child)
            let body = DraftBody.digest(DigestMessage(message: "Well done", recipientIDs: [family.guardian.id]))
            let orders = [
                DraftCreate(familyID: family.id, kind: .suggestedNag, contextIDs: [nag.id.retyped()], text: "t"),
                DraftCreate(familyID: family.id, kind: .digest, contextIDs: [nag.id.retyped()], body: body),
            ]
            for order in orders {
                try await server.expectOnly {
                    try await server.expect(.refusal(.validationFailed, "context_ids")) {
                        try await server.call(API.createDraft, order, as: family.guardian)
                    }
                }
            }
        }
    }

    @Test("a draft has its plan, times and writer, and each of its audit entries the digest of its body")
    func record() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let draft = try await server.draft("the dishes", in: family, as: family.guardian)
            let nag = try #require(draft.suggestedNag)
            #expect(draft.plan.map(\.action) == [.createNag, .notifyRecipient])
            #expect(draft.plan.allSatisfy { $0.userIDs == [nag.recipientID] } && draft.plan[0].dueAt == nag.dueAt)
            #expect(draft.writer == .rules && draft.editedAt == nil)
            let key = try #require(TestServer.auditKeyring).masterKeys[0].derivedKey(label: "content")
            func hash(_ draft: DraftResponse) -> String { hexadecimal(hmacSHA256(draft.body.jsonBytes, key: key)) }
            #expect(draft.bodyHash == hash(draft))
            server.clock.advance(by: .minutes(1))
            let edited = try await server.edit(
                draft, DraftBodyChanges(recipientID: family.child.id, category: .meds), as: family.secondGuardian)
            #expect(edited.writer == .person && edited.editedBy == family.secondGuardian.id)
            #expect(edited.editedAt == server.clock.now() && edited.bodyHash == hash(edited))
            #expect(edited.bodyHash != draft.bodyHash)
            let key2 = try await server.confirmed(edited, as: family.guardian)
            try await server.execute(edited, key2, as: family.guardian)
            let entries = try await server.audit(family.id).filter { $0.kind.hasPrefix("draft.") }
            #expect(
                entries.map { $0.details["body_hash"] }
                    == [draft.bodyHash, edited.bodyHash, edited.bodyHash, edited.bodyHash])
            #expect(entries.allSatisfy { $0.details["plan"] == "create_nag,notify_recipient" })
            #expect(entries.map { $0.details["written_by"] } == ["rules", "person", "person", "person"])
            let executed = try #require(try await server.audit(family.id).last { $0.kind == "nag.created" })
            #expect(executed.details["draft_body_hash"] == edited.bodyHash)
            let other = try await server.draft("the bin", in: family, as: family.guardian)
            let rejected = try await server.reject(other, as: family.secondGuardian)
            #expect(rejected.rejectedBy == family.secondGuardian.id && rejected.rejectedAt == server.clock.now())
        }
    }
}
