import Audit
import Domain
import SQL

/// Every statement on the Merkle log: leaves, nodes, checkpoints and keys.
enum LogStatements {
    /// Entries that share a transaction of the sequencer at most.
    static let batchLimit = 4_096
    /// Families that have written within it are looked at in every round of the sequencer, all others in every hundredth.
    static let recency = Timestamp.Span.minutes(2)

    /// Entries that are in the chains and not in the log, of families that have written since then.
    static func pending(since: Timestamp) -> SQL {
        """
        SELECT e.family_id, e.n, e.at, e.hash FROM family_clock c
        CROSS JOIN LATERAL (
            SELECT coalesce((SELECT l.n FROM audit_leaf l WHERE l.family_id = c.family_id ORDER BY l.n DESC LIMIT 1), 0)
                AS last
        ) l
        CROSS JOIN LATERAL (
            SELECT e.family_id, e.n, e.at, e.hash FROM audit_entry e WHERE e.family_id = c.family_id AND e.n > l.last
            ORDER BY e.n LIMIT 512
        ) e
        -- Also where this machine's clock is ahead of the one that the families' clocks were set by.
        WHERE c.ts > least(\(since), statement_timestamp() - \(recency.microseconds) * interval '1 microsecond')
            AND c.seq > l.last
        ORDER BY e.at, e.family_id LIMIT 4096
        """
    }

    static let size: SQL =
        "SELECT coalesce((SELECT position + 1 FROM audit_leaf ORDER BY position DESC LIMIT 1), 0) AS size"

    /// Held by whoever adds to the log, to the end of their transaction.
    static let takeTurn: SQL = "SELECT pg_try_advisory_xact_lock(7239410024) AS is_ours"

    /// The same, waited for.
    static let waitForTurn: SQL = "SELECT pg_advisory_xact_lock(7239410024)"

    /// The hashes of those stretches: `level`, `position` and `hash`.
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

    static func insertNodes(_ nodes: [TreeGrowth.Node]) -> SQL {
        """
        INSERT INTO audit_node (level, position, hash)
        SELECT level::integer, position, hash
        FROM unnest(\(SQLList(nodes.map(\.level))), \(SQLList(nodes.map(\.position))),
                    \(SQLList(nodes.map(\.hash)))) AS n (level, position, hash)
        """
    }

    static let newestCheckpoint: SQL = "SELECT note FROM audit_checkpoint ORDER BY size DESC, at DESC LIMIT 1"

    /// The checkpoint with that root, in Base64.
    static func checkpoint(root: String) -> SQL {
        "SELECT note FROM audit_checkpoint WHERE split_part(note, E'\\n', 3) = \(root) ORDER BY size DESC, at DESC LIMIT 1"
    }

    static func insertCheckpoint(_ checkpoint: Checkpoint, _ note: SignedNote) -> SQL {
        """
        INSERT INTO audit_checkpoint (size, at, note) VALUES (\(checkpoint.size), \(checkpoint.time), \(note.note))
        ON CONFLICT DO NOTHING
        """
    }

    static func insertKey(_ key: VerifierKey, _ handover: SignedNote?, at now: Timestamp) -> SQL {
        """
        INSERT INTO audit_key (verifier, handover, first_used) VALUES (\(key.text), \(handover?.note ?? ""), \(now))
        ON CONFLICT DO NOTHING
        """
    }

    static let keys: SQL =
        "SELECT verifier, nullif(handover, '') AS handover FROM audit_key ORDER BY first_used, verifier"

    /// Where an entry is in the log, if it is.
    static func position(_ family: FamilyID, _ number: Int64) -> SQL {
        "SELECT position, hash FROM audit_leaf WHERE family_id = \(family) AND n = \(number)"
    }
}
