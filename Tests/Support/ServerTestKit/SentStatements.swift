import Postgres
import SQL
import Synchronization

/// The statements that a server of the tests sent, each text once.
final class SentStatements: Sendable {
    /// The texts of statements that `takeNew` has returned in this process.
    private static let known = Mutex<Set<String>>([])

    private let byText = Mutex<[String: SQL]>([:])

    /// The observer that is notified of every batch, because its threshold is zero.
    var observer: SlowStatements {
        SlowStatements(threshold: .zero) { [self] batch in
            byText.withLock { sent in for statement in batch.statements { sent[statement.text] = statement } }
        }
    }

    /// Returns the statements that `takeNew` has not returned for another server of this process, so that each is
    /// planned once.
    func takeNew() -> [SQL] {
        let sent = byText.withLock { $0 }
        return Self.known.withLock { known in sent.filter { known.insert($0.key).inserted }.map(\.value) }
    }
}
