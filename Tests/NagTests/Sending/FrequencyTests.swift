import Contract
import Domain
import JSON
import Postgres
import SQL
import TestHTTPServer
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Frequency of notifications")
struct FrequencyTests {
    /// What a test looks at: a family, whose participant and child have a device, and what they receive.
    private struct Scene {
        let server: TestServer
        let provider: TestHTTPServer
        let family: Household
        let rounds: ScheduledRounds
        let worker: SendingWorker

        /// Escalates and sends what is due at a moment, and once more a second later.
        func live(at moment: Timestamp) async throws {
            server.clock.set(to: moment)
            for _ in 0..<2 {
                try await rounds.run()
                try await worker.run()
                server.clock.advance(by: .seconds(1))
            }
        }

        /// The titles of the messages so far.
        func titles() async throws -> [String] {
            try await provider.received().compactMap { $0["body"]?["title"]?.stringValue }
        }
    }

    private static func run(_ body: @escaping @Sendable (Scene) async throws -> Void) async throws {
        try await TestHTTPServer.with { provider in
            try await TestServer.run { server in
                let family = try await server.family()
                for person in [family.participant, family.child] { try await server.registerDevice(as: person) }
                var options = try provider.options()
                options.sms = try provider.webhook()
                let chosen = options
                try await server.withScheduler { rounds in
                    try await server.withWorker(chosen) { worker in
                        try await body(
                            Scene(server: server, provider: provider, family: family, rounds: rounds, worker: worker))
                    }
                }
            }
        }
    }

    // MARK: One moment, one message

    @Test("a new nag whose first step is due is notified once, whoever works first")
    func oneMessageForANewNag() async throws {
        try await Self.run { scene in
            _ = try await scene.server.nag(from: scene.family.guardian, to: scene.family.child, due: .minutes(30))
            try await scene.worker.run()
            #expect(try await scene.titles() == [])
            scene.server.clock.advance(by: .milliseconds(500))
            try await scene.rounds.run()
            scene.server.clock.advance(by: .milliseconds(500))
            try await scene.worker.run()
            #expect(try await scene.titles() == ["Due soon"])
            // The step comes in four seconds.
            _ = try await scene.server.nag(
                from: scene.family.guardian, to: scene.family.child, due: .seconds(60 * 60 + 4))
            try await scene.worker.run()
            try await scene.live(at: scene.server.clock.now() + .seconds(4))
            #expect(try await scene.titles() == ["Due soon", "Due soon"])
        }
    }

    @Test("a new nag whose first step is due at the end of quiet hours is notified once")
    func oneMessageAfterQuietHours() async throws {
        try await Self.run { scene in
            // From 11 o'clock on it is quiet until 13, when the nag of 13:30 is due soon.
            try await scene.server.setQuietHours(of: scene.family.child, "10:00", "13:00", as: scene.family.guardian)
            let nag = try await scene.server.nag(
                from: scene.family.guardian, to: scene.family.child, due: .minutes(150))
            try await scene.live(at: nag.createdAt + .minutes(1))
            scene.server.clock.set(to: nag.createdAt + .hours(2))
            try await scene.worker.run()
            #expect(try await scene.titles() == [])
            try await scene.live(at: nag.createdAt + .hours(2) + .seconds(1))
            #expect(try await scene.titles() == ["Due soon"])
        }
    }

    @Test("without a scheduler the notification of a new nag waits for a minute and no longer")
    func noScheduler() async throws {
        try await Self.run { scene in
            let nag = try await scene.server.nag(
                from: scene.family.guardian, to: scene.family.child, due: .minutes(30))
            for second in [Int64(0), 30, 59] {
                scene.server.clock.set(to: nag.createdAt + .seconds(second))
                try await scene.worker.run()
            }
            #expect(try await scene.titles() == [])
            scene.server.clock.set(to: nag.createdAt + .seconds(61))
            try await scene.worker.run()
            #expect(try await scene.titles() == ["New nag"])
        }
    }

    // MARK: Frequency

    @Test("under once_per_phase each phase is notified once, without reminders, once the preference has changed")
    func oncePerPhase() async throws {
        try await Self.run { scene in
            let nag = try await scene.server.nag(from: scene.family.guardian, to: scene.family.participant)
            try await scene.live(at: nag.createdAt)
            for minutes in [Int64(-60), 0, 15] { try await scene.live(at: nag.dueAt + .minutes(minutes)) }
            #expect(try await scene.titles() == ["New nag", "Due soon", "Overdue", "Overdue"])
            try await scene.server.prefer(
                ["notification_frequency": "once_per_phase"], as: scene.family.participant)
            let escalation = try await scene.server.call(
                API.getEscalation, NagPath(nagID: nag.id), as: scene.family.participant)
            #expect(escalation.nextReminderAt == nil)
            for minutes in [Int64(31), 46, 60, 76, 180, 196] {
                try await scene.live(at: nag.dueAt + .minutes(minutes))
            }
            #expect(
                try await scene.titles() == [
                    "New nag", "Due soon", "Overdue", "Overdue", "Still not done", "Not done for hours",
                ])
        }
    }

    @Test("under daily_digest there is no reminder to announce while the creator has the message of the last phase")
    func dailyDigestAndCreator() async throws {
        try await Self.run { scene in
            let (server, family) = (scene.server, scene.family)
            let nag = try await server.nag(from: family.guardian, to: family.participant)
            for minutes in [Int64(-60), 0, 60, 180] { try await scene.live(at: nag.dueAt + .minutes(minutes)) }
            func nextReminder() async throws -> Timestamp? {
                try await server.call(API.getEscalation, NagPath(nagID: nag.id), as: family.participant).nextReminderAt
            }
            #expect(try await nextReminder() == nag.dueAt + .minutes(195))
            try await server.prefer(["notify_sent_overdue": true], as: family.guardian)
            #expect(try await nextReminder() == nag.dueAt + .minutes(195))
            try await server.prefer(["notification_frequency": "daily_digest"], as: family.participant)
            #expect(try await nextReminder() == nil)
            try await server.prefer(["notify_sent_overdue": false], as: family.guardian)
            #expect(try await nextReminder() == nag.dueAt + .minutes(195))
        }
    }

    @Test("under daily_digest steps wait for the digest, except those of medicine and the last phase")
    func dailyDigest() async throws {
        try await Self.run { scene in
            let (server, family) = (scene.server, scene.family)
            try await server.prefer(["notification_frequency": "daily_digest"], as: family.participant)
            let chore = try await server.nag(from: family.guardian, to: family.participant)
            try await scene.live(at: chore.createdAt)
            #expect(try await scene.titles() == ["New nag"])
            for minutes in [Int64(-60), 0, 15, 60] { try await scene.live(at: chore.dueAt + .minutes(minutes)) }
            #expect(try await scene.titles() == ["New nag"])
            #expect(try await server.steps(of: chore.id) == ["1", "2", "3"])
            try await scene.live(at: chore.dueAt + .minutes(180))
            #expect(try await scene.titles() == ["New nag", "Not done for hours"])
            let pill = try await server.nag(from: family.guardian, to: family.participant, due: .minutes(90), .meds)
            try await scene.live(at: pill.createdAt)
            try await scene.live(at: pill.dueAt - .minutes(60))
            let pills = try await scene.provider.received().filter {
                $0["body"]?["nag_id"] == .string(pill.id.description)
            }
            #expect(pills.map { $0["body"]?["title"]?.stringValue } == ["New nag", "Due soon"])
        }
    }

    @Test(
        "the digest comes once a day at its time in the person's zone, with any number of schedulers and workers")
    func onceADay() async throws {
        try await Self.run { scene in
            let (server, family) = (scene.server, scene.family)
            try await server.prefer(
                ["notification_frequency": "daily_digest", "timezone": "America/Chicago"], as: family.participant)
            // 11:00 in New York: overdue at 18:00 in Chicago, due on the next morning, and the day after.
            _ = try await server.nag(from: family.guardian, to: family.participant, due: .hours(7))
            _ = try await server.nag(from: family.secondGuardian, to: family.participant, due: .hours(20), .homework)
            _ = try await server.nag(from: family.guardian, to: family.participant, due: .hours(40))
            try await scene.live(at: server.clock.now())
            let before = try await scene.provider.received().count
            func digests() async throws -> [JSONValue] {
                try await scene.provider.received().dropFirst(before).filter { $0["body"]?["event"] == "daily_digest" }
            }
            try await scene.live(at: ManualClock.start + .hours(8) - .seconds(2))
            #expect(try await digests().isEmpty)
            server.clock.set(to: ManualClock.start + .hours(8))
            try await server.withScheduler { other in
                try await server.withWorker(scene.provider.options()) { second in
                    for _ in 0..<3 {
                        async let one: Void = scene.rounds.run()
                        async let two: Void = other.run()
                        _ = try await (one, two)
                        async let three: Void = scene.worker.run()
                        async let four: Void = second.run()
                        _ = try await (three, four)
                        server.clock.advance(by: .seconds(1))
                    }
                }
            }
            let sent = try #require(try await digests().first?["body"])
            #expect(try await digests().count == 1)
            #expect(sent["title"] == "Due and overdue" && sent["nag_id"] == .null)
            #expect(sent["text"] == "Overdue: Please. Due within a day: Please.")
            // Neither another time of day, nor being switched off and on makes a second one.
            for change in [JSONValue.string("always"), "daily_digest"] {
                try await server.prefer(
                    ["notification_frequency": change, "digest_at": "19:00"], as: family.participant)
            }
            try await scene.live(at: ManualClock.start + .hours(10))
            #expect(try await digests().count == 1)
            try await scene.live(at: ManualClock.start + .hours(8 + 24))
            #expect(try await digests().count == 1)
            try await scene.live(at: ManualClock.start + .hours(9 + 24))
            #expect(try await digests().count == 2)
        }
    }

    @Test("several schedulers that find the same digest due at once make one")
    func sameTurn() async throws {
        try await Self.run { scene in
            let (server, person) = (scene.server, scene.family.participant)
            try await server.prefer(["notification_frequency": "daily_digest"], as: person)
            try await scene.rounds.run()
            server.clock.set(to: ManualClock.start + .hours(7))
            let schedules = try await server.database.rows(
                PreferenceStatements.dueDigestSchedules(at: server.clock.now(), limit: 10)
            ) { try DigestSchedule($0) }
            let schedule = try #require(schedules.first)
            let today = try #require(CivilDate(year: 2026, month: 3, day: 10))
            let now = server.clock.now()
            let moved = PreferenceStatements.moveDigest(schedule, to: now + .days(1), madeOn: today)
            let statements = (0..<8).map { _ in
                DeliveryStatements.insertDigest(
                    DeliveryIDs(server.random, at: now), on: today, to: person.id, with: moved, at: now)
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for statement in statements {
                    group.addTask {
                        let database = try await TestDatabase(url: server.database.url)
                        _ = try await database.run { (try await $0.query(statement)).count }
                        await database.close()
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await server.deliveryRows().count == 1)
        }
    }

    @Test("without due nags there is no digest, and after quiet hours a digest has what holds then")
    func quietDigest() async throws {
        try await Self.run { scene in
            let (server, family) = (scene.server, scene.family)
            try await server.prefer(
                [
                    "notification_frequency": "daily_digest", "digest_at": "13:00", "quiet_hours_enabled": true,
                    "quiet_hours_start": "12:30", "quiet_hours_end": "14:00",
                ], as: family.participant)
            try await scene.live(at: ManualClock.start + .hours(2))
            try await scene.live(at: ManualClock.start + .hours(3))
            #expect(try await server.deliveryRows().map(\.failure) == ["nothing_due"])
            let nag = try await server.nag(from: family.guardian, to: family.participant, due: .hours(23))
            try await scene.live(at: nag.createdAt)
            try await scene.live(at: ManualClock.start + .hours(2 + 24))
            #expect(try await scene.titles() == ["New nag"])
            try await scene.live(at: ManualClock.start + .hours(3 + 24))
            #expect(try await scene.titles() == ["New nag", "Due and overdue"])
        }
    }

    @Test("with both channels, steps and digests are notified on both once the person consents to texts")
    func both() async throws {
        try await Self.run { scene in
            let (server, family) = (scene.server, scene.family)
            try await server.prefer(
                ["delivery_channel": "both", "notify_sent_overdue": true], as: family.participant)
            let before = try await server.nag(from: family.guardian, to: family.participant, due: .hours(5))
            #expect(try await server.notified(of: before.id).map { $0.split(separator: " ")[2] } == ["push"])
            try await server.grantSMS(to: family.participant)
            let nag = try await server.nag(from: family.guardian, to: family.participant)
            try await scene.live(at: nag.createdAt)
            try await scene.live(at: nag.dueAt)
            try await scene.live(at: nag.dueAt + .minutes(15))
            let received = try await scene.provider.received().filter {
                $0["body"]?["nag_id"] == .string(nag.id.description)
            }
            let told = received.map {
                "\($0["body"]?["title"]?.stringValue ?? "") \($0["body"]?["channel"]?.stringValue ?? "")"
            }
            #expect(
                told.sorted() == [
                    "New nag push", "New nag sms", "Overdue push", "Overdue push", "Overdue sms", "Overdue sms",
                ])
            // The creator who hears of the last phase, by the same preference.
            let sent = try await server.nag(from: family.participant, to: family.child)
            try await scene.live(at: sent.dueAt + .minutes(180))
            #expect(
                try await server.notified(of: sent.id).filter { $0.hasPrefix("Pat ") }.sorted() == [
                    "Pat nag_escalated push sent", "Pat nag_escalated sms sent",
                ])
        }
    }
}
