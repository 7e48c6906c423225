import Domain
import DomainSQL
import NagzAI
import SQL
import SQLite

// Which patterns of misses this device has alerted its person to, and whether they want such alerts.
extension EventCache {
    /// Whether the person wants alerts about patterns; true until they switch them off.
    public func hasPatternAlerts(of family: FamilyID) throws(SQLiteError) -> Bool {
        try notifiedPatterns(of: family) != nil
    }

    /// Switches the alerts on or off. Alerts that are switched on again start without a record of earlier ones.
    public func setPatternAlerts(_ isOn: Bool, of family: FamilyID) throws(SQLiteError) {
        let told = isOn ? try notifiedPatterns(of: family) ?? [] : nil
        try keep(told, of: family)
    }

    /// Records the patterns as notified, in place of those recorded before. A pattern that ends and returns is
    /// therefore notified again.
    /// - Returns: the patterns that were not recorded before; none if the person wants no alerts.
    func markNotified(_ patterns: [InsightItem], in family: FamilyID) throws(SQLiteError) -> [InsightItem] {
        guard let told = try notifiedPatterns(of: family) else { return [] }
        let days = Set(patterns.map(\.dayOfWeek))
        if days != told { try keep(days, of: family) }
        return patterns.filter { !told.contains($0.dayOfWeek) }
    }

    /// Returns the weekdays of the patterns that the person was alerted to; nil where they want no alerts, and for a
    /// family that was never synced.
    private func notifiedPatterns(of family: FamilyID) throws(SQLiteError) -> Set<Weekday>? {
        try database.first("SELECT told_patterns FROM families WHERE id = \(family) AND told_patterns IS NOT NULL") {
            row throws(SQLiteError) in
            let days: String = try row["told_patterns"]
            return Set(days.split(separator: " ").compactMap { Weekday(rawValue: String($0)) })
        }
    }

    private func keep(_ told: Set<Weekday>?, of family: FamilyID) throws(SQLiteError) {
        let days = told.map { $0.map(\.rawValue).sorted().joined(separator: " ") }
        try database.run("UPDATE families SET told_patterns = \(days) WHERE id = \(family)")
    }
}
