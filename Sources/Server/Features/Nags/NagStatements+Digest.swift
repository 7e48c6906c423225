import Domain
import SQL

extension NagStatements {
    /// Reads a person's open nags of their family and of connections that are due by a moment, the longest due first,
    /// and their `total` number. Nags that the person has dismissed are not included, nor are nags over an inactive
    /// connection, nor those between two people with a block or a suspended relationship.
    static func digestNags(of user: UserID, in family: FamilyID, until moment: Timestamp, limit: Int) -> SQL {
        let isIncluded: SQL = """
            n.recipient_id = \(user) AND n.status = 'open' AND n.due_at <= \(moment) AND n.recipient_dismissed_at IS NULL
            """
        return """
            SELECT n.due_at, n.category, n.description, count(*) OVER () AS total
            FROM (
                SELECT * FROM nags n WHERE n.family_id = \(family) AND \(isIncluded)
                UNION ALL
                SELECT * FROM nags n WHERE n.connection_id IS NOT NULL AND \(isIncluded)
                    AND \(ConnectionStatements.isActive("n.connection_id"))
            ) n
            WHERE NOT \(BlockStatements.isBlocked(between: "n.creator_id", and: "n.recipient_id"))
                AND NOT \(RelationshipStatements.isSuspended(between: "n.creator_id", and: "n.recipient_id"))
            ORDER BY n.due_at, n.id LIMIT \(limit)
            """
    }
}
