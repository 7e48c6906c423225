import Contract
import Domain
import JSON
import NagzAI
import SQL
import Testing
import TimeZones

@testable import Server
@testable import ServerTestKit

@Suite("AI: answers of the rules from the database's facts")
struct AIAnswerTests {
    /// Misses of the child at the edges of the week that counts, and of somebody else.
    private func miss(_ scene: AIScene, recently count: Int) async throws {
        let week = scene.now - .days(7)
        let inside = [scene.now, week + .milliseconds(1), scene.now - .hours(1), scene.now - .days(3)]
        try await scene.addMisses(Array(inside.prefix(count)), of: scene.home.child)
        try await scene.addMisses([week, week - .days(1), scene.now + .milliseconds(1)], of: scene.home.child)
        try await scene.addMisses([scene.now], of: scene.home.participant)
    }

    @Test(
        "a tone follows from the misses of the last seven days and the streak",
        arguments: [(0, 0), (0, 2), (0, 3), (1, 5), (2, 0), (3, 9), (4, 0)])
    func tone(_ misses: Int, _ streak: Int) async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            try await miss(scene, recently: misses)
            try await scene.addStreak(streak, of: scene.home.child)
            try await scene.addStreak(30, of: scene.home.participant)
            let answer = try await server.call(
                API.selectTone, ToneSelectRequest(nagID: scene.nag), as: scene.home.guardian)
            let facts = scene.facts {
                $0.missCount7d = misses
                $0.streak = streak
            }
            #expect(answer == scene.heuristics.tone(for: facts).response)
        }
    }

    @Test(
        "an excuse's summary and category follow from its words alone",
        arguments: [
            "  I forgot  ", "I was too busy and forgot", "know nothing, note sometimes", "I don\u{2019}t understand",
            String(repeating: "👨‍👩‍👧‍👦", count: 280), String(repeating: "no ", count: 666), "\u{1}\u{202E}",
            "Zoë’s “late” café",
        ])
    func excuses(_ text: String) async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let answer = try await server.call(
                API.summarizeExcuse, ExcuseSummaryRequest(text: text, nagID: scene.nag), as: scene.home.child)
            #expect(answer == scene.heuristics.excuseSummary(of: text, nagID: scene.nag).response)
        }
    }

    /// A history of the child, and the facts it makes.
    struct History: Sendable, CustomTestStringConvertible {
        let name: String
        var misses = 0
        var streak = 0
        var conflicts = 0
        var resolved: [(NagCategory, NagStatus)] = []
        var preferences: String?
        var zone = "America/New_York"
        var testDescription: String { name }
    }

    private static let histories = [
        History(name: "nothing"),
        History(name: "conflicts", conflicts: 2),
        History(name: "one conflict, first miss", misses: 1, conflicts: 1),
        History(name: "streak", streak: 3),
        History(
            name: "mixed", misses: 2, streak: 1,
            resolved: [
                (.chores, .completed), (.chores, .missed), (.chores, .withdrawn), (.meds, .completed),
                (.homework, .open), (.meds, .missed),
            ]),
        History(
            name: "quiet hours in Tokyo", resolved: [(.chores, .completed), (.chores, .completed)],
            preferences:
                #"{"quiet_hours_enabled": true, "quiet_hours_start": "23:00", "quiet_hours_end": "08:30", "timezone": "Asia/Tokyo", "x": [1]}"#,
            zone: "Asia/Tokyo"),
    ]

    @Test("coaching and prediction follow from everything in a recipient's history", arguments: histories)
    func history(_ history: History) async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            try await miss(scene, recently: history.misses)
            try await scene.addStreak(history.streak, of: scene.home.child)
            let week = scene.now - .days(7)
            for number in 0..<history.conflicts {
                try await scene.addExcuse(
                    .timeConflict, by: scene.home.child, at: number == 0 ? scene.now : week + .milliseconds(1))
            }
            try await scene.addExcuse(.timeConflict, by: scene.home.child, at: week)
            try await scene.addExcuse(.forgot, by: scene.home.child, at: scene.now)
            try await scene.addExcuse(.timeConflict, by: scene.home.participant, at: scene.now)
            for (category, status) in history.resolved { try await scene.add(category, status, to: scene.home.child) }
            // Resolved too long ago for this week's praise.
            try await scene.add(.chores, .completed, to: scene.home.child, closed: week)
            try await scene.add(.chores, .completed, to: scene.home.participant)
            if let preferences = history.preferences { try await scene.prefer(preferences, scene.home.child) }
            let lateEvening = QuietHours(start: try #require(TimeOfDay("23:00")), end: try #require(TimeOfDay("08:30")))
            let facts = scene.facts { facts in
                func record(_ nags: [(NagCategory, NagStatus)]) -> CompletionRecord {
                    let resolved = nags.filter { $0.1 == .completed || $0.1 == .missed }
                    return CompletionRecord(
                        resolved: resolved.count, completed: resolved.filter { $0.1 == .completed }.count)
                }
                facts.missCount7d = history.misses
                facts.streak = history.streak
                facts.timeConflictCount7d = history.conflicts
                let older = [(NagCategory.chores, NagStatus.completed)]
                facts.categoryRecord = record(history.resolved.filter { $0.0 == .chores } + older)
                facts.recentCategoryRecord = record(history.resolved.filter { $0.0 == .chores })
                facts.overallRecord = record(history.resolved + older)
                if history.preferences != nil {
                    facts.preferences.quietHoursEnabled = true
                    facts.preferences.quietWindow = lateEvening
                }
            }
            for day in 0..<2 {
                server.clock.set(to: ManualClock.start + .milliseconds(Int64(day)))
                let snapshot = scene.snapshot(facts, zone: history.zone)
                let tip = try await server.call(
                    API.coach, CoachingRequest(nagID: scene.nag), as: scene.home.secondGuardian)
                #expect(day > 0 || tip == scene.heuristics.coaching(for: snapshot).response)
                let prediction = try await server.call(
                    API.predictCompletion, NagQuery(nagID: scene.nag), as: scene.home.child)
                #expect(day > 0 || prediction == scene.heuristics.prediction(for: snapshot).response)
            }
        }
    }

    @Test("homework is praised for the completions of the last seven days alone")
    func homework() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            try await server.sql("UPDATE nags SET category = 'homework'")
            let week = scene.now - .days(7)
            func scenario() async throws -> String {
                try await server.call(API.coach, CoachingRequest(nagID: scene.nag), as: scene.home.child).scenario
            }
            for _ in 0..<9 { try await scene.add(.homework, .completed, to: scene.home.child, closed: week) }
            #expect(try await scenario() == "general")
            for moment in [week + .milliseconds(1), scene.now, scene.now] {
                #expect(try await scenario() == "general")
                try await scene.add(.homework, .completed, to: scene.home.child, closed: moment)
            }
            #expect(try await scenario() == "high_completion_homework")
        }
    }

    @Test("words are in the recipient's preferred tone, not the requester's, and the answer names the selected one")
    func preferredTone() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            try await scene.prefer(#"{"tone": "firm"}"#, scene.home.child)
            try await scene.prefer(#"{"tone": "playful"}"#, scene.home.guardian)
            let facts = scene.facts { $0.preferences.tone = .firm }
            let tip = try await server.call(API.coach, CoachingRequest(nagID: scene.nag), as: scene.home.guardian)
            #expect(tip == scene.heuristics.coaching(for: scene.snapshot(facts)).response)
            let pushBack = try await scene.pushBack()
            #expect(pushBack == scene.heuristics.pushBack(for: scene.snapshot(facts)).response)
            #expect(pushBack.tone == .neutral)
            let tones = try await server.rows("SELECT DISTINCT tone FROM ai_mediation_events")
            #expect(tones.map { $0["tone"] } == ["neutral"])
        }
    }

    @Test(
        "the prediction of a closed nag is 1 if it was completed and 0 if not",
        arguments: [NagStatus.completed, .missed, .withdrawn])
    func closed(_ status: NagStatus) async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            try await server.commit([FeedRows.close(scene.nag, as: status, at: scene.now)], in: scene.home.id)
            let answer = try await server.call(
                API.predictCompletion, NagQuery(nagID: scene.nag), as: scene.home.guardian)
            #expect(
                answer
                    == scene.heuristics.prediction(for: scene.snapshot(scene.facts { $0.nag.status = status })).response
            )
            #expect(answer.likelihood == (status == .completed ? 1 : 0) && answer.suggestedReminderTime == nil)
        }
    }

    @Test("patterns count weekdays of the due times in the family's zone, over 90 days and a clock change")
    func patterns() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let now = scene.now
            // Sundays 04:30 in UTC are Saturday evenings in New York, before the clocks changed on 8 March and after. The misses
            // were recorded a day later.
            let saturdays = (0..<4).map { Timestamp(seconds: 1_772_944_200) - .days(7 * $0) }
            let edges = [now - .days(90), now - .days(90) + .milliseconds(1), now, now + .milliseconds(1)]
            let misses =
                saturdays.map { PatternFacts.Miss(dueAt: $0, missedAt: $0 + .days(1)) }
                + edges.map { PatternFacts.Miss(dueAt: $0 - .days(1), missedAt: $0) }
            try await scene.add(misses, of: scene.home.child)
            let others = Array(repeating: PatternFacts.Miss(dueAt: now - .days(2), missedAt: now - .days(1)), count: 3)
            try await scene.add(others, of: scene.home.participant)
            // Of a nag that is gone nobody knows when it was due.
            try await scene.addMisses(Array(repeating: now - .hours(1), count: 3), of: scene.home.child)
            let answer = try await server.call(
                API.detectPatterns, UserInFamilyQuery(userID: scene.home.child.id, familyID: scene.home.id),
                as: scene.home.guardian)
            let facts = PatternFacts(userID: scene.home.child.id, familyID: scene.home.id, misses: misses)
            let zone = try #require(ZoneDatabase.system.zone("America/New_York"))
            #expect(answer == scene.heuristics.patterns(for: Snapshot(facts, now: now, zone: zone)).response)
            #expect(answer.insights == [InsightItem(dayOfWeek: .saturday, missCount: 4)])
        }
    }

    @Test(
        "a digest counts what ended in the last seven days and what is open, by member")
    func digest() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let (now, home) = (scene.now, scene.home)
            let week = now - .days(7)
            // Open and due tomorrow.
            var nags = [DigestFacts.Nag(recipientID: home.child.id, status: .open, dueAt: now + .hours(24))]
            for (recipient, status, due, closed) in [
                // Done early, done late, missed at the end of the period; done at its start and after it.
                (home.child, .completed, now + .days(60), now - .days(1)),
                (home.child, .completed, week - .days(3), week + .milliseconds(1)),
                (home.child, .missed, now - .days(2), now), (home.child, .completed, week, week),
                (home.child, .completed, now - .days(1), now + .milliseconds(1)),
                (home.child, .withdrawn, now - .days(1), now - .days(1)),
                (home.participant, .open, now - .days(40), nil),
                (home.participant, .completed, week - .days(1), week - .milliseconds(1)),
                (home.removed, .completed, now - .days(1), now - .days(1)),
                (home.secondGuardian, .completed, now - .days(6), now - .days(6)),
            ] as [(TestPerson, NagStatus, Timestamp, Timestamp?)] {
                try await scene.add(.chores, status, to: recipient, due: due, closed: closed)
                nags.append(
                    DigestFacts.Nag(recipientID: recipient.id, status: status, dueAt: due, closedAt: closed))
            }
            let members = home.members.map { DigestFacts.Member(userID: $0.id, displayName: $0.name) }
            for (person, subject, total) in [
                (home.guardian, nil, 5), (home.child, home.child.id, 3), (home.participant, home.participant.id, 1),
            ] as [(TestPerson, UserID?, Int)] {
                let answer = try await server.call(API.generateDigest, FamilyQuery(familyID: home.id), as: person)
                let facts = DigestFacts(familyID: home.id, subject: subject, members: members, nags: nags)
                let zone = try #require(ZoneDatabase.system.zone("America/New_York"))
                #expect(answer == scene.heuristics.digest(for: Snapshot(facts, now: now, zone: zone)).response)
                #expect(answer.totals.totalNags == total)
                #expect(subject == nil || answer.memberSummaries.map(\.userID) == [person.id])
            }
        }
    }
}
