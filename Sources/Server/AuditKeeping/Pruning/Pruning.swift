import Audit
import Domain
import Postgres
import SQL

/// Deletes entries that are older than their retention period, family by family. Each family is one transaction with a
/// signed record of the deletion and an entry about it. The positions in the log stay, so that all proofs remain valid.
public struct Pruning: Sendable {
    /// The part of one family's chain that is deleted: all entries up to `lastNumber`.
    public struct PrunePoint: Sendable, Hashable {
        public let family: FamilyID
        /// The number of the last entry to delete.
        public let lastNumber: Int64
        /// The number of entries to delete.
        public let entryCount: Int
    }

    private let cutoff: Timestamp

    /// - Parameter cutoff: the time before which entries are deleted.
    public init(before cutoff: Timestamp) { self.cutoff = cutoff }

    /// Deletes the entries of every family that are older than the cutoff and in the log.
    /// - Parameters:
    ///   - isDryRun: only reads.
    ///   - progress: called for each family before its entries are deleted, in a dry run too.
    /// - Returns: what was deleted, or would be.
    public func run(
        databaseURL: String, keys: AuditKeyring, isDryRun: Bool, clock: any WallClock = SystemClock(),
        progress: @escaping @Sendable (PrunePoint) -> Void = { _ in }
    ) async throws -> [PrunePoint] {
        let cutoff = cutoff
        return try await Schema.withDatabase(databaseURL) { database in
            let tool = AuditMaintenance(database, keys, clock: clock)
            let families: [FamilyID] = try await database.query(PruneStatements.families(before: cutoff)).map {
                row throws(PostgresError) in try row["family_id"]
            }
            var points: [PrunePoint] = []
            for family in families {
                guard let point = try await Self.prune(family, before: cutoff, isDryRun: isDryRun, tool, progress)
                else {
                    continue
                }
                points.append(point)
            }
            return points
        }
    }

    private static func prune(
        _ family: FamilyID, before cutoff: Timestamp, isDryRun: Bool, _ tool: AuditMaintenance,
        _ progress: (PrunePoint) -> Void
    ) async throws -> PrunePoint? {
        try await tool.database.transaction { transaction in
            guard let row = try await transaction.query(PruneStatements.prunePoint(family, before: cutoff)).first else {
                return nil
            }
            let point = PrunePoint(family: family, lastNumber: try row["n"], entryCount: try row["entries"])
            progress(point)
            guard !isDryRun else { return point }
            let now = tool.clock.now()
            let record = Prune(
                origin: tool.keys.origin, family: family, lastNumber: point.lastNumber, lastHash: try row["hash"],
                lastTime: try row["at"], time: now)
            let note = SignedNote(record.text, signedBy: tool.keys.signingKeys)
            _ = try await transaction.query(PruneStatements.insert(record, note))
            let act = Act(
                kind: .auditLogPruned, basis: .nothing, actor: SystemActor.commandLine,
                details: ["cut": String(point.lastNumber), "entries": String(point.entryCount)], stampedRows: 0,
                statements: PruneStatements.delete(family, upTo: point.lastNumber))
            try await tool.perform(act, in: family, tool.context(now), transaction)
            return point
        }
    }
}

/// The statements of a pruning, among them every statement that deletes entries of the audit log.
enum PruneStatements {
    /// Reads the families whose oldest entry is from before the cutoff.
    static func families(before cutoff: Timestamp) -> SQL {
        """
        SELECT c.family_id FROM family_clock c WHERE c.seq > 0 AND (
            SELECT e.at < \(cutoff) FROM audit_entry e WHERE e.family_id = c.family_id ORDER BY e.n LIMIT 1)
        ORDER BY c.family_id
        """
    }

    /// Reads the last entry of a family to delete, which is in the log already, and the number of entries up to it.
    static func prunePoint(_ family: FamilyID, before cutoff: Timestamp) -> SQL {
        """
        SELECT e.n, e.at, e.hash,
               (SELECT count(*) FROM audit_entry o WHERE o.family_id = \(family) AND o.n <= e.n) AS entries
        FROM audit_entry e
        WHERE e.family_id = \(family) AND e.n = least((SELECT audit_number_at(\(family), \(cutoff))) - 1, (
            SELECT l.n FROM audit_leaf l WHERE l.family_id = \(family) ORDER BY l.n DESC LIMIT 1))
        """
    }

    static func insert(_ prune: Prune, _ note: SignedNote) -> SQL {
        """
        INSERT INTO audit_prune (family_id, cut, at, note) VALUES (\(prune.family), \(prune.lastNumber), \(prune.time), \(note.fullText))
        """
    }

    /// Returns the statements of an act that delete a family's entries and bodies.
    static func delete(_ family: FamilyID, upTo number: Int64) -> [SQL] {
        [
            """
            DELETE FROM audit_payload p USING ledger_stamp WHERE p.family_id = \(family) AND p.n <= \(number)
            """,
            """
            DELETE FROM audit_entry e USING ledger_stamp WHERE e.family_id = \(family) AND e.n <= \(number)
            """,
        ]
    }
}
