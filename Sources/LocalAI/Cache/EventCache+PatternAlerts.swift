import Domain
import DomainSQL
import NagzAI
import SQL
import SQLite

// The patterns of misses of which this device has notified its person, and whether they want such alerts.
extension EventCache {
    /// Returns whether the person wants alerts about patterns: true until they switch the alerts off, but false if
    /// the cache has nothing of the family.
    public func arePatternAlertsOn(of family: FamilyID) throws(SQLiteError) -> Bool {
        try notifiedWeekdays(of: family) != nil
    }

    /// Switches the alerts on or off. Switching them off deletes the record of earlier ones.
    public func setPatternAlerts(_ isOn: Bool, of family: FamilyID) throws(SQLiteError) {
        let weekdays = isOn ? try notifiedWeekdays(of: family) ?? [] : nil
        try storeNotifiedWeekdays(weekdays, of: family)
    }

    /// Records the patterns of which the person is now notified, in place of those recorded before. So the person is
    /// notified again of a pattern that ends and returns.
    /// - Returns: the patterns that were not recorded before; none if the person wants no alerts.
    func markNotified(_ patterns: [InsightItem], in family: FamilyID) throws(SQLiteError) -> [InsightItem] {
        guard let weekdays = try notifiedWeekdays(of: family) else { return [] }
        let days = Set(patterns.map(\.dayOfWeek))
        if days != weekdays { try storeNotifiedWeekdays(days, of: family) }
        return patterns.filter { !weekdays.contains($0.dayOfWeek) }
    }

    /// Returns the weekdays of the patterns of which the person was notified; nil if they want no alerts, or if the
    /// cache has nothing of the family.
    private func notifiedWeekdays(of family: FamilyID) throws(SQLiteError) -> Set<Weekday>? {
        try database.first("SELECT told_patterns FROM families WHERE id = \(family) AND told_patterns IS NOT NULL") {
            row throws(SQLiteError) in
            let days: String = try row["told_patterns"]
            return Set(days.split(separator: " ").compactMap { Weekday(rawValue: String($0)) })
        }
    }

    private func storeNotifiedWeekdays(_ weekdays: Set<Weekday>?, of family: FamilyID) throws(SQLiteError) {
        let days = weekdays.map { $0.map(\.rawValue).sorted().joined(separator: " ") }
        try database.run("UPDATE families SET told_patterns = \(days) WHERE id = \(family)")
    }
}
