import Contract
import Domain
import JSON
import Postgres
import SQL
import TestHTTPServer
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Drafts of digests")
struct DraftDigestTests {
    private static let words = "The parrot is fed, well done all."

    /// A digest that a client has written.
    private static func digest(
        to recipients: [TestPerson], in family: Household, _ server: TestServer, as person: TestPerson
    ) async throws -> DraftResponse {
        let body = DraftBody.digest(DigestMessage(message: words, recipientIDs: recipients.map(\.id)))
        return try await server.call(
            API.createDraft, DraftCreate(familyID: family.id, kind: .digest, body: body), as: person)
    }

    /// The digests that a member finds in the feed.
    private static func found(_ server: TestServer, _ family: Household, as person: TestPerson) async throws -> [String]
    {
        try await server.call(API.syncEvents, SyncQuery(familyID: family.id), as: person)
            .aiMediationEvents.filter { $0.promptType == "digest_sent" }.map(\.summary)
    }

    @Test(
        "selected nags of the week become a digest, sent to the chosen guardians in feed and on devices")
    func sent() async throws {
        try await TestHTTPServer.with { provider in
            try await TestServer.run { server in
                let family = try await server.family()
                for person in family.members { try await server.registerDevice(as: person) }
                let done = try await server.nag(from: family.guardian, to: family.child)
                let open = try await server.nag(from: family.participant, to: family.child)
                let unselected = try await server.nag(from: family.guardian, to: family.participant)
                _ = try await server.complete(done.id, as: family.child)
                server.clock.advance(by: .hours(72))
                let later = try await server.nag(from: family.guardian, to: family.child)
                let events: [ResourceID] = try await server.database.rows(
                    "SELECT id FROM nag_events WHERE nag_id = \(unselected.id)"
                ) { try $0["id"] }
                let selected: [ResourceID] = [done.id.retyped(), open.id.retyped()]
                let order = DraftCreate(
                    familyID: family.id, kind: .digest, contextIDs: selected + [later.id.retyped()] + events,
                    recipientIDs: [family.secondGuardian.id])
                let draft = try await server.expectOnly(audit: ["draft.created"]) {
                    try await server.call(API.createDraft, order, as: family.guardian)
                }
                guard case .digest(let digest) = draft.body else { throw PostgresError.unexpectedShape("a digest") }
                #expect(digest.message.contains("1 of 2") && digest.recipientIDs == [family.secondGuardian.id])
                #expect(draft.citations == selected + [later.id.retyped()] && draft.nagID == nil)
                #expect(draft.model == "heuristic")
                let edited = try await server.edit(draft, DraftBodyChanges(message: Self.words), as: family.guardian)
                let key = try await server.confirmed(edited, as: family.guardian)
                try await server.sql("DELETE FROM deliveries")
                let executed = try await server.expectOnly(
                    audit: ["draft.executed"], mediations: ["digest_sent"], stamped: 0
                ) {
                    try await server.execute(edited, key, as: family.guardian)
                }
                #expect(try await server.execute(edited, key, as: family.guardian) == executed)
                let line = try #require(try await server.audit(family.id).last)
                #expect(line.details["recipients"] == "1" && line.details["draft"] == draft.id.description)
                #expect(!"\(try await server.audit(family.id))".contains("parrot"))
                for (person, sees) in [
                    (family.guardian, true), (family.secondGuardian, true), (family.participant, false),
                    (family.child, false),
                ] {
                    #expect(try await Self.found(server, family, as: person) == (sees ? [Self.words] : []))
                }
                try await server.withWorker(provider.options()) { try await $0.run() }
                let received = try await provider.received().map { $0["body"] }
                #expect(received.count == 1 && received[0]?["text"] == .string(Self.words))
                #expect(received[0]?["title"] == "Digest of the week" && received[0]?["nag_id"] == .null)
                #expect(received[0]?["target_user_id"] == .string(family.secondGuardian.id.description))
                let reviews = try await server.call(
                    API.listDeliveryReviews, DeliveryReviewQuery(), as: try await server.admin())
                #expect(reviews.items.map(\.cause) == ["digest_sent"] && reviews.items.map(\.status) == [.sent])
            }
        }
    }

    @Test("a guardian who was not chosen sees a digest nowhere, and may select it for no draft")
    func others() async throws {
        try await TestServer.run(isOfActs: false) { server in
            let family = try await server.family()
            try await server.sql("UPDATE memberships SET role = 'guardian' WHERE user_id = \(family.participant.id)")
            let draft = try await Self.digest(
                to: [family.guardian, family.secondGuardian], in: family, server, as: family.guardian)
            let key = try await server.confirmed(draft, as: family.guardian)
            let event = try #require(try await server.execute(draft, key, as: family.guardian).resultID)
            #expect(try await Self.found(server, family, as: family.secondGuardian) == [Self.words])
            #expect(try await Self.found(server, family, as: family.participant).isEmpty)
            func select(as person: TestPerson) async throws {
                try await server.call(
                    API.createDraft,
                    DraftCreate(
                        familyID: family.id, kind: .digest, contextIDs: [event], recipientIDs: [family.guardian.id]),
                    as: person)
            }
            // Whoever sees it may select it, but no digest is made of it alone.
            for person in [family.guardian, family.secondGuardian] {
                try await server.expect(.refusal(.validationFailed, "context_ids")) { try await select(as: person) }
            }
            try await server.expect(.refusal(.notFound, "context_ids")) { try await select(as: family.participant) }
        }
    }

    @Test("a member's digest is about their own nags, and is 422 with older nags or without recipients")
    func selection() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let own = try await server.nag(from: family.guardian, to: family.participant)
            let given = try await server.nag(from: family.participant, to: family.child)
            func create(_ nags: [NagID], _ recipients: [UserID]?) async throws -> DraftResponse {
                try await server.call(
                    API.createDraft,
                    DraftCreate(
                        familyID: family.id, kind: .digest, contextIDs: nags.map { $0.retyped() },
                        recipientIDs: recipients), as: family.participant)
            }
            let recipients = [family.guardian.id]
            let old = try await server.nag(from: family.guardian, to: family.participant)
            _ = try await server.complete(old.id, as: family.participant)
            server.clock.advance(by: .days(7))
            try await server.expect(.refusal(.validationFailed, "context_ids")) {
                try await create([old.id], recipients)
            }
            let draft = try await create([own.id, given.id], recipients)
            #expect(draft.citations == [own.id.retyped()])
            for nags in [[], [given.id]] {
                try await server.expect(.refusal(.validationFailed, "context_ids")) {
                    try await create(nags, recipients)
                }
            }
            try await server.expect(.refusal(.validationFailed, "recipient_ids")) { try await create([own.id], nil) }
            let other = try await server.nag(from: family.guardian, to: family.child)
            try await server.expect(.refusal(.notFound, "context_ids")) { try await create([other.id], recipients) }
            // Whoever it is for may send it; its author may not.
            try await server.expectOnly(audit: ["draft.step.denied"]) {
                let refused = try await expectRefusal(403) { try await server.approve(draft, as: family.participant) }
                #expect(refused.reason == "guardian_only")
            }
            let key = try await server.confirmed(draft, as: family.guardian)
            try await server.execute(draft, key, as: family.guardian)
            #expect(try await server.rows("SELECT 1 FROM deliveries WHERE draft_id IS NOT NULL").isEmpty)
        }
    }

    @Test("recipients of a digest are guardians whom the sender may contact, and not the author alone")
    func recipients() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            for (person, reason) in [
                (family.participant, "digest_for_guardians"), (family.child, "digest_for_guardians"),
                (family.removed, "recipient_not_a_member"), (family.stranger, "recipient_not_a_member"),
            ] {
                let draft = try await Self.digest(
                    to: [family.secondGuardian, person], in: family, server, as: family.guardian)
                let refused = try await server.expectOnly(audit: ["draft.step.denied"]) {
                    try await expectRefusal(403) { try await server.approve(draft, as: family.guardian) }
                }
                #expect(refused.reason == reason)
            }
            let alone = try await Self.digest(to: [family.guardian], in: family, server, as: family.guardian)
            try await server.expect(.refusal(.validationFailed, "recipient_ids")) {
                try await server.approve(alone, as: family.secondGuardian)
            }
            // Rights count when they are used.
            let draft = try await Self.digest(to: [family.secondGuardian], in: family, server, as: family.guardian)
            let key = try await server.confirmed(draft, as: family.guardian)
            try await server.call(API.createBlock, BlockCreate(targetID: family.guardian.id), as: family.secondGuardian)
            let blocked = try await server.expectOnly(audit: ["draft.step.denied"]) {
                try await expectRefusal(403) { try await server.execute(draft, key, as: family.guardian) }
            }
            #expect(blocked.reason == "blocked")
            try await server.revokeConsent(.aiMediation)
            let closed = try await expectRefusal(403) { try await server.execute(draft, key, as: family.guardian) }
            #expect(closed.reason == "consent_missing")
            #expect(try await server.rows("SELECT 1 FROM deliveries").isEmpty)
        }
    }

    @Test("a digest that is executed ten times at once is sent once")
    func atOnce() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.registerDevice(as: family.secondGuardian)
            let draft = try await Self.digest(to: [family.secondGuardian], in: family, server, as: family.guardian)
            let key = try await server.confirmed(draft, as: family.guardian)
            let answers = try await server.expectOnly(audit: ["draft.executed"], mediations: ["digest_sent"]) {
                try await together(10) { _ in try await server.execute(draft, key, as: family.guardian) }
            }
            #expect(Set(answers).count == 1)
            #expect(try await server.rows("SELECT 1 FROM deliveries").count == 1)
        }
    }
}
