import Reactor

/// Counts the rows that each retention rule has deleted or cleared since the server started.
final class RetentionCounters: Sendable {
    private let counters: [(name: String, rows: Counter)] = Retention.rules.map { ($0.name, Counter()) }

    /// Adds the rows of one round.
    func add(_ rowCounts: [(name: String, rows: Int)]) {
        for (name, rows) in rowCounts { counters.first { $0.name == name }?.rows.add(rows) }
    }

    /// The number of rows by rule.
    var rows: [(name: String, rows: Int)] { counters.map { ($0.name, $0.rows.value) } }
}
