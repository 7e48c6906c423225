import Reactor

/// Counters of the rows that retention has ended since the server's start, by rule.
final class RetentionCounters: Sendable {
    private let counters: [(name: String, rows: Counter)] = Retention.rules.map { ($0.name, Counter()) }

    /// The rows of one round.
    func add(_ ended: [(name: String, rows: Int)]) {
        for (name, rows) in ended { counters.first { $0.name == name }?.rows.add(rows) }
    }

    var rows: [(name: String, rows: Int)] { counters.map { ($0.name, $0.rows.value) } }
}
