import Postgres
import SQL
import Synchronization

/// The statements that a server of the tests sent, each shape once.
final class SentStatements: Sendable {
    /// Those that some server of this process sent.
    private static let known = Mutex<Set<String>>([])

    private let byText = Mutex<[String: SQL]>([:])

    /// Is told of every batch, because none is too fast for it.
    var observer: SlowStatements {
        SlowStatements(threshold: .zero) { [self] batch in
            byText.withLock { sent in for statement in batch.statements { sent[statement.text] = statement } }
        }
    }

    /// Those that no other server sent before, so that each is planned once.
    func takeNew() -> [SQL] {
        let sent = byText.withLock { $0 }
        return Self.known.withLock { known in sent.filter { known.insert($0.key).inserted }.map(\.value) }
    }
}
