import Audit
import Domain
import Postgres
import SQL

/// Checks that one of the log's own keys has signed each stored checkpoint. An export contains only a few checkpoints,
/// and a newer checkpoint hides one with a foreign signature.
struct CheckpointCheck {
    private let queries: any Queries
    private let keys: AuditKeyring

    init(_ queries: any Queries, _ keys: AuditKeyring) {
        self.queries = queries
        self.keys = keys
    }

    /// Returns a finding about the first stored checkpoint that no key of the log has signed; nil if there is none.
    /// - Parameter pause: called before each checkpoint, with the number of checkpoints checked before.
    func firstForeignCheckpoint(pause: (Int) async throws -> Void = { _ in }) async throws -> AuditFinding? {
        var verifierKeys = keys.signingKeys.map(\.verifier)
        // The database also lists a key that no note vouches for any more, because it was stolen.
        let storedTexts = try await queries.query(LogStatements.keys).map { row throws(PostgresError) -> String in
            try row["verifier"]
        }
        verifierKeys += storedTexts.compactMap { VerifierKey($0) }
        let trustedKeys = TrustedKeys(pinned: verifierKeys)
        var (last, count): ((size: Int64, at: Timestamp)?, Int) = (nil, 0)
        while true {
            let rows = try await queries.query(LogStatements.checkpoints(after: last))
            for row in rows {
                try await pause(count)
                count += 1
                let (size, text): (Int64, String) = (try row["size"], try row["note"])
                guard let note = SignedNote(text), trustedKeys.checkpoint(in: note) != nil else {
                    return AuditFinding(.untrustedCheckpoint, position: size)
                }
                last = (size, try row["at"])
            }
            if rows.count < LogStatements.checkpointPageSize { return nil }
        }
    }
}
