import Contract
import Domain
import JSON
import SQL
import TestHTTPServer
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Reminders of overdue nags")
struct ReminderTests {
    struct Killed: Error {}

    /// A nag whose recipient was told at its due time that it is overdue, and those who send and escalate.
    struct Scene {
        let server: TestServer
        let provider: TestHTTPServer
        let family: Household
        let nag: NagResponse
        let rounds: ScheduledRounds
        let worker: SendingWorker

        /// Sends what is due at a time after the due time, and expects that many messages so far: the number of first
        /// ones, `+`, and the number of reminders.
        func expect(
            _ messages: String, at minutes: Int64, _ seconds: Int64 = 0,
            sourceLocation: SourceLocation = #_sourceLocation
        ) async throws {
            server.clock.set(to: nag.dueAt + .seconds(minutes * 60 + seconds))
            try await worker.run()
            let all = try await provider.received()
            #expect(Set(all.map { $0["id"]?.stringValue }).count == all.count)
            let repeats = all.filter { $0["body"]?["repeat"] == true }
            #expect("\(all.count - repeats.count)+\(repeats.count)" == messages, sourceLocation: sourceLocation)
        }

        /// The delivery of the first message.
        func row() async throws -> DeliveryRow { try #require(try await server.deliveryRows().first) }
    }

    private static func run(
        to recipient: Who = .participant, _ words: String = "", attempts: Int = 8,
        before: @escaping @Sendable (TestServer, Household) async throws -> Void = { _, _ in },
        _ body: @escaping @Sendable (Scene) async throws -> Void
    ) async throws {
        try await TestHTTPServer.with { provider in
            try await TestServer.run(isOfActs: false) { server in
                let family = try await server.family()
                try await before(server, family)
                let nag = try await server.nag(from: family.guardian, to: recipient(family))
                try await server.withScheduler { rounds in
                    server.clock.set(to: nag.dueAt)
                    try await rounds.run()
                    try await server.withWorker(provider.options()) { try await $0.run() }
                    var options = try provider.options(words)
                    options.retries.maxAttempts = attempts
                    try await server.withWorker(options) { worker in
                        try await body(
                            Scene(
                                server: server, provider: provider, family: family, nag: nag, rounds: rounds,
                                worker: worker))
                    }
                }
            }
        }
    }

    @Test("reminders come every quarter of an hour until the nag is done, each marked as repeated with its own id")
    func cadence() async throws {
        try await Self.run { scene in
            try await scene.expect("1+0", at: 14, 59)
            try await scene.expect("1+1", at: 15)
            try await scene.expect("1+1", at: 29, 59)
            try await scene.expect("1+2", at: 30)
            let received = try await scene.provider.received()
            let (first, third) = (try #require(received.first), try #require(received.last))
            #expect(first["body"]?["repeat"] == nil && third["body"]?["phase"] == "phase_2_overdue_soft")
            #expect(third["body"]?["delivery_id"] == third["id"])
            let row = try await scene.row()
            #expect(row.status == "sent" && row.nextAttempt == scene.nag.dueAt + .minutes(45))
            #expect(scene.worker.figures[0].repeated.value == 2 && scene.worker.counts() == [0, 0, 0, 0, 0])
            let administrator = try await scene.server.admin()
            let reviews = try await scene.server.call(
                API.listDeliveryReviews, DeliveryReviewQuery(), as: administrator)
            #expect(reviews.items.map(\.repeats) == [2] && reviews.items.first?.nextAttemptAt == row.nextAttempt)
            _ = try await scene.server.complete(scene.nag.id, as: scene.family.participant)
            try await scene.expect("1+2", at: 45)
            let last = try await scene.row()
            #expect(last.nextAttempt == nil && last.failure == "nag_closed" && last.status == "sent")
        }
    }

    @Test("reports count the response time from the first message, not from a reminder")
    func responseTime() async throws {
        try await Self.run { scene in
            try await scene.expect("1+1", at: 15)
            try await scene.expect("1+2", at: 30)
            _ = try await scene.server.complete(scene.nag.id, as: scene.family.participant)
            let report = try await scene.server.call(
                API.getWeeklyReport, FamilyQuery(familyID: scene.family.id), as: scene.family.guardian)
            #expect(report.metrics["response_time"]?["median_seconds"] == .integer(30 * 60))
        }
    }

    @Test("a missed, a withdrawn and a moved nag send no reminders")
    func ended() async throws {
        try await Self.run { scene in
            scene.server.clock.advance(by: .minutes(1))
            let later = scene.nag.dueAt + .hours(5)
            try await scene.server.call(
                API.updateNag, NagPath(nagID: scene.nag.id), NagUpdate(dueAt: later), as: scene.family.guardian)
            try await scene.expect("1+0", at: 15)
            let row = try await scene.row()
            #expect(row.failure == "snoozed" && row.nextAttempt == nil)
        }
        try await Self.run { scene in
            try await scene.server.call(
                API.withdrawNag, NagPath(nagID: scene.nag.id), as: scene.family.guardian)
            try await scene.server.sql("DELETE FROM deliveries WHERE status = 'pending'")
            try await scene.expect("1+0", at: 15)
        }
        try await Self.run { scene in
            // The scheduler has not come to it.
            try await scene.expect("1+0", at: 24 * 60)
            #expect(try await scene.row().nextAttempt == nil)
        }
    }

    @Test("reminders are counted anew from each phase, and give way to a due step that is not taken yet")
    func phases() async throws {
        try await Self.run { scene in
            for count in 1...3 { try await scene.expect("1+\(count)", at: Int64(count) * 15) }
            try await scene.expect("1+3", at: 62)
            try await scene.rounds.run()
            try await scene.expect("2+3", at: 62)
            try await scene.expect("2+3", at: 76, 59)
            try await scene.expect("2+4", at: 77)
            #expect(try await scene.provider.received().last?["body"]?["title"] == "Still not done")
            let rows = try await scene.server.deliveryRows()
            #expect(rows[0].failure == "superseded" && rows[0].nextAttempt == nil)
            #expect(rows[1].nextAttempt == scene.nag.dueAt + .minutes(92))
        }
    }

    @Test("the creator is notified of the last phase once, and the recipient reminded on, counted from that phase")
    func creator() async throws {
        try await Self.run(before: { server, family in
            try await server.prefer(["notify_sent_overdue": true], as: family.guardian)
        }) { scene in
            scene.server.clock.set(to: scene.nag.dueAt + .hours(2))
            try await scene.rounds.run()
            try await scene.expect("2+0", at: 170)
            try await scene.expect("2+0", at: 182)
            try await scene.rounds.run()
            try await scene.expect("3+0", at: 182)
            try await scene.expect("3+0", at: 196)
            try await scene.expect("3+1", at: 197)
            try await scene.expect("3+2", at: 212)
            let reminded = try await scene.provider.received().filter { $0["body"]?["repeat"] == true }
            #expect(
                Set(reminded.map { $0["body"]?["target_user_id"]?.stringValue })
                    == [scene.family.participant.id.description])
        }
    }

    @Test("after a stop there is one reminder, whoever works first")
    func afterAStop() async throws {
        try await Self.run { scene in
            try await scene.expect("1+1", at: 59)
            try await scene.expect("1+1", at: 59)
            #expect(try await scene.row().nextAttempt == scene.nag.dueAt + .minutes(74))
            // A day, with two steps.
            try await scene.expect("1+1", at: 23 * 60)
            try await scene.rounds.run()
            try await scene.expect("2+1", at: 23 * 60)
        }
    }

    @Test("no reminder is sent in quiet hours, while snoozed or muted, and one at their end")
    func heldBack() async throws {
        // Due at 13:00 in New York.
        try await Self.run(
            to: .child,
            before: { server, family in
                try await server.setQuietHours(of: family.child, "13:10", "13:40", as: family.guardian)
            }
        ) { scene in
            try await scene.expect("1+0", at: 15)
            try await scene.expect("1+0", at: 39, 59)
            try await scene.expect("1+1", at: 40)
            try await scene.expect("1+1", at: 54, 59)
            try await scene.expect("1+2", at: 55)
        }
        try await Self.run { scene in
            scene.server.clock.advance(by: .minutes(5))
            try await scene.server.call(
                API.updateNag, NagPath(nagID: scene.nag.id), NagUpdate(dueAt: scene.nag.dueAt + .minutes(20)),
                as: scene.family.participant)
            try await scene.expect("1+0", at: 19, 59)
            try await scene.expect("1+1", at: 20)
            try await scene.expect("1+1", at: 34, 59)
            try await scene.expect("1+2", at: 35)
        }
        try await Self.run { scene in
            let end = scene.nag.dueAt + .minutes(40)
            try await scene.server.prefer(["mute_until": .string(end.rfc3339)], as: scene.family.participant)
            try await scene.expect("1+0", at: 39, 59)
            try await scene.expect("1+1", at: 40)
        }
    }

    @Test("no reminder goes to a live socket, a former member, or somebody who blocks the creator")
    func people() async throws {
        try await Self.run { scene in
            scene.server.clock.set(to: scene.nag.dueAt + .minutes(15))
            try await scene.server.sql(
                RealtimeStatements.recordLiveSockets([scene.family.participant.id], on: InstanceID(high: 1, low: 1)))
            try await scene.expect("1+0", at: 15)
            #expect(scene.worker.figures[0].skippedForLiveSocket.value == 1)
            #expect(try await scene.row().status == "delivered")
            try await scene.server.sql("DELETE FROM live_sockets")
            try await scene.expect("1+1", at: 30)
            try await scene.server.sql(
                """
                UPDATE memberships SET status = 'removed', removed_at = \(scene.server.clock.now())
                WHERE user_id = \(scene.family.participant.id)
                """)
            try await scene.expect("1+1", at: 45)
            let row = try await scene.row()
            #expect(row.failure == "not_a_member" && row.nextAttempt == nil)
        }
    }

    @Test("a suspended relationship ends reminders, also before the first message")
    func suspended() async throws {
        try await Self.run { scene in
            let (server, family) = (scene.server, scene.family)
            let other = try await server.nag(from: family.guardian, to: family.participant)
            try await server.call(
                API.suspendRelationship, RelationshipPath(relationshipID: family.participant.id.retyped()),
                as: family.guardian)
            try await scene.expect("1+0", at: 15)
            server.clock.set(to: other.dueAt)
            try await scene.rounds.run()
            try await scene.expect("1+0", at: 121)
            let rows = try await server.deliveryRows()
            #expect(rows.count > 1 && rows.allSatisfy { $0.failure == "suspended" && $0.nextAttempt == nil })
        }
    }

    @Test("two workers at once send each reminder once")
    func together() async throws {
        try await Self.run("slow20") { scene in
            for _ in 1...5 { _ = try await scene.server.nag(from: scene.family.guardian, to: scene.family.child) }
            scene.server.clock.set(to: scene.nag.dueAt + .hours(2))
            try await scene.rounds.run()
            try await scene.worker.run()
            let before = try await scene.provider.received().count
            scene.server.clock.advance(by: .minutes(15))
            try await scene.server.withWorker(scene.provider.options("slow20")) { other in
                async let first: Void = scene.worker.run()
                async let second: Void = other.run()
                _ = try await (first, second)
            }
            let received = try await scene.provider.received()
            #expect(received.count == before + 6 && Set(received.map { $0["id"]?.stringValue }).count == received.count)
        }
    }

    @Test("a worker that dies before a reminder loses nothing; one that dies after it repeats it with the same id")
    func killed() async throws {
        try await Self.run { scene in
            scene.server.clock.set(to: scene.nag.dueAt + .minutes(15))
            for (point, messages) in [(ChannelSender.Point.claimed, 1), (.acknowledged, 2)] {
                try await scene.server.withWorker(
                    scene.provider.options(),
                    reach: { reached in
                        if case .claimed = point { throw Killed() }
                        if case .acknowledged = reached { throw Killed() }
                    }
                ) { try await $0.run() }
                #expect(try await scene.provider.received().count == messages)
                let claimed = try await scene.worker.runRound()
                #expect(claimed == 0)
                scene.server.clock.advance(by: ChannelSender.lease)
            }
            try await scene.worker.run()
            let received = try await scene.provider.received()
            #expect(received.count == 3 && Set(received.map { $0["id"]?.stringValue }).count == 2)
            let row = try await scene.row()
            #expect(row.nextAttempt == scene.nag.dueAt + .minutes(40) && row.attempts == 0)
        }
    }

    @Test("a worker whose lease ended records no result over a later reminder's success")
    func fencing() async throws {
        try await Self.run("fail422-held") { scene in
            scene.server.clock.set(to: scene.nag.dueAt + .minutes(15))
            try await scene.worker.runRound()
            scene.server.clock.advance(by: ChannelSender.lease)
            try await scene.server.withWorker(scene.provider.options()) { other in
                try await other.run()
                scene.server.clock.advance(by: .minutes(15))
                try await other.run()
            }
            _ = try await scene.provider.content(of: "/release")
            try await scene.worker.drain()
            let row = try await scene.row()
            #expect(row.failure == nil && row.nextAttempt == scene.nag.dueAt + .minutes(50))
        }
    }

    @Test("a provider that failed gets the next reminder, and one that refused for good gets no more")
    func failures() async throws {
        try await Self.run("fail503", attempts: 2) { scene in
            scene.server.clock.set(to: scene.nag.dueAt + .minutes(15))
            try await scene.worker.run()
            let failed = try await scene.row()
            #expect(failed.attempts == 1 && failed.failure == "status 503")
            scene.server.clock.advance(by: .minutes(1))
            try await scene.worker.run()
            #expect(scene.worker.counts() == [0, 1, 1, 0, 0])
            #expect(try await scene.row().nextAttempt == scene.nag.dueAt + .minutes(31))
            scene.server.clock.set(to: scene.nag.dueAt + .minutes(31))
            try await scene.server.withWorker(scene.provider.options()) { try await $0.run() }
            let row = try await scene.row()
            #expect(row.status == "sent" && row.failure == nil && row.nextAttempt == scene.nag.dueAt + .minutes(46))
        }
        try await Self.run("fail422") { scene in
            scene.server.clock.advance(by: .minutes(15))
            try await scene.worker.run()
            let row = try await scene.row()
            #expect(row.status == "sent" && row.failure == "status 422" && row.nextAttempt == nil)
        }
    }

    @Test("somebody who changes the channel between two phases gets reminders on the new one alone")
    func channels() async throws {
        try await Self.run { scene in
            try await scene.server.prefer(["delivery_channel": "sms"], as: scene.family.participant)
            try await scene.server.grantSMS(to: scene.family.participant)
            scene.server.clock.set(to: scene.nag.dueAt + .minutes(61))
            try await scene.rounds.run()
            // Text messages go to the log here.
            try await scene.expect("1+0", at: 61)
            try await scene.expect("1+0", at: 76)
            #expect(scene.worker.figures[1].repeated.value == 1)
        }
    }
}
