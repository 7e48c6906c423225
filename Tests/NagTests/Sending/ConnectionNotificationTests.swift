import Contract
import Domain
import JSON
import Postgres
import SQL
import TestHTTPServer
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Notifications of invitations")
struct ConnectionNotificationTests {
    private static func results(_ server: TestServer) async throws -> [String] {
        try await server.deliveryRows().map { $0.failure ?? $0.status }
    }

    @Test("the invitee is notified of an invitation, and the inviter of its acceptance, each once")
    func told() async throws {
        try await TestHTTPServer.with { provider in
            try await TestServer.run { server in
                let family = try await server.family()
                for person in [family.guardian, family.stranger] { try await server.registerDevice(as: person) }
                let admin = try await server.admin()
                try await server.withWorker(provider.options()) { worker in
                    let invitation = try await server.invite(family.stranger, as: family.guardian)
                    _ = try await server.invite(family.stranger, as: family.guardian)
                    try await worker.run()
                    server.clock.advance(by: .seconds(1))
                    try await expectRefusal(403) { try await server.accept(invitation, as: family.guardian) }
                    try await server.accept(invitation, as: family.stranger)
                    try await expectRefusal(409) { try await server.accept(invitation, as: family.stranger) }
                    try await worker.run()
                    let page = try await server.call(API.listDeliveryReviews, DeliveryReviewQuery(), as: admin)
                    #expect(page.items.map(\.cause) == ["connection_accepted", "connection_invited"])
                    #expect(page.items.allSatisfy { $0.nagID == nil && $0.familyID == invitation.id.retyped() })
                    #expect(page.items.map(\.userID) == [family.guardian.id, family.stranger.id])
                    #expect(page.items.map(\.status) == [.sent, .sent])
                }
                let bodies = try await provider.received().map { $0["body"] }
                #expect(bodies.map { $0?["title"] } == ["New invitation", "Invitation accepted"])
                #expect(bodies.allSatisfy { $0?["nag_id"] == .null && $0?["text"] == "" })
            }
        }
    }

    @Test("nobody without an account or a device is notified of an invitation")
    func nobody() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            _ = try await server.invite("nobody@example.com", as: family.guardian)
            let invitation = try await server.invite(family.stranger, as: family.guardian)
            try await server.accept(invitation, as: family.stranger)
            #expect(try await server.deliveryRows().isEmpty)
        }
    }

    @Test("no notification is sent of an invitation that is no longer open, or over a block")
    func closed() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            for person in [family.guardian, family.stranger] { try await server.registerDevice(as: person) }
            try await server.withWorker(DeliveryOptions()) { worker in
                let first = try await server.invite(family.stranger, as: family.guardian)
                try await server.revoke(first, as: family.guardian)
                try await worker.run()
                let second = try await server.invite(family.stranger, as: family.guardian)
                try await server.accept(second, as: family.stranger)
                try await server.sql(
                    "UPDATE connections SET status = 'revoked', ended_at = now() WHERE id = \(second.id)")
                try await worker.run()
                #expect(try await Self.results(server) == Array(repeating: "connection_closed", count: 3))
                try await server.sql("DELETE FROM deliveries")
                _ = try await server.invite(family.stranger, as: family.guardian)
                let (id, now): (BlockID, Timestamp) = (server.random.identifier(at: .epoch), server.clock.now())
                try await server.sql(
                    """
                    INSERT INTO blocks (id, actor_id, target_id, state, created_at, updated_at)
                    VALUES (\(id), \(family.stranger.id), \(family.guardian.id), 'active', \(now), \(now))
                    """)
                try await worker.run()
                #expect(try await Self.results(server) == ["connection_closed"])
            }
        }
    }

    @Test("the database refuses a delivery without exactly one cause: a nag's event or a connection's")
    func constraint() async throws {
        try await TestServer.run(isOfActs: false) { server in
            let family = try await server.family()
            let causes: [SQL] = [
                "NULL, NULL, NULL", "gen_random_uuid(), NULL, NULL", "NULL, NULL, 'nag_created'",
                "gen_random_uuid(), gen_random_uuid(), 'connection_invited'",
            ]
            for cause in causes {
                await #expect(throws: PostgresError.self) {
                    try await server.sql(
                        """
                        INSERT INTO deliveries
                            (family_id, id, user_id, channel, status, created_at, nag_id, nag_event_id, connection_event)
                        VALUES (\(family.id), gen_random_uuid(), \(family.child.id), 'push', 'sent', now(), \(cause))
                        """)
                }
            }
            #expect(try await server.deliveryRows().isEmpty)
        }
    }
}
