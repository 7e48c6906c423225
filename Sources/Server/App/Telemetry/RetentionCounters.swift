import Reactor

/// Counts the rows that each retention rule has deleted or cleared since the server started.
final class RetentionCounters: Sendable {
    private let counters: [(name: String, rows: Counter)] = Retention.rules.map { ($0.name, Counter()) }

    /// Adds the rows of one round.
    func add(_ ended: [(name: String, rows: Int)]) {
        for (name, rows) in ended { counters.first { $0.name == name }?.rows.add(rows) }
    }

    var rows: [(name: String, rows: Int)] { counters.map { ($0.name, $0.rows.value) } }
}
