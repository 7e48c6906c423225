import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Escalation of nags over time")
struct EscalationTests {
    private static let steps: [(minutes: Int64, name: String)] = [
        (-60, "1"), (0, "2"), (60, "3"), (180, "4"), (1_440, "missed"),
    ]

    @Test(
        "each step is taken at its moment with an event, an entry and at most one delivery, and a miss ends the streak")
    func phases() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.enableGamification(family.child)
            let done = try await server.nag(from: family.guardian, to: family.child)
            _ = try await server.complete(done.id, as: family.child)
            let nag = try await server.nag(from: family.guardian, to: family.child)
            try await server.withScheduler { rounds in
                var taken: [String] = []
                for (minutes, name) in Self.steps {
                    let moment = nag.dueAt + .minutes(minutes)
                    server.clock.set(to: moment - .milliseconds(1))
                    try await rounds.run()
                    #expect(try await server.steps(of: nag.id) == taken, "before \(name)")
                    server.clock.set(to: moment)
                    let isMiss = name == "missed"
                    try await server.expectOnly(
                        audit: [isMiss ? "nag.missed" : "nag.escalated"],
                        events: [isMiss ? "nag_missed" : "nag_escalated"], scores: isMiss ? ["nag_missed"] : [],
                        stamped: 1
                    ) { try await rounds.run() }
                    taken.append(name)
                    #expect(try await server.steps(of: nag.id) == taken)
                    let answer = try await server.call(
                        API.getEscalation, NagPath(nagID: nag.id), as: family.guardian)
                    #expect(answer.currentPhase.number == min(4, taken.count) && answer.dueAt == nag.dueAt)
                    #expect(answer.computedAt == moment && (answer.nextStepAt == nil) == isMiss)
                }
            }
            let told = ["1", "2", "3", "4"].map { "Cleo \($0) push pending" }
            #expect(try await server.escalationDeliveries(of: nag.id) == told)
            let entries = try await server.audit(family.id).filter { $0.resource == nag.id.retyped() }.suffix(5)
            #expect(entries.allSatisfy { $0.actor == SystemActor.scheduler.retyped() })
            #expect(entries.last?.details["streak_delta"] == "-1" && entries.last?.details["points"] == "0")
            #expect(
                entries.first?.details == [
                    "phase": "phase_1_due_soon", "step_due_at": (nag.dueAt - .hours(1)).rfc3339, "delivery": "push",
                ])
            let read = try await server.call(API.getNag, NagPath(nagID: nag.id), as: family.child)
            #expect(read.status == .missed)
            let feed = try await server.call(API.syncEvents, SyncQuery(familyID: family.id), as: family.child)
            let seen = feed.nagEvents.filter { $0.eventType == "nag_escalated" }.map { $0.payload["phase"] ?? "" }
            #expect(seen == EscalationPhase.allCases.dropFirst().map(\.rawValue))
        }
    }

    @Test("a child's quiet hours defer steps to their end, over a night in which the clocks change")
    func quietHours() async throws {
        try await TestServer.run { server in
            // Saturday evening in New York; on Sunday at two the clocks go back.
            server.clock.set(to: try #require(Timestamp(rfc3339: "2026-10-31T20:00:00Z")))
            let family = try await server.family()
            try await server.setQuietHours(of: family.child, "22:00", "07:00", as: family.guardian)
            let nag = try await server.nag(from: family.guardian, to: family.child, due: .hours(7))
            let morning = try #require(Timestamp(rfc3339: "2026-11-01T12:00:00Z"))
            try await server.withScheduler { rounds in
                for moment in [nag.dueAt - .hours(1), nag.dueAt, nag.dueAt + .hours(3), morning - .seconds(1)] {
                    server.clock.set(to: moment)
                    try await rounds.run()
                    #expect(try await server.steps(of: nag.id) == [])
                    #expect(try await server.phase(of: nag.id, as: family.child) == 0)
                }
                #expect(try await server.nextStepAt(at: nag.id) == morning)
                server.clock.set(to: morning)
                try await rounds.run()
            }
            #expect(try await server.steps(of: nag.id) == ["1", "2", "3", "4"])
            #expect(try await server.escalationDeliveries(of: nag.id) == ["Cleo 4 push pending"])
        }
    }

    @Test("changed preferences and a changed family zone take effect at once")
    func changes() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            // At 11 o'clock in New York, due at 13 o'clock.
            let nag = try await server.nag(from: family.guardian, to: family.participant)
            try await server.withScheduler { rounds in
                try await server.prefer(
                    [
                        "quiet_hours_enabled": true, "quiet_hours_start": "11:30", "quiet_hours_end": "17:00",
                    ], as: family.participant)
                server.clock.set(to: nag.dueAt + .hours(2))
                try await rounds.run()
                #expect(try await server.steps(of: nag.id) == [])
                #expect(try await server.nextStepAt(at: nag.id) == nag.dueAt + .hours(4))
                try await server.prefer(["quiet_hours_end": "13:30"], as: family.participant)
                try await rounds.run()
                #expect(try await server.steps(of: nag.id) == ["1", "2", "3"])
                // 15 o'clock here is 20 o'clock in Berlin.
                try await server.prefer(
                    ["quiet_hours_start": "14:00", "quiet_hours_end": "18:00"], as: family.participant)
                server.clock.set(to: nag.dueAt + .hours(3))
                try await rounds.run()
                #expect(try await server.steps(of: nag.id) == ["1", "2", "3"])
                let reply = try await server.call(
                    "PATCH", "/api/v1/families/\(family.id)", as: family.guardian,
                    body: ["time_zone": "Europe/Berlin"])
                #expect(reply.status == 200, "\(reply.text)")
                try await rounds.run()
                #expect(try await server.steps(of: nag.id) == ["1", "2", "3", "4"])
            }
        }
    }

    @Test("after a child's quiet hours are removed they defer nothing")
    func quietHoursTakenAway() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.setQuietHours(of: family.child, "11:30", "23:00", as: family.guardian)
            let nag = try await server.nag(from: family.guardian, to: family.child)
            try await server.withScheduler { rounds in
                server.clock.set(to: nag.dueAt)
                try await rounds.run()
                #expect(try await server.steps(of: nag.id) == [])
                try await server.setQuietHours(of: family.child, .null, .null, as: family.guardian)
                try await rounds.run()
            }
            #expect(try await server.steps(of: nag.id) == ["1", "2"])
        }
    }

    @Test("steps follow the commit time while the person prefers it, and the due time otherwise")
    func commitTime() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.participant)
            let promise = NagUpdate(committedAt: .value(nag.dueAt + .hours(5)))
            try await server.call(API.updateNag, NagPath(nagID: nag.id), promise, as: family.participant)
            try await server.prefer(["use_commit_time_for_escalation": true], as: family.participant)
            try await server.withScheduler { rounds in
                server.clock.set(to: nag.dueAt + .hours(3))
                try await rounds.run()
                #expect(try await server.steps(of: nag.id) == [])
                server.clock.set(to: nag.dueAt + .hours(4))
                try await rounds.run()
                #expect(try await server.steps(of: nag.id) == ["1"])
                try await server.prefer(["use_commit_time_for_escalation": false], as: family.participant)
                try await rounds.run()
                #expect(try await server.steps(of: nag.id) == ["1", "2", "3", "4"])
            }
        }
    }

    @Test("a commit time that is removed no longer counts")
    func clearedCommitTime() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.prefer(["use_commit_time_for_escalation": true], as: family.participant)
            let nag = try await server.nag(from: family.guardian, to: family.participant)
            let promise = NagUpdate(committedAt: .value(nag.dueAt + .hours(5)))
            try await server.call(API.updateNag, NagPath(nagID: nag.id), promise, as: family.participant)
            try await server.withScheduler { rounds in
                server.clock.set(to: nag.dueAt)
                try await rounds.run()
                #expect(try await server.steps(of: nag.id) == [])
                try await server.call(
                    API.updateNag, NagPath(nagID: nag.id), NagUpdate(committedAt: .null), as: family.participant)
                try await rounds.run()
            }
            #expect(try await server.steps(of: nag.id) == ["1", "2"])
        }
    }

    @Test("a snooze moves the steps ahead, and an edit of the due time begins anew")
    func snoozeAndEdit() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.participant)
            func move(to due: Timestamp, as person: TestPerson) async throws {
                try await server.call(API.updateNag, NagPath(nagID: nag.id), NagUpdate(dueAt: due), as: person)
            }
            try await server.withScheduler { rounds in
                server.clock.set(to: nag.dueAt + .minutes(1))
                try await rounds.run()
                #expect(try await server.steps(of: nag.id) == ["1", "2"])
                let later = nag.dueAt + .minutes(30)
                try await move(to: later, as: family.participant)
                #expect(try await server.phase(of: nag.id, as: family.participant) == 2)
                server.clock.set(to: later + .minutes(60) - .milliseconds(1))
                try await rounds.run()
                #expect(try await server.steps(of: nag.id) == ["1", "2"])
                server.clock.set(to: later + .minutes(60))
                try await rounds.run()
                #expect(try await server.steps(of: nag.id) == ["1", "2", "3"])

                let tomorrow = nag.dueAt + .days(1)
                try await move(to: tomorrow, as: family.guardian)
                #expect(try await server.phase(of: nag.id, as: family.participant) == 0)
                server.clock.set(to: tomorrow)
                try await rounds.run()
                #expect(try await server.steps(of: nag.id) == ["1", "2", "3", "1", "2"])
                // Earlier than planned.
                let soon = server.clock.now() + .minutes(10)
                try await move(to: soon, as: family.guardian)
                try await rounds.run()
                #expect(try await server.steps(of: nag.id) == ["1", "2", "3", "1", "2", "1"])
            }
        }
    }

    @Test("reminders of an overdue nag come every 15 minutes, counted from each phase, and not while snoozed")
    func reminders() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.participant)
            func next() async throws -> Timestamp? {
                try await server.call(API.getEscalation, NagPath(nagID: nag.id), as: family.participant).nextReminderAt
            }
            try await server.withScheduler { rounds in
                #expect(try await next() == nil)
                server.clock.set(to: nag.dueAt)
                try await rounds.run()
                #expect(try await next() == nag.dueAt + .minutes(15))
                server.clock.set(to: nag.dueAt + .minutes(16))
                #expect(try await next() == nag.dueAt + .minutes(30))
                server.clock.set(to: nag.dueAt + .minutes(62))
                try await rounds.run()
                #expect(try await next() == nag.dueAt + .minutes(77))
                let snoozed = nag.dueAt + .minutes(90)
                try await server.call(
                    API.updateNag, NagPath(nagID: nag.id), NagUpdate(dueAt: snoozed), as: family.participant)
                #expect(try await next() == snoozed)
                _ = try await server.complete(nag.id, as: family.participant)
                #expect(try await next() == nil)
            }
        }
    }

    @Test("the last phase notifies a creator who prefers that, and SMS needs preference and consent")
    func addressees() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let before = try await server.nag(from: family.participant, to: family.guardian)
            try await server.prefer(["notify_sent_overdue": true], as: family.participant)
            try await server.prefer(["delivery_channel": "sms"], as: family.guardian)
            let own = try await server.nag(from: family.participant, to: family.participant)
            try await server.withScheduler { rounds in
                server.clock.set(to: before.dueAt)
                try await rounds.run()
                #expect(try await server.escalationDeliveries(of: before.id) == ["Gia 2 push pending"])
                let consent = ConsentCreate(type: .smsOptIn)
                _ = try await server.call(API.grantConsent, consent, as: family.guardian)
                server.clock.set(to: before.dueAt + .hours(1))
                try await rounds.run()
                server.clock.set(to: before.dueAt + .hours(3))
                try await rounds.run()
            }
            #expect(
                try await server.escalationDeliveries(of: before.id) == [
                    "Gia 2 push pending", "Gia 3 sms pending", "Pat 4 push pending",
                ])
            #expect(try await server.escalationDeliveries(of: own.id).last == "Pat 4 push pending")
        }
    }

    @Test(
        "a completed, withdrawn or cancelled nag escalates no more", arguments: ["completed", "withdrawn", "cancelled"])
    func ended(how: String) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.participant)
            try await server.withScheduler { rounds in
                server.clock.set(to: nag.dueAt)
                try await rounds.run()
                switch how {
                case "completed": _ = try await server.complete(nag.id, as: family.participant)
                case "withdrawn":
                    _ = try await server.call(API.withdrawNag, NagPath(nagID: nag.id), as: family.guardian)
                default:
                    _ = try await server.call(
                        API.removeMember, MemberPath(familyID: family.id, userID: family.participant.id),
                        as: family.guardian)
                }
                server.clock.set(to: nag.dueAt + .days(3))
                try await server.expectOnly { try await rounds.run() }
                #expect(
                    try await server.escalate(rounds, nag.id, in: family.id) == .ended)
            }
            #expect(try await server.phase(of: nag.id, as: family.guardian) == 2)
            let recomputed = try await server.call(
                API.recomputeEscalation, NagPath(nagID: nag.id), as: family.guardian)
            #expect(recomputed.currentPhase == .overdueSoft && recomputed.nextStepAt == nil)
        }
    }

    @Test("an overdue instance creates the next one, once, and no further one while two are open")
    func series() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child, every: .hourly)
            func open() async throws -> [NagResponse] {
                try await server.call(
                    API.listNags, NagListQuery(familyID: family.id, status: .open), as: family.guardian
                ).items.sorted { $0.dueAt < $1.dueAt }
            }
            try await server.withScheduler { rounds in
                server.clock.set(to: nag.dueAt)
                try await rounds.run()
                let second = try #require(try await open().last)
                #expect(second.parentNagID == nag.id && second.dueAt == nag.dueAt + .hours(1))
                // The second is overdue and the first still open.
                server.clock.set(to: nag.dueAt + .hours(2))
                try await rounds.run()
                #expect(try await open().map(\.id) == [nag.id, second.id])
                _ = try await server.complete(nag.id, as: family.child)
                #expect(try await open().map(\.id) == [second.id])
                _ = try await server.complete(second.id, as: family.child)
                let third = try await open()
                #expect(third.map(\.parentNagID) == [second.id] && third.map(\.dueAt) == [nag.dueAt + .hours(3)])
                // A day without anybody: the missed one is followed by one.
                server.clock.set(to: nag.dueAt + .hours(30))
                try await rounds.run()
                #expect(try await open().map(\.parentNagID) == [third.first?.id])
                let parents = try await server.rows(
                    "SELECT parent_nag_id FROM nags WHERE parent_nag_id IS NOT NULL GROUP BY 1 HAVING count(*) > 1")
                #expect(parents.isEmpty)
            }
        }
    }
}

extension TestServer {
    fileprivate func escalate(
        _ rounds: ScheduledRounds, _ nag: NagID, in family: FamilyID
    ) async throws -> EscalationResult { try await rounds.escalate(nag, in: family, clock.now()) }
}
