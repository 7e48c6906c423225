import Contract
import Domain
import SQL

/// Statements on nags of connections.
extension NagStatements {
    // MARK: Parts

    /// Joins the present membership `hm` of the recipient of a nag `n` of a connection.
    static let recipientMembershipJoin: SQL = """
        LEFT JOIN memberships hm
            ON n.connection_id IS NOT NULL AND hm.user_id = n.recipient_id AND hm.status = 'active'
        """

    /// An expression: the value of `NagRecord.settingsFamily`. The statement needs `recipientMembershipJoin`.
    static let settingsFamily: SQL = "coalesce(hm.family_id, n.family_id)"

    /// A column: whether the member `m` is a guardian of the child who receives the nag of a connection.
    static let guardsRecipient: SQL = """
        coalesce(m.role = 'guardian' AND hm.role = 'child' AND hm.family_id = m.family_id, false) AS guards_recipient
        """

    // MARK: Who may nag whom

    /// Reads whether a creator may nag a recipient over a connection, the connection's `seq`, and the recipient's
    /// display name, pseudonym and time zone. No row: the creator is not one of the connection's parties.
    static func creationFacts(for recipient: UserID, from creator: UserID, over connection: ConnectionID) -> SQL {
        """
        SELECT e.*, c.seq, u.display_name, u.pseudonym, f.time_zone, f.time_zone_changed_at
        FROM (\(ConnectionStatements.entitlement(of: "\(creator)", to: "\(recipient)", over: "\(connection)"))) e
        JOIN family_clock c ON c.family_id = \(connection)
        LEFT JOIN users u ON u.id = \(recipient) AND e.recipient <> 'someone_else'
        LEFT JOIN memberships m ON m.user_id = u.id AND m.status = 'active'
        LEFT JOIN families f ON f.id = m.family_id
        """
    }

    /// Counts the nags that the creator sent over the connection on a day. Nags that a series creates are not counted.
    static func countSent(by creator: UserID, over connection: ConnectionID, day: Range<Timestamp>) -> SQL {
        """
        SELECT count(*) AS count FROM nags WHERE family_id = \(connection) AND creator_id = \(creator)
            AND created_at >= \(day.lowerBound) AND created_at < \(day.upperBound) AND parent_nag_id IS NULL
        """
    }

    /// Reads whether the nag's creator may still nag its recipient over the connection, whether the next nag of its
    /// series exists, and whether the nag before this one is still open.
    static func seriesFacts(after nag: NagID, over connection: ConnectionID) -> SQL {
        """
        SELECT e.*,
               EXISTS (SELECT 1 FROM nags s WHERE s.family_id = n.family_id AND s.parent_nag_id = n.id) AS has_successor,
               EXISTS (SELECT 1 FROM nags s WHERE s.family_id = n.family_id AND s.id = n.parent_nag_id
                   AND s.status = 'open') AS is_parent_open
        FROM nags n
        CROSS JOIN LATERAL (\(ConnectionStatements.entitlement(of: "n.creator_id", to: "n.recipient_id", over: "n.connection_id"))) e
        WHERE n.family_id = \(connection) AND n.id = \(nag)
        """
    }

    /// Reads whether the nag's creator may still nag its recipient over the connection.
    static func entitlement(of nag: NagID, over connection: ConnectionID) -> SQL {
        """
        SELECT e.* FROM nags n
        CROSS JOIN LATERAL (\(ConnectionStatements.entitlement(of: "n.creator_id", to: "n.recipient_id", over: "n.connection_id"))) e
        WHERE n.family_id = \(connection) AND n.id = \(nag)
        """
    }

    /// A condition: there is or was a nag of a connection from one of the two people to the other. Both are SQL
    /// expressions or values.
    static func existsOverConnection(between one: SQL, and other: SQL) -> SQL {
        """
        EXISTS (SELECT 1 FROM nags n WHERE n.connection_id IS NOT NULL
            AND (n.creator_id = \(one) AND n.recipient_id = \(other) OR n.creator_id = \(other) AND n.recipient_id = \(one)))
        """
    }

    // MARK: Nags to cancel

    /// Reads the ledgers and recipients of the open nags of connections that depend on somebody's membership in a
    /// family: for a child all nags to them, for a guardian those that the family's children receive over the
    /// guardian's active connections.
    static func openConnectionNagRecipients(dependingOnMembershipOf user: UserID) -> SQL {
        """
        SELECT n.family_id, n.recipient_id FROM nags n
        WHERE n.connection_id IS NOT NULL AND n.status = 'open' AND n.recipient_id = \(user)
            AND EXISTS (SELECT 1 FROM memberships k
                WHERE k.user_id = \(user) AND k.status = 'active' AND k.role = 'child')
        UNION
        SELECT n.family_id, n.recipient_id FROM nags n
        WHERE n.connection_id IS NOT NULL AND n.status = 'open'
            AND n.recipient_id = ANY(\(MembershipStatements.childIDs(ofGuardian: user)))
            AND n.family_id IN (\(ConnectionStatements.activeIDs(of: user)))
        """
    }

    /// Reads the ledgers and recipients of open nags from one of two people to the other over any connection, and of
    /// all open nags of the two people's connection.
    static func openConnectionNagRecipients(between one: UserID, and other: UserID) -> SQL {
        """
        SELECT n.family_id, n.recipient_id FROM nags n
        WHERE n.connection_id IS NOT NULL AND n.status = 'open'
            AND (n.creator_id = \(one) AND n.recipient_id = \(other) OR n.creator_id = \(other) AND n.recipient_id = \(one))
        UNION
        SELECT n.family_id, n.recipient_id FROM nags n
        WHERE n.connection_id IS NOT NULL AND n.status = 'open'
            AND n.family_id IN (\(ConnectionStatements.currentAndFormerIDs(between: one, and: other)))
        """
    }

    /// Reads the ledger and the recipients of all open nags of a connection.
    static func openNagRecipients(over connection: ConnectionID) -> SQL {
        """
        SELECT DISTINCT family_id, recipient_id FROM nags WHERE family_id = \(connection) AND status = 'open'
        """
    }

    /// Reads the `seq` of a ledger, somebody's pseudonym, and the `count` of their open nags there.
    static func cancellationFacts(of recipient: UserID, in ledger: FamilyID) -> SQL {
        """
        SELECT c.seq, u.pseudonym,
               (SELECT count(*) FROM nags n WHERE n.family_id = c.family_id AND n.recipient_id = u.id
                   AND n.status = 'open') AS count
        FROM family_clock c JOIN users u ON u.id = \(recipient) WHERE c.family_id = \(ledger)
        """
    }

    /// An expression: the number of a connection's open nags, or only of those to children, who are not its parties.
    static func openNagCount(over connection: SQL, toChildrenOnly: Bool = false) -> SQL {
        let isCounted: SQL =
            toChildrenOnly ? "AND NOT \(ConnectionStatements.isParty("n.recipient_id", of: "n.family_id"))" : ""
        return """
            (SELECT count(*) FROM nags n WHERE n.family_id = \(connection) AND n.status = 'open' \(isCounted))
            """
    }
}
