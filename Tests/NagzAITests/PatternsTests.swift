import Domain
import NagzAI
import Testing

@Suite struct PatternsTests {
    private func insights(_ misses: [String], at now: Timestamp = noon) throws -> [InsightItem] {
        let facts = PatternFacts(userID: user(1), familyID: familyID, misses: misses.map(at))
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

    @Test func mostMissesFirstThenFromMonday() throws {
        let days = ["01", "01", "01", "02", "02", "02", "02", "05", "05", "05", "06", "06", "06", "03", "03"]
        #expect(
            try insights(days.map { "2026-04-\($0)T16:00:00Z" }) == [
                InsightItem(dayOfWeek: .thursday, missCount: 4), InsightItem(dayOfWeek: .monday, missCount: 3),
                InsightItem(dayOfWeek: .wednesday, missCount: 3), InsightItem(dayOfWeek: .sunday, missCount: 3),
            ])
    }

    @Test(
        "the family's weekday counts, also around clock changes",
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
