import SQL

/// Lists the families that rows of a table name.
enum NamedFamilies {
    /// Returns a part of a `WITH RECURSIVE`, with one index lookup for each family, however many rows it has. Its last
    /// row is null.
    /// - Parameter isNext: a condition on the column `family_id` that the first family meets; all families after it
    ///   follow.
    static func commonTableExpression(_ name: SQL, of table: SQL, where isNext: SQL) -> SQL {
        """
        \(name) (family_id) AS (
            (SELECT family_id FROM \(table) WHERE \(isNext) ORDER BY family_id LIMIT 1)
            UNION ALL
            SELECT (SELECT t.family_id FROM \(table) t WHERE t.family_id > last.family_id
                    ORDER BY t.family_id LIMIT 1)
            FROM \(name) last WHERE last.family_id IS NOT NULL
        )
        """
    }
}
