import Domain

extension Heuristics {
    /// Returns the weekdays, in the family's time zone, on which three or more nags were due that the user missed in
    /// the last 90 days. The weekday with the most misses comes first; weekdays with equally many are ordered from
    /// Monday.
    public func patterns(for snapshot: Snapshot<PatternFacts>) -> Outcome<PatternsResponse> {
        var counts: [Weekday: Int] = [:]
        for miss in snapshot.facts.misses where FactWindow.patterns.contains(miss.missedAt, now: snapshot.now) {
            counts[snapshot.zone.local(miss.dueAt).date.weekday, default: 0] += 1
        }
        let insights = counts.filter { $0.value >= 3 }
            .sorted { left, right in
                left.value != right.value
                    ? left.value > right.value : left.key.daysAfterMonday < right.key.daysAfterMonday
            }
            .map { InsightItem(dayOfWeek: $0.key, missCount: $0.value) }
        return Outcome(
            PatternsResponse(
                userID: snapshot.facts.userID, familyID: snapshot.facts.familyID, insights: insights,
                analyzedAt: snapshot.now),
            insights.isEmpty ? .patternsNone : .patternsRepeatedWeekday)
    }
}
