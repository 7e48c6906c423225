import Contract
import Domain
import JSON
import Postgres
import SQL
import Synchronization
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Checks before a digest is sent")
struct DigestSendingTests {
    /// What became of the notification of a digest that the guardian sent, after `change`.
    private static func result(
        after change: @Sendable (TestServer, Household) async throws -> Void
    ) async throws -> String {
        let result = Mutex("")
        try await TestServer.run(isOfActs: false) { server in
            let family = try await server.family()
            try await server.registerDevice(as: family.secondGuardian)
            let body = DraftBody.digest(DigestMessage(message: "m", recipientIDs: [family.secondGuardian.id]))
            let draft = try await server.call(
                API.createDraft, DraftCreate(familyID: family.id, kind: .digest, body: body), as: family.guardian)
            let key = try await server.confirmed(draft, as: family.guardian)
            try await server.execute(draft, key, as: family.guardian)
            try await change(server, family)
            try await server.withWorker(DeliveryOptions()) { try await $0.run() }
            let results = try await server.deliveryRows().map { $0.failure ?? $0.status }.joined(separator: ", ")
            result.withLock { $0 = results }
        }
        return result.withLock { $0 }
    }

    @Test("a digest is sent unless its recipient left, the consent ended, or the two may not contact each other")
    func people() async throws {
        #expect(try await Self.result { _, _ in } == "sent")
        let left = try await Self.result { server, family in
            try await server.sql(
                """
                UPDATE memberships SET status = 'removed', removed_at = \(server.clock.now())
                WHERE user_id = \(family.secondGuardian.id)
                """)
        }
        #expect(left == "not_a_member")
        let revoked = try await Self.result { server, _ in try await server.revokeConsent(.aiMediation) }
        #expect(revoked == "no_consent")
        let blocked = try await Self.result { server, family in
            try await server.call(API.createBlock, BlockCreate(targetID: family.guardian.id), as: family.secondGuardian)
        }
        #expect(blocked == "blocked")
        let suspended = try await Self.result { server, family in
            try await server.sql(
                """
                UPDATE relationships SET status = 'suspended'
                WHERE party_a = least(\(family.guardian.id)::uuid, \(family.secondGuardian.id)::uuid)
                    AND party_b = greatest(\(family.guardian.id)::uuid, \(family.secondGuardian.id)::uuid)
                """)
        }
        #expect(suspended == "suspended")
        #expect(try await Self.result { server, _ in try await server.sql("DELETE FROM drafts") } == "draft_deleted")
    }

    @Test("mute and quiet hours defer a digest, and an old one is sent to nobody")
    func times() async throws {
        let muted = try await Self.result { server, family in
            let end = server.clock.now() + .hours(2)
            try await server.prefer(["mute_until": .string(end.rfc3339)], as: family.secondGuardian)
        }
        #expect(muted == "pending")
        // It is 11:00 in New York.
        let quiet = try await Self.result { server, family in
            try await server.prefer(
                ["quiet_hours_enabled": true, "quiet_hours_start": "10:00", "quiet_hours_end": "12:00"],
                as: family.secondGuardian)
        }
        #expect(quiet == "pending")
        #expect(try await Self.result { server, _ in server.clock.advance(by: .hours(25)) } == "stale")
    }

    @Test("the database refuses a delivery with two causes")
    func constraint() async throws {
        try await TestServer.run(isOfActs: false) { server in
            let family = try await server.family()
            let causes: [SQL] = [
                "gen_random_uuid(), gen_random_uuid(), NULL, gen_random_uuid()",
                "NULL, NULL, 'connection_invited', gen_random_uuid()",
            ]
            for cause in causes {
                await #expect(throws: PostgresError.self) {
                    try await server.sql(
                        """
                        INSERT INTO deliveries (family_id, id, user_id, channel, status, created_at, nag_id,
                                                nag_event_id, connection_event, draft_id)
                        VALUES (\(family.id), gen_random_uuid(), \(family.child.id), 'push', 'sent', now(), \(cause))
                        """)
                }
            }
        }
    }
}
