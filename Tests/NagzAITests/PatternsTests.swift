import Domain
import NagzAI
import Testing

@Suite struct PatternsTests {
    /// - Parameters:
    ///   - due: when the missed nags were due.
    ///   - missed: when the misses were recorded; at the due times where nil.
    private func insights(_ due: [String], missed: String? = nil, at now: Timestamp = noon) throws -> [InsightItem] {
        let misses = due.map { PatternFacts.Miss(dueAt: at($0), missedAt: at(missed ?? $0)) }
        let facts = PatternFacts(userID: user(1), familyID: familyID, misses: misses)
        let outcome = try heuristics().patterns(for: Snapshot(facts, at: now))
        #expect(outcome.rule == (outcome.response.insights.isEmpty ? .patternsNone : .patternsRepeatedWeekday))
        #expect(outcome.response.analyzedAt == now)
        return outcome.response.insights
    }

    @Test func threeOnAWeekdayAreAnInsight() throws {
        let mondays = ["2026-05-04T16:00:00Z", "2026-04-27T16:00:00Z", "2026-04-20T16:00:00Z"]
        #expect(try insights(Array(mondays.prefix(2))) == [])
        #expect(try insights(mondays) == [InsightItem(dayOfWeek: .monday, missCount: 3)])
        #expect(try insights([]) == [])
    }

    @Test("a pattern counts the day on which a nag was due, not the one on which its miss was recorded")
    func dueDay() throws {
        let monday = "2026-05-04T16:00:00Z"
        let tuesday = "2026-05-05T15:59:00Z"
        #expect(
            try insights([monday, monday, monday], missed: tuesday) == [InsightItem(dayOfWeek: .monday, missCount: 3)])
        // Whether a miss is of the last 90 days goes by its record.
        let longAgo = "2026-02-03T16:00:00Z"
        #expect(try insights([longAgo, longAgo, longAgo], missed: "2026-02-04T16:00:00.001Z").map(\.missCount) == [3])
        #expect(try insights([monday, monday, monday], missed: "2026-02-04T16:00:00Z") == [])
    }

    @Test func mostMissesFirstThenFromMonday() throws {
        let days = ["01", "01", "01", "02", "02", "02", "02", "05", "05", "05", "06", "06", "06", "03", "03"]
        #expect(
            try insights(days.map { "2026-04-\($0)T16:00:00Z" }) == [
                InsightItem(dayOfWeek: .thursday, missCount: 4), InsightItem(dayOfWeek: .monday, missCount: 3),
                InsightItem(dayOfWeek: .wednesday, missCount: 3), InsightItem(dayOfWeek: .sunday, missCount: 3),
            ])
    }

    @Test(
        "a pattern's weekday is that of the family's zone, also around clock changes",
        arguments: [
            ("2026-05-05T03:59:59Z", Weekday.monday), ("2026-05-05T04:00:00Z", .tuesday),
            ("2026-03-08T04:59:59Z", .saturday), ("2026-03-08T05:00:00Z", .sunday), ("2026-03-09T03:59:59Z", .sunday),
            ("2026-03-09T04:00:00Z", .monday),
        ])
    func weekdays(_ moment: String, _ weekday: Weekday) throws {
        #expect(try insights([moment, moment, moment]) == [InsightItem(dayOfWeek: weekday, missCount: 3)])
    }

    @Test func onlyNinetyDaysCount() throws {
        let edge = noon - .days(90)
        let inside = (edge + .milliseconds(1)).rfc3339
        #expect(try insights([edge.rfc3339, inside, inside]) == [])
        #expect(try insights([inside, inside, inside]).map(\.missCount) == [3])
        let future = (noon + .milliseconds(1)).rfc3339
        #expect(try insights([future, future, future]) == [])
    }
}
