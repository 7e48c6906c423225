import Domain
import SQL

/// The statements of an export: entries with bodies and positions, the log's hashes, checkpoints, and prune records.
enum ExportStatements {
    /// The columns of an entry `e` with its body `p` and the body's key `k`.
    private static let columns: SQL = """
        e.family_id, e.n, e.at, e.kind, e.actor, e.subject, e.resource, e.trace, e.request, e.commit, e.prev, e.hash,
        p.salt, p.body, p.key_id, k.master, k.wrapped
        """
    /// The joins from an entry `e` to its body `p` and the body's key `k`.
    private static let bodyJoins: SQL = """
        LEFT JOIN audit_payload p ON p.family_id = e.family_id AND p.n = e.n
        LEFT JOIN audit_subject_key k ON k.id = p.key_id
        """

    /// Reads a page of a family's entries after a number, in order, with their `position` where that is below `size`.
    static func entries(of family: FamilyID, after number: Int64, upTo last: Int64, size: Int64) -> SQL {
        """
        SELECT \(columns), l.position FROM audit_entry e \(bodyJoins)
        LEFT JOIN audit_leaf l ON l.family_id = e.family_id AND l.n = e.n AND l.position < \(size)
        WHERE e.family_id = \(family) AND e.n > \(number) AND e.n <= \(last)
        ORDER BY e.n LIMIT 128
        """
    }

    /// Reads the number of a family's newest entry, 0 if the family has no entry, and the number and hash in its clock,
    /// null if it has no clock.
    static func newestNumberAndClock(of family: FamilyID) -> SQL {
        """
        SELECT coalesce((SELECT n FROM audit_entry WHERE family_id = \(family) ORDER BY n DESC LIMIT 1), 0) AS n,
               c.seq, c.head
        FROM (SELECT) one LEFT JOIN family_clock c ON c.family_id = \(family)
        """
    }

    /// Reads the leaf of the family's newest entry in the log of that size.
    static func newestLeaf(of family: FamilyID, size: Int64) -> SQL {
        """
        SELECT position, n, hash FROM audit_leaf WHERE family_id = \(family) AND position < \(size)
        ORDER BY n DESC LIMIT 1
        """
    }

    /// Reads a page of the log's leaves after `position`, with their entries where they exist.
    static func leaves(after position: Int64, size: Int64) -> SQL {
        """
        SELECT l.position, l.family_id AS leaf_family, l.n AS leaf_n, l.hash AS leaf_hash, \(columns)
        FROM (SELECT * FROM audit_leaf WHERE position > \(position) AND position < \(size)
              ORDER BY position LIMIT 128) l
        LEFT JOIN audit_entry e ON e.family_id = l.family_id AND e.n = l.n \(bodyJoins)
        ORDER BY l.position
        """
    }

    /// The number of families in one page of `clocksAndUnsequencedEntries`.
    static let unsequencedFamiliesPerPage = 32
    /// The largest number of entries of one family in one page of `clocksAndUnsequencedEntries`.
    static let unsequencedEntriesPerFamily = 512

    /// Reads the clocks of the next families, and their entries that have no position in the log of that size. It
    /// includes families with entries and no clock (`clock` is null), and entries whose number no clock has reached. A
    /// family without such entries has one row.
    /// - Parameter last: the family after which the export continues; nil for the beginning.
    static func clocksAndUnsequencedEntries(after last: FamilyID?, size: Int64) -> SQL {
        let isNext: SQL = last.map { "family_id > \($0)" } ?? "family_id >= \(FamilyID.outside)"
        return """
            WITH RECURSIVE \(NamedFamilies.commonTableExpression("written", of: "audit_entry", where: isNext)),
            family AS (
                (SELECT family_id FROM written WHERE family_id IS NOT NULL LIMIT \(unsequencedFamiliesPerPage))
                UNION
                (SELECT family_id FROM family_clock WHERE \(isNext)
                 ORDER BY family_id LIMIT \(unsequencedFamiliesPerPage))
                ORDER BY family_id LIMIT \(unsequencedFamiliesPerPage)
            )
            SELECT f.family_id AS clock_family, c.seq AS clock, c.head, \(columns), NULL::bigint AS position
            FROM family f
            LEFT JOIN family_clock c ON c.family_id = f.family_id
            CROSS JOIN LATERAL (
                SELECT coalesce((SELECT l.n FROM audit_leaf l WHERE l.family_id = f.family_id AND l.position < \(size)
                                 ORDER BY l.n DESC LIMIT 1), 0) AS last
            ) l
            LEFT JOIN LATERAL (
                (SELECT * FROM audit_entry e WHERE e.family_id = f.family_id AND e.n <= 0 ORDER BY e.n LIMIT 1)
                UNION ALL
                (SELECT * FROM audit_entry e WHERE e.family_id = f.family_id AND e.n > l.last
                 ORDER BY e.n LIMIT \(unsequencedEntriesPerFamily))
            ) e ON true \(bodyJoins)
            ORDER BY f.family_id, e.n
            """
    }

    /// Reads the newest checkpoint of each size in a range.
    static func newestCheckpointPerSize(above low: Int64, upTo high: Int64) -> SQL {
        """
        SELECT DISTINCT ON (size) size, note FROM audit_checkpoint WHERE size > \(low) AND size <= \(high)
        ORDER BY size, at DESC
        """
    }

    /// Reads the newest prune record of each family.
    /// - Parameter family: the only family to read; nil for all.
    static func newestPrunes(of family: FamilyID?) -> SQL {
        let condition: SQL = family.map { "WHERE family_id = \($0)" } ?? ""
        return "SELECT DISTINCT ON (family_id) note FROM audit_prune \(condition) ORDER BY family_id, cut DESC"
    }
}
