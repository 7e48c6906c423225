import SQL

/// Every statement on connections between adults of different families.
enum ConnectionStatements {
    /// A condition: there is or was a connection between the two people, or an invitation. Both are SQL expressions or
    /// values.
    static func exists(between one: SQL, and other: SQL) -> SQL {
        """
        EXISTS (SELECT 1 FROM connections c WHERE (c.inviter_id = \(one) AND c.invitee_id = \(other))
            OR (c.inviter_id = \(other) AND c.invitee_id = \(one)))
        """
    }
}
