import Domain
import SQL

/// The statements of the check of a restored database, on the audit log and the catalog.
enum RestoreStatements {
    /// The maximum number of the log's newest entries that are verified.
    static let entryLimit = 500

    private static let newestLeaves: SQL =
        "(SELECT family_id, n, hash FROM audit_leaf ORDER BY position DESC LIMIT \(literal: entryLimit)) l"

    /// Reads `ReconcileStatements.entryColumns` of the newest entries of the log, each family's in order.
    static let newestEntries: SQL = """
        SELECT \(ReconcileStatements.entryColumns)
        FROM \(newestLeaves)
        JOIN audit_entry e ON e.family_id = l.family_id AND e.n = l.n
        LEFT JOIN audit_payload p ON p.family_id = e.family_id AND p.n = e.n
        LEFT JOIN audit_subject_key k ON k.id = p.key_id
        ORDER BY e.family_id, e.n
        """

    /// Counts the newest leaves whose entry is missing although retention has not deleted it.
    static let missingNewestEntryCount: SQL = """
        SELECT count(*)::bigint AS missing FROM \(newestLeaves)
        WHERE NOT EXISTS (SELECT FROM audit_entry e WHERE e.family_id = l.family_id AND e.n = l.n)
            AND NOT EXISTS (SELECT FROM audit_prune p WHERE p.family_id = l.family_id AND p.cut >= l.n)
        """

    /// Counts all clocks (`families`) and the wrong ones (`wrong`), and reads the first family with a wrong one
    /// (`first`). A clock is wrong if a family or connection lacks it, if its sequence number or hash differs from the
    /// newest entry's, or if it is behind the time of a nag: it would assign numbers and times a second time.
    static let clockCounts: SQL = """
        SELECT count(*)::bigint AS families, count(*) FILTER (WHERE is_wrong)::bigint AS wrong,
               (array_agg(family_id ORDER BY family_id) FILTER (WHERE is_wrong))[1] AS first
        FROM (
            SELECT c.family_id, c.seq IS DISTINCT FROM coalesce(e.n, p.cut, 0) OR c.head IS DISTINCT FROM coalesce(e.hash, c.head)
                OR c.ts < n.sync_ts AS is_wrong
            FROM family_clock c
            LEFT JOIN LATERAL (
                SELECT n, hash FROM audit_entry WHERE family_id = c.family_id ORDER BY n DESC LIMIT 1) e ON true
            LEFT JOIN LATERAL (SELECT cut FROM audit_prune WHERE family_id = c.family_id ORDER BY cut DESC LIMIT 1) p ON true
            LEFT JOIN LATERAL (
                SELECT sync_ts FROM nags WHERE family_id = c.family_id ORDER BY sync_ts DESC LIMIT 1) n ON true
            UNION ALL
            SELECT id, true FROM families f WHERE NOT EXISTS (SELECT FROM family_clock c WHERE c.family_id = f.id)
            UNION ALL
            SELECT id, true FROM connections o WHERE NOT EXISTS (SELECT FROM family_clock c WHERE c.family_id = o.id)
        ) c (family_id, is_wrong)
        """

    /// The indexes of the schema: `name`, and whether queries can use the index.
    static let indexes: SQL = """
        SELECT c.relname::text AS name, i.indisvalid AND i.indisready AND i.indislive AS is_valid
        FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relnamespace = 'public'::regnamespace
        """

    /// Counts the schema's foreign keys.
    static let foreignKeyCount: SQL = """
        SELECT count(*)::integer AS keys FROM pg_constraint
        WHERE contype = 'f' AND connamespace = 'public'::regnamespace
        """

    /// The tables without a primary key. The migrations create every table with one.
    static let tablesWithoutKey: SQL = """
        SELECT c.relname::text AS name FROM pg_class c
        WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace
            AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)
        ORDER BY 1
        """
}
