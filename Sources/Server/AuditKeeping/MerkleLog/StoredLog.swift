import Audit
import Postgres

/// The Merkle log as the database's tables hold it, not yet trusted.
struct StoredLog {
    private let queries: any Queries

    init(_ queries: any Queries) { self.queries = queries }

    /// Returns the checkpoint of a note if one of the log's keys signed the note, or if this instance remembers the
    /// checkpoint; nil otherwise. After a stolen key was removed from the key file, the notes that it signed are no
    /// longer trusted, except for the remembered checkpoint.
    static func trustedCheckpoint(_ text: String, _ keys: AuditKeyring, remembered: Checkpoint?) -> Checkpoint? {
        guard let note = SignedNote(text) else { return nil }
        if let checkpoint = TrustedKeys(pinned: keys.signingKeys.map(\.verifier)).checkpoint(in: note) {
            return checkpoint
        }
        return Checkpoint(text: note.text).flatMap { $0 == remembered ? $0 : nil }
    }

    /// Reads the frontier of the whole log.
    /// - Throws: `RestoredLogAcceptance.Fault.hashMissing` where the tables lack a hash.
    func readFrontier() async throws -> TileFrontier {
        let size: Int64 = try await queries.query(LogStatements.size).onlyRow()["size"]
        guard let frontier = try await readFrontier(at: size) else { throw RestoredLogAcceptance.Fault.hashMissing }
        return frontier
    }

    /// Reads the frontier of the log's first `size` leaves; nil where a hash is missing.
    func readFrontier(at size: Int64) async throws -> TileFrontier? {
        let rows = try await queries.query(LogStatements.nodes(TileFrontier.nodeRuns(at: size)))
        return TileFrontier(size: size, try NodeStore(rows))
    }

    /// Returns whether the tables prove that the log of the new checkpoint extends that of the old one.
    func isConsistent(from old: Checkpoint, to new: Checkpoint) async throws -> Bool {
        guard old.size <= new.size else { return false }
        if old.size == new.size { return old.root == new.root }
        guard old.size > 0 else { return old.root == MerkleHash.empty }
        guard let path = try await LogReader(queries).consistencyProof(from: old.size, to: new.size) else {
            return false
        }
        return MerkleProof.isConsistent(
            old: old.size, oldRoot: old.root, new: new.size, newRoot: new.root, path: path)
    }
}

extension NodeStore {
    /// Reads the rows of `LogStatements.nodes`.
    init(_ rows: Rows) throws(PostgresError) {
        self.init()
        for row in rows {
            self[try row["level"], try row["position"]] = try row["hash"] as [UInt8]
        }
    }
}
