import Audit
import Domain
import SQL

/// The statements on the Merkle log: leaves, nodes, checkpoints and keys, among them every one that writes these.
enum LogStatements {
    /// The largest number of entries in one transaction of the sequencer.
    static let entryLimitPerBatch = 4_096
    /// The largest number of entries of one family in one transaction, so that a long backlog of one family does not
    /// delay the others.
    static let entryLimitPerFamily = 512

    /// Reads a batch of the entries that are not in the log yet: from the families with the mark `awaits_sequencing`,
    /// and from one page of all families, which begins with `family`.
    static func pendingEntries(from family: FamilyID, pageSize: Int64) -> SQL {
        """
        SELECT e.family_id, e.n, e.at, e.hash FROM (
            SELECT family_id, seq FROM family_clock WHERE awaits_sequencing
            UNION ALL
            SELECT family_id, seq FROM (
                SELECT family_id, seq, awaits_sequencing FROM family_clock WHERE family_id >= \(family)
                ORDER BY family_id LIMIT \(pageSize)
            ) p WHERE NOT awaits_sequencing
        ) c
        CROSS JOIN LATERAL (
            SELECT coalesce((SELECT l.n FROM audit_leaf l WHERE l.family_id = c.family_id ORDER BY l.n DESC LIMIT 1), 0)
                AS last
        ) l
        CROSS JOIN LATERAL (
            SELECT e.family_id, e.n, e.at, e.hash FROM audit_entry e WHERE e.family_id = c.family_id AND e.n > l.last
            ORDER BY e.n LIMIT \(literal: entryLimitPerFamily)
        ) e
        WHERE c.seq > l.last
        ORDER BY e.at, e.family_id LIMIT \(literal: entryLimitPerBatch)
        """
    }

    /// Reads the first family of the next page; no row when there is none.
    static func firstFamilyOfNextPage(from family: FamilyID, pageSize: Int64) -> SQL {
        "SELECT family_id FROM family_clock WHERE family_id >= \(family) ORDER BY family_id OFFSET \(pageSize) LIMIT 1"
    }

    /// Clears the mark of up to 256 families that have written nothing since `moment` and have all their entries in the
    /// log.
    ///
    /// It locks their rows, so that none of their writes is running. Rows that a write has locked are skipped; a row
    /// whose write has just ended is read again. The transaction is not synced to disk: if a mark reappears, it is
    /// cleared again.
    static func clearSequencingMarks(quietSince moment: Timestamp) -> SQL {
        """
        WITH done AS (
            SELECT c.family_id, c.seq FROM family_clock c
            WHERE c.awaits_sequencing AND c.ts < \(moment) AND c.seq <= coalesce(
                (SELECT l.n FROM audit_leaf l WHERE l.family_id = c.family_id ORDER BY l.n DESC LIMIT 1), 0)
            LIMIT 256 FOR UPDATE OF c SKIP LOCKED
        )
        UPDATE family_clock c SET awaits_sequencing = false
        FROM done, set_config('synchronous_commit', 'off', true)
        WHERE c.family_id = done.family_id AND c.seq = done.seq
        """
    }

    /// Reads the number of entries in the log.
    static let size: SQL =
        "SELECT coalesce((SELECT position + 1 FROM audit_leaf ORDER BY position DESC LIMIT 1), 0) AS size"

    /// Tries to take the lock for appending to the log, until the transaction ends.
    /// - Parameter now: the instance's time; nil if clocks are not compared. An instance whose clock is far from the
    ///   database's does not get the lock, because it would date checkpoints wrongly.
    static func tryLock(at now: Timestamp?) -> SQL {
        let isSkewSmall: SQL = now.map { "\($0) \(Ledger.clockSkewRange)" } ?? "true"
        return "SELECT CASE WHEN \(isSkewSmall) THEN pg_try_advisory_xact_lock(7239410024) ELSE false END AS is_ours"
    }

    /// Takes the lock for appending to the log until the transaction ends, and waits for it.
    static let lock: SQL = "SELECT pg_advisory_xact_lock(7239410024)"

    /// Reads the hashes of the runs: `level`, `position` and `hash`.
    static func nodes(_ runs: [NodeRun]) -> SQL {
        let parts = runs.filter { !$0.positions.isEmpty }.map { run -> SQL in
            let (low, high) = (run.positions.lowerBound, run.positions.upperBound)
            return run.level == 0
                ? """
                SELECT 0::bigint AS level, position, hash FROM audit_leaf
                WHERE position >= \(low) AND position < \(high)
                """
                : """
                SELECT level::bigint, position, hash FROM audit_node
                WHERE level = \(run.level)::integer AND position >= \(low) AND position < \(high)
                """
        }
        return parts.isEmpty
            ? "SELECT 0::bigint AS level, 0::bigint AS position, ''::bytea AS hash WHERE false"
            : .joined(parts, separator: " UNION ALL ")
    }

    static func insertLeaves(_ leaves: [(leaf: LogLeaf, hash: [UInt8])], from position: Int64) -> SQL {
        """
        INSERT INTO audit_leaf (position, family_id, n, hash)
        SELECT \(position) + place - 1, family, number, hash
        FROM unnest(\(SQLList(leaves.map(\.leaf.family))), \(SQLList(leaves.map(\.leaf.number))),
                    \(SQLList(leaves.map(\.hash)))) WITH ORDINALITY AS l (family, number, hash, place)
        """
    }

    static func insertNodes(_ nodes: [TileFrontier.Node]) -> SQL {
        """
        INSERT INTO audit_node (level, position, hash)
        SELECT level::integer, position, hash
        FROM unnest(\(SQLList(nodes.map(\.level))), \(SQLList(nodes.map(\.position))),
                    \(SQLList(nodes.map(\.hash)))) AS n (level, position, hash)
        """
    }

    static let newestCheckpoint: SQL = "SELECT note FROM audit_checkpoint ORDER BY size DESC, at DESC LIMIT 1"

    /// The number of checkpoints in one page.
    static let checkpointPageSize = 1_000

    /// Reads a page of all checkpoints, in the order of size and time.
    static func checkpoints(after last: (size: Int64, at: Timestamp)?) -> SQL {
        let condition: SQL = last.map { "WHERE (size, at) > (\($0.size)::bigint, \($0.at)::timestamptz)" } ?? ""
        return """
            SELECT size, at, note FROM audit_checkpoint \(condition) ORDER BY size, at LIMIT \(literal: checkpointPageSize)
            """
    }

    /// Reads the newest checkpoint with the root.
    static func checkpoint(base64Root root: String) -> SQL {
        "SELECT note FROM audit_checkpoint WHERE split_part(note, E'\\n', 3) = \(root) ORDER BY size DESC, at DESC LIMIT 1"
    }

    static func insertCheckpoint(_ checkpoint: Checkpoint, _ note: SignedNote) -> SQL {
        """
        INSERT INTO audit_checkpoint (size, at, note) VALUES (\(checkpoint.size), \(checkpoint.time), \(note.fullText))
        ON CONFLICT DO NOTHING
        """
    }

    /// Stores a verifier key that is not stored yet.
    /// - Parameter handover: the note in which a neighbouring key vouches for it; nil if there is no other key.
    static func insertKey(_ key: VerifierKey, _ handover: SignedNote?, at now: Timestamp) -> SQL {
        """
        INSERT INTO audit_key (verifier, handover, first_used) VALUES (\(key.text), \(handover?.fullText ?? ""), \(now))
        ON CONFLICT DO NOTHING
        """
    }

    /// Reads the log's verifier keys, the oldest first, and for each the note in which another key vouches for it.
    static let keys: SQL =
        "SELECT verifier, nullif(handover, '') AS handover FROM audit_key ORDER BY first_used, verifier"

    /// Reads the position and the hash of the leaf of an entry; no row if the log does not contain the entry.
    static func leafOfEntry(_ family: FamilyID, _ number: Int64) -> SQL {
        "SELECT position, hash FROM audit_leaf WHERE family_id = \(family) AND n = \(number)"
    }
}
