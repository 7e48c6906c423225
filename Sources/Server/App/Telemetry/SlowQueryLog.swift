import Contract
import HTTP
import JSON
import Postgres
import Reactor
import SQL

/// Logs batches of statements that take long, with their text and never with a value: values are parameters, and the
/// text has `$1` in their place.
final class SlowQueryLog: Sendable {
    /// The largest number of characters of a statement in a line.
    private static let maxTextLength = 300
    /// The largest number of different statements in one line.
    private static let maxStatementsPerLine = 4

    private let log: Log
    /// The counter of all batches that took long, logged or not.
    private let counter: Counter
    private let lineLimit = Locked(LineLimit())

    init(_ log: Log, counting counter: Counter) { (self.log, self.counter) = (log, counter) }

    /// Returns the observer, for a pool of sessions, of batches that take `threshold` or longer.
    func observer(from threshold: Duration) -> SlowStatements {
        SlowStatements(threshold: threshold) { [self] batch in write(batch, RequestScope.current, at: .now()) }
    }

    private func write(_ batch: SlowBatch, _ scope: RequestScope?, at now: MonotonicTime) {
        counter.add()
        guard let suppressed = lineLimit.withLock({ $0.admit(at: now) }) else { return }
        log.write(.warning, "slow_query") { json in
            json.field("ms", Double(batch.duration / .microseconds(1)) / 1_000)
            json.key("statements")
            json.array { json in for text in Self.texts(batch.statements) { json.string(text) } }
            json.field("count", batch.statements.count)
            if let rows = batch.rowCount { json.field("rows", rows) } else { json.field("failed", true) }
            json.fieldIfPresent("request_id", scope?.request?.description)
            json.fieldIfPresent("trace_id", scope?.trace.traceID)
            if suppressed > 0 { json.field("suppressed", suppressed) }
        }
    }

    /// Returns the distinct texts of the statements, shortened, each on one line.
    private static func texts(_ statements: [SQL]) -> [String] {
        var texts: [String] = []
        for statement in statements {
            let text = text(statement)
            if !texts.contains(text) { texts.append(text) }
            if texts.count == maxStatementsPerLine { break }
        }
        return texts
    }

    private static func text(_ statement: SQL) -> String {
        // Text that was created at run time may contain values.
        guard statement.statementKey != nil else { return "(made at run time)" }
        let line = statement.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return line.count > maxTextLength ? line.prefix(maxTextLength) + "…" : line
    }
}

/// Limits the lines about slow statements to ten a second.
struct LineLimit {
    private static let linesPerSecond = 10

    private var secondEndsAt = MonotonicTime(nanoseconds: 0)
    private var lineCount = 0
    private var suppressedCount = 0

    /// Counts a line.
    /// - Returns: the number of lines that were suppressed since the last admitted one; nil when this line is
    ///   suppressed.
    mutating func admit(at now: MonotonicTime) -> Int? {
        if now >= secondEndsAt { (secondEndsAt, lineCount) = (now + .seconds(1), 0) }
        guard lineCount < Self.linesPerSecond else {
            suppressedCount += 1
            return nil
        }
        lineCount += 1
        defer { suppressedCount = 0 }
        return suppressedCount
    }
}
