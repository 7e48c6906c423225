import Contract
import Domain
import JSON
import SQL
import Synchronization
import TestHTTPServer
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Checks before a delivery is sent")
struct SendingDecisionTests {
    /// What became of one delivery: `sent`, `dropped` and why, or `waits`.
    private static func result(_ row: DeliveryRow) -> String {
        row.dropped ? "dropped \(row.failure ?? "")" : row.status == "pending" ? "waits" : row.status
    }

    /// What becomes of a delivery about an escalated nag of the child, after `change`.
    private static func result(
        phase: EscalationPhase = .overdueSoft, channel: DeliveryChannel = .push,
        after change: @Sendable (TestServer, Household, NagResponse) async throws -> Void
    ) async throws -> String {
        let result = Mutex("")
        try await TestServer.run(isOfActs: false) { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.participant)
            server.clock.advance(by: .hours(3))
            try await server.delivery(
                of: nag.id, to: family.participant, "nag_escalated", phase: phase, by: channel)
            server.clock.advance(by: .seconds(1))
            try await change(server, family, nag)
            try await server.withWorker(DeliveryOptions()) { try await $0.run() }
            let results = try await server.deliveryRows().map { Self.result($0) }.joined(separator: ", ")
            result.withLock { $0 = results }
        }
        return result.withLock { $0 }
    }

    @Test("a delivery of an open nag is sent, and of a closed, snoozed or moved one dropped")
    func nags() async throws {
        #expect(try await Self.result { _, _, _ in } == "sent")
        let completed = try await Self.result { server, family, nag in
            _ = try await server.complete(nag.id, as: family.participant)
        }
        #expect(completed == "dropped nag_closed")
        let snoozed = try await Self.result { server, _, nag in
            try await server.sql("UPDATE nags SET due_at = \(server.clock.now() + .minutes(15)) WHERE id = \(nag.id)")
        }
        #expect(snoozed == "dropped snoozed")
        let moved = try await Self.result(phase: .dueSoon) { server, _, nag in
            try await server.sql("UPDATE nags SET cycle_started_at = \(server.clock.now()) WHERE id = \(nag.id)")
        }
        #expect(moved == "dropped snoozed")
    }

    @Test("a delivery to a former member, a deleted account, over a block or by text without consent is dropped")
    func people() async throws {
        let left = try await Self.result { server, family, _ in
            try await server.sql(
                """
                UPDATE memberships SET status = 'removed', removed_at = \(server.clock.now())
                WHERE user_id = \(family.participant.id)
                """)
        }
        #expect(left == "dropped not_a_member")
        let deleted = try await Self.result { server, family, _ in
            try await server.deleteAccount(of: family.participant)
        }
        #expect(deleted == "dropped not_a_member")
        let blocked = try await Self.result { server, family, _ in
            let (id, now): (BlockID, Timestamp) = (server.random.identifier(at: .epoch), server.clock.now())
            try await server.sql(
                """
                INSERT INTO blocks (id, actor_id, target_id, state, created_at, updated_at)
                VALUES (\(id), \(family.participant.id), \(family.guardian.id), 'active', \(now), \(now))
                """)
        }
        #expect(blocked == "dropped blocked")
        #expect(try await Self.result(channel: .sms) { _, _, _ in } == "dropped no_consent")
        let consented = try await Self.result(channel: .sms) { server, family, _ in
            try await server.grantSMS(to: family.participant)
        }
        #expect(consented == "sent")
    }

    @Test("quiet hours defer a delivery to their end, without counting an attempt")
    func quietHours() async throws {
        try await TestServer.run(isOfActs: false) { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child)
            // 11:00 in New York; quiet until 18:30.
            try await server.setQuietHours(of: family.child, "10:00", "18:30", as: family.guardian)
            try await server.delivery(of: nag.id, to: family.child, "nag_escalated", phase: .dueSoon)
            try await server.withWorker(DeliveryOptions()) { worker in
                try await worker.run()
                let row = try #require(try await server.deliveryRows().first)
                #expect(row.nextAttempt == ManualClock.start + .minutes(450) && row.attempts == 0)
                #expect(row.status == "pending" && worker.counts() == [0, 0, 0, 0, 1])
                server.clock.set(to: ManualClock.start + .minutes(450))
                // The step was taken, and the next one comes in half an hour.
                try await server.sql("UPDATE nags SET phase = 1, due_at = \(server.clock.now() + .minutes(30))")
                try await worker.run()
                #expect(try await server.deliveryRows().map(\.status) == ["sent"])
            }
        }
    }

    @Test("a mute defers a delivery to its end, and one that would then be too old is dropped")
    func mute() async throws {
        try await TestServer.run(isOfActs: false) { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child, due: .hours(30))
            let end = server.clock.now() + .hours(2)
            let path = "/api/v1/preferences?family_id=\(family.id)"
            for value in ["tomorrow", "", "2026-13-01T00:00:00Z"] as [JSONValue] {
                let reply = try await server.call(
                    "PATCH", path, as: family.child, body: ["prefs_json": ["mute_until": value]])
                #expect(reply.status == 422, "\(reply.text)")
            }
            try await server.prefer(["mute_until": .string(end.rfc3339)], as: family.child)
            try await server.delivery(of: nag.id, to: family.child, "nag_created")
            // Somebody else's mute.
            try await server.delivery(of: nag.id, to: family.guardian)
            try await server.withWorker(DeliveryOptions()) { worker in
                try await worker.run()
                let rows = try await server.deliveryRows()
                #expect(rows.map(\.status).sorted() == ["pending", "sent"])
                #expect(rows.compactMap(\.nextAttempt) == [end] && rows.allSatisfy { $0.attempts <= 1 })
                server.clock.set(to: end)
                try await worker.run()
                #expect(try await server.deliveryRows().map(\.status) == ["sent", "sent"])
                try await server.prefer(["mute_until": .string((end + .days(7)).rfc3339)], as: family.child)
                server.clock.advance(by: .seconds(1))
                try await server.delivery(of: nag.id, to: family.child, "nag_created")
                try await worker.run()
                #expect(try await server.deliveryRows().last.map { Self.result($0) } == "dropped muted")
            }
        }
    }

    @Test("after a stop the newest delivery of a nag is sent, and older or stale ones are dropped")
    func afterAStop() async throws {
        try await TestServer.run(isOfActs: false) { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.participant)
            let other = try await server.nag(from: family.guardian, to: family.child)
            try await server.delivery(of: other.id, to: family.child)
            server.clock.advance(by: .hours(12))
            for phase in [EscalationPhase.dueSoon, .overdueSoft, .overdueBoundedPushBack] {
                server.clock.advance(by: .minutes(1))
                try await server.delivery(of: nag.id, to: family.participant, "nag_escalated", phase: phase)
            }
            server.clock.advance(by: .hours(13))
            try await server.withWorker(DeliveryOptions()) { try await $0.run() }
            #expect(
                try await server.deliveryRows().map { Self.result($0) }
                    == ["dropped stale", "dropped superseded", "dropped superseded", "sent"])
        }
    }

    @Test("a person with a live socket gets no push message, but text messages")
    func liveSocket() async throws {
        try await TestServer.run(isOfActs: false) { server in
            let family = try await server.family()
            try await server.grantSMS(to: family.participant)
            try await server.deliveries(1, to: family.participant)
            try await server.deliveries(1, to: family.participant, by: .sms)
            try await server.deliveries(1, to: family.child)
            try await server.sql(
                RealtimeStatements.recordLiveSockets([family.participant.id], on: InstanceID(high: 1, low: 1)))
            try await server.withWorker(DeliveryOptions()) { worker in
                try await worker.run()
                #expect(worker.figures.map(\.skippedForLiveSocket.value) == [1, 0])
            }
            let rows = try await server.deliveryRows()
            #expect(rows.map(\.status).sorted() == ["delivered", "sent", "sent"])
            #expect(rows.first { $0.status == "delivered" }?.reference == "socket")
        }
    }
}
