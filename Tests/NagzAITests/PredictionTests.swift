import Domain
import NagzAI
import Testing

@Suite struct PredictionTests {
    private func predict(_ facts: NagFacts, at now: Timestamp = noon) throws -> PredictCompletionResponse {
        try heuristics().prediction(for: Snapshot(facts, at: now)).response
    }

    static let cases: [(String, CompletionRecord, CompletionRecord, Int, Int, Double)] = [
        ("nothing known", .none, .none, 0, 0, 0.5),
        ("nothing known, a streak", .none, .none, 0, 3, 0.55),
        ("a streak of two is none", .none, .none, 0, 2, 0.5),
        ("one miss", .none, .none, 1, 0, 0.4),
        ("misses count up to three", .none, .none, 9, 0, 0.2),
        ("never done", .init(resolved: 100, completed: 0), .init(resolved: 100, completed: 0), 0, 0, 0.05),
        (
            "always done", .init(resolved: 1_000, completed: 1_000), .init(resolved: 1_000, completed: 1_000), 0, 9,
            0.95
        ),
        // 0.6·2/3 + 0.4·1/2 = 0.6
        ("weights", .init(resolved: 1, completed: 1), .none, 0, 0, 0.6),
        // 0.6·1/2 + 0.4·2/3 = 0.5666…
        ("the other weight", .none, .init(resolved: 1, completed: 1), 0, 0, 0.57),
        // 0.6·3/8 + 0.4·1/2 = 0.425: a half goes up.
        ("a half", .init(resolved: 6, completed: 2), .none, 0, 0, 0.43),
        // 0.6·7/8 + 0.4·1/2 + 0.05 = 0.775
        ("a half with a streak", .init(resolved: 6, completed: 6), .none, 0, 3, 0.78),
        ("impossible counts", .init(resolved: 2, completed: 50), .init(resolved: -4, completed: -9), 0, 0, 0.65),
        (
            "enormous counts", .init(resolved: .max, completed: .max), .init(resolved: .max, completed: .max), .max,
            .max, 0.75
        ),
        ("negative misses", .none, .none, .min, .min, 0.5),
    ]

    @Test("the likelihood of a completion follows from record, misses and streak", arguments: cases)
    func likelihood(
        _ name: String, _ category: CompletionRecord, _ overall: CompletionRecord, _ misses: Int, _ streak: Int,
        _ expected: Double
    ) throws {
        let facts = NagFacts(
            nag: nag(), missCount7d: misses, streak: streak, categoryRecord: category, overallRecord: overall)
        #expect(try predict(facts).likelihood == expected)
    }

    @Test(
        "the prediction of a closed nag is certain",
        arguments: [
            (NagStatus.completed, 1.0, HeuristicRule.predictionCompleted), (.missed, 0, .predictionClosed),
            (.withdrawn, 0, .predictionClosed), (.cancelledRelationshipChange, 0, .predictionClosed),
        ])
    func closed(_ status: NagStatus, _ likelihood: Double, _ rule: HeuristicRule) throws {
        let outcome = try heuristics().prediction(for: Snapshot(NagFacts(nag: nag(status))))
        #expect(outcome.response.likelihood == likelihood)
        #expect(outcome.response.suggestedReminderTime == nil)
        #expect(outcome.rule == rule)
    }

    @Test func factorsSayWhatWentIn() throws {
        let facts = NagFacts(
            nag: nag(), missCount7d: 5, streak: 4, categoryRecord: .init(resolved: 1, completed: 1),
            overallRecord: .init(resolved: 5, completed: 2))
        let factors = try predict(facts).factors
        #expect(factors.map(\.name) == ["category_rate", "overall_rate", "recent_misses", "streak"])
        #expect(factors.map(\.value) == [0.6667, 0.4286, 3, 4])
    }

    static let reminders: [(String, CompletionRecord, Int)] = [
        ("likely", .init(resolved: 98, completed: 98), 30), ("80 %", .init(resolved: 3, completed: 3), 30),
        ("79 %", .init(resolved: 37, completed: 30), 60), ("50 %", .none, 60),
        ("49 %", .init(resolved: 100, completed: 49), 120),
        ("unlikely", .init(resolved: 98, completed: 0), 120),
    ]

    @Test("the reminder is suggested the earlier, the less likely a completion is", arguments: reminders)
    func reminder(_ name: String, _ record: CompletionRecord, _ minutes: Int) throws {
        let facts = NagFacts(nag: nag(), categoryRecord: record, overallRecord: record)
        #expect(try predict(facts).suggestedReminderTime == facts.nag.dueAt - .minutes(Int64(minutes)))
    }

    @Test func aPassedReminderIsNone() throws {
        let facts = NagFacts(nag: nag())
        let reminder = facts.nag.dueAt - .minutes(60)
        #expect(try predict(facts, at: reminder).suggestedReminderTime == reminder)
        #expect(try predict(facts, at: reminder + .milliseconds(1)).suggestedReminderTime == nil)
    }

    @Test(
        "the reminder is suggested before quiet hours, and not in them",
        arguments: [
            // 22:00–07:00 in New York; due an hour after the planned reminder.
            ("2026-05-06T03:00:00Z", "2026-05-06T01:59:59Z"), ("2026-05-06T02:00:00Z", "2026-05-06T01:59:59Z"),
            ("2026-05-06T01:59:00Z", "2026-05-06T01:59:00Z"), ("2026-05-06T11:00:00Z", "2026-05-06T11:00:00Z"),
            ("2026-05-06T10:59:59Z", "2026-05-06T01:59:59Z"),
            // The nights of the clock changes.
            ("2026-11-01T11:30:00Z", "2026-11-01T01:59:59Z"), ("2027-03-08T11:30:00Z", "2027-03-08T02:59:59Z"),
        ])
    func quiet(_ planned: String, _ expected: String) throws {
        var facts = NagFacts(nag: nag(dueAt: at(planned) + .minutes(60)))
        facts.preferences.quietHoursEnabled = true
        #expect(try predict(facts).suggestedReminderTime == at(expected))
    }

    @Test func aReminderMovedIntoThePastIsNone() throws {
        var facts = NagFacts(nag: nag(dueAt: at("2026-05-06T04:00:00Z")))
        facts.preferences.quietHoursEnabled = true
        #expect(try predict(facts, at: at("2026-05-06T02:30:00Z")).suggestedReminderTime == nil)
    }
}
