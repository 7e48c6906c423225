import Contract
import Domain
import SQL

/// Every statement on connections between adults of different families.
enum ConnectionStatements {
    // MARK: Conditions and subqueries

    /// A condition: there is or was a connection between the two people, or an invitation. `one` and `other` are SQL
    /// expressions or values.
    static func everExisted(between one: SQL, and other: SQL) -> SQL {
        """
        EXISTS (SELECT 1 FROM connections c WHERE (c.inviter_id = \(one) AND c.invitee_id = \(other))
            OR (c.inviter_id = \(other) AND c.invitee_id = \(one)))
        """
    }

    /// Selects the facts that decide whether one person may nag another over a connection. No row: the creator is not
    /// one of its parties. The parameters are SQL expressions or values.
    static func entitlement(of creator: SQL, to recipient: SQL, over connection: SQL) -> SQL {
        """
        SELECT c.status = 'active' AS is_active, c.caregiver,
               CASE WHEN o.id = \(recipient) THEN 'other_party'
                    WHEN o.shares AND \(MembershipStatements.isChild(recipient, ofGuardian: "o.id")) THEN 'child'
                    ELSE 'someone_else' END AS recipient,
               \(contactColumns(of: creator, with: "o.id", and: recipient))
        FROM connections c CROSS JOIN LATERAL (
            SELECT CASE WHEN c.inviter_id = \(creator) THEN c.invitee_id ELSE c.inviter_id END AS id,
                   CASE WHEN c.inviter_id = \(creator) THEN c.invitee_shares_children
                        ELSE c.inviter_shares_children END AS shares
        ) o
        WHERE c.id = \(connection) AND \(creator) IN (c.inviter_id, c.invitee_id)
        """
    }

    /// A condition: the connection is active. `id` is an SQL expression.
    static func isActive(_ id: SQL) -> SQL {
        "EXISTS (SELECT 1 FROM connections c WHERE c.id = \(id) AND c.status = 'active')"
    }

    /// A condition: neither party blocks the other, and the connection has the status that `isActive` asks for: active
    /// if it is true, pending if it is false. `id` and `isActive` are SQL expressions.
    static func isUnblocked(_ id: SQL, isActive: SQL) -> SQL {
        """
        EXISTS (SELECT 1 FROM connections c WHERE c.id = \(id)
            AND c.status = CASE WHEN \(isActive) THEN 'active' ELSE 'pending' END
            AND NOT \(BlockStatements.isBlocked(between: "c.inviter_id", and: "c.invitee_id")))
        """
    }

    /// A condition: somebody is one of the connection's parties. `user` and `id` are SQL expressions.
    static func isParty(_ user: SQL, of id: SQL) -> SQL {
        "EXISTS (SELECT 1 FROM connections c WHERE c.id = \(id) AND \(user) IN (c.inviter_id, c.invitee_id))"
    }

    /// A subquery: the ids of a person's active connections.
    static func activeIDs(of user: UserID) -> SQL {
        """
        SELECT c.id FROM connections c WHERE c.inviter_id = \(user) AND c.status = 'active'
        UNION ALL SELECT c.id FROM connections c WHERE c.invitee_id = \(user) AND c.status = 'active'
        """
    }

    /// A subquery: the ids of the connections of two people.
    static func currentAndFormerIDs(between one: UserID, and other: UserID) -> SQL {
        """
        SELECT c.id FROM connections c WHERE (c.inviter_id = \(one) AND c.invitee_id = \(other))
            OR (c.inviter_id = \(other) AND c.invitee_id = \(one))
        """
    }

    /// A subquery: all connections and invitations of a person, as that person sees them. An inviter does not see whose
    /// account the address is before the invitation was accepted: `shown_invitee_id` and `other_id` are null until
    /// then.
    /// - Parameters:
    ///   - user: an SQL expression or a value.
    ///   - address: their email address; null for somebody who may not be connected. Invitations that were sent before
    ///     the address had an account are found by it.
    static func connections(of user: SQL, address: SQL) -> SQL {
        """
        SELECT c.*, CASE WHEN c.responded_at IS NOT NULL AND c.status <> 'declined' THEN c.invitee_id END AS other_id,
               CASE WHEN c.responded_at IS NOT NULL AND c.status <> 'declined' THEN c.invitee_id END AS shown_invitee_id
        FROM connections c WHERE c.inviter_id = \(user)
        UNION ALL
        SELECT c.*, c.inviter_id, c.invitee_id FROM connections c WHERE c.invitee_id = \(user)
        UNION ALL
        SELECT c.*, c.inviter_id, \(user) FROM connections c
        WHERE c.invitee_email = \(address) AND c.invitee_id IS NULL AND c.status = 'pending' AND c.inviter_id <> \(user)
        """
    }

    /// The columns that `ConnectionResponse` reads: of a connection `c` from `connections` and the other party `o`.
    private static let columns: SQL = """
        c.id, c.inviter_id, c.shown_invitee_id, c.invitee_email, c.status, c.caregiver, c.created_at, c.responded_at,
        o.email AS other_email, o.display_name AS other_name
        """
    private static let otherJoin: SQL = "LEFT JOIN users o ON o.id = c.other_id AND o.status <> 'deleted'"

    // MARK: Reads

    /// Reads a page of connections, the newest first.
    /// - Parameter isInbound: whether only those are read that the other party began.
    static func page(
        of user: UserID, address: String?, _ status: ConnectionStatus?, isInbound: Bool = false, _ page: PageRequest
    ) -> SQL {
        var filter: SQL = status.map { "c.status = \($0.rawValue)" } ?? "true"
        if isInbound { filter = "\(filter) AND c.inviter_id <> \(user)" }
        let statement = page.select(
            columns, from: "own", as: "c", where: filter, joining: otherJoin, orderBy: "c.created_at DESC, c.id DESC")
        return "WITH own AS MATERIALIZED (\(connections(of: "\(user)", address: "\(address)"))) \(statement)"
    }

    /// Reads a connection as one of its parties sees it, with the other columns of `ConnectionView`. No row: the user
    /// is not a party.
    static func connection(_ id: ConnectionID, of user: UserID, address: String?) -> SQL {
        """
        SELECT \(columns), c.inviter_shares_children, c.invitee_shares_children, c.other_id,
               o.pseudonym AS other_pseudonym, k.seq,
               \(MembershipStatements.isGuardian("\(user)")) AS is_guardian,
               \(contactColumns(of: "\(user)", with: "c.other_id")),
               \(activeCount(of: "\(user)")) AS own_active, \(activeCount(of: "c.inviter_id")) AS inviter_active,
               \(NagStatements.openNagCount(over: "c.id")) AS open_nags,
               \(NagStatements.openNagCount(over: "c.id", toChildrenOnly: true)) AS open_child_nags
        FROM (\(connections(of: "\(user)", address: "\(address)"))) c
        JOIN family_clock k ON k.family_id = c.id
        \(otherJoin)
        WHERE c.id = \(id)
        """
    }

    /// Reads the children of a party whom the other party may nag, if the first one allows it.
    static func children(ofGuardian party: UserID, for other: UserID) -> SQL {
        MembershipStatements.children(
            ofGuardian: party,
            where: """
                NOT EXISTS (SELECT FROM (SELECT \(contactColumns(of: "\(other)", with: "\(party)", and: "k.user_id"))) o
                    WHERE o.is_blocked OR o.is_suspended OR o.shares_family)
                """)
    }

    /// Reads the facts that an invitation depends on: the account of the address, if it may be connected; the
    /// `existing` pending or active connection of the two, whoever invited; and the numbers of the inviter's
    /// connections.
    static func invitationFacts(by user: UserID, _ address: String?, to email: String, at now: Timestamp) -> SQL {
        """
        SELECT i.id AS invitee_id, \(contactColumns(of: "\(user)", with: "i.id")),
               (SELECT c.id FROM (\(connections(of: "\(user)", address: "\(address)"))) c
                WHERE c.status IN ('pending', 'active')
                    AND (c.inviter_id = i.id
                        OR c.inviter_id = \(user) AND (c.invitee_id = i.id OR c.invitee_email = \(email)))
                ORDER BY c.status LIMIT 1) AS existing,
               (SELECT count(*) FROM connections c WHERE c.inviter_id = \(user) AND c.status = 'pending') AS open,
               \(activeCount(of: "\(user)")) AS active,
               (SELECT count(*) FROM connections c
                WHERE c.inviter_id = \(user) AND c.created_at > \(now - ConnectionLimit.day)) AS today,
               (SELECT min(c.created_at) FROM connections c
                WHERE c.inviter_id = \(user) AND c.created_at > \(now - ConnectionLimit.day)) AS first_today,
               (SELECT count(*) FROM connections c WHERE c.inviter_id = \(user)
                AND c.created_at > \(now - ConnectionLimit.month) AND c.invitee_email = \(email)) AS to_address,
               (SELECT min(c.created_at) FROM connections c WHERE c.inviter_id = \(user)
                AND c.created_at > \(now - ConnectionLimit.month) AND c.invitee_email = \(email)) AS first_to_address
        FROM (SELECT) one
        LEFT JOIN users i ON i.email = \(email) AND i.status = 'active'
            AND NOT \(MembershipStatements.isChild("i.id")) AND NOT \(AdminStatements.isAdministrator("i.id"))
        """
    }

    /// Columns: the reasons for which two people may not contact each other. All parameters are SQL expressions or
    /// values.
    /// - Parameter recipient: the other person or their child; the reasons hold for this person too.
    private static func contactColumns(of one: SQL, with other: SQL, and recipient: SQL? = nil) -> SQL {
        let contacts = [other] + (recipient.map { [$0] } ?? [])
        let isBlocked = contacts.map { BlockStatements.isBlocked(between: one, and: $0) }
        let isSuspended = contacts.map { RelationshipStatements.isSuspended(between: one, and: $0) }
        return """
            \(SQL.joined(isBlocked, separator: " OR ")) AS is_blocked,
            \(SQL.joined(isSuspended, separator: " OR ")) AS is_suspended,
            \(MembershipStatements.sharesFamily(one, other)) AS shares_family
            """
    }

    /// An expression: the number of a person's active connections. `user` is an SQL expression or a value.
    private static func activeCount(of user: SQL) -> SQL {
        """
        ((SELECT count(*) FROM connections a WHERE a.inviter_id = \(user) AND a.status = 'active')
         + (SELECT count(*) FROM connections a WHERE a.invitee_id = \(user) AND a.status = 'active'))
        """
    }

    /// Returns a row if the connection was accepted and the user is one of its parties, who may then read its audit
    /// log.
    static func acceptedParty(_ user: UserID, of id: FamilyID) -> SQL {
        """
        SELECT id FROM connections WHERE id = \(id) AND (inviter_id = \(user) OR invitee_id = \(user))
            AND responded_at IS NOT NULL AND status <> 'declined'
        """
    }

    /// Selects the ids that belong to connections.
    static func ids(among ids: [FamilyID]) -> SQL {
        "SELECT c.id FROM connections c WHERE c.id = ANY(\(SQLList(ids)))"
    }

    /// A subquery: the ids of these people's connections whose ledgers changed since a moment.
    static func changedIDs(of users: [UserID], since moment: Timestamp) -> SQL {
        """
        SELECT c.id FROM connections c JOIN family_clock k ON k.family_id = c.id
        WHERE (c.inviter_id = ANY(\(SQLList(users))) OR c.invitee_id = ANY(\(SQLList(users)))) AND k.ts > \(moment)
        """
    }

    /// A subquery: the `id` of each of a connection's two people. `id` is an SQL expression.
    static func parties(of id: SQL) -> SQL {
        """
        SELECT u.id FROM connections c JOIN users u ON u.id IN (c.inviter_id, c.invitee_id) WHERE c.id = \(id)
        """
    }

    /// Reads the names of a connection's parties, which the connection's audit log shows to them.
    static func partyNames(of id: FamilyID) -> SQL {
        """
        SELECT u.id, u.pseudonym, CASE WHEN u.status <> 'deleted' THEN u.display_name END AS display_name
        FROM connections c JOIN users u ON u.id IN (c.inviter_id, c.invitee_id)
        WHERE c.id = \(id) AND u.pseudonym IS NOT NULL ORDER BY u.id
        """
    }

    /// Reads the `id` of somebody's pending and active connections, at most `limit` of them.
    static func pendingOrActive(of user: UserID, address: String?, limit: Int) -> SQL {
        """
        SELECT c.id FROM (\(connections(of: "\(user)", address: "\(address)"))) c
        WHERE c.status IN ('pending', 'active') ORDER BY c.id LIMIT \(limit)
        """
    }

    /// Reads the invitations that were created up to a moment and are still pending, the oldest first.
    static func unansweredInvitations(createdUpTo moment: Timestamp, limit: Int) -> SQL {
        """
        SELECT id FROM connections WHERE status = 'pending' AND created_at <= \(moment)
        ORDER BY created_at LIMIT \(limit)
        """
    }

    /// Reads the `status` of a connection, and its ledger's `seq`.
    static func status(of id: ConnectionID) -> SQL {
        """
        SELECT c.status, k.seq FROM connections c JOIN family_clock k ON k.family_id = c.id WHERE c.id = \(id)
        """
    }

    // MARK: Statements of an act

    /// Part of an act: stores a pending invitation.
    /// - Parameter invitee: the account of the address; nil if no account that may be connected has it.
    static func insert(_ connection: ConnectionResponse, invitee: UserID?) -> SQL {
        """
        INSERT INTO connections (id, inviter_id, invitee_id, invitee_email, status, caregiver, inviter_shares_children,
                                 created_at)
        SELECT \(connection.id), \(connection.inviterID), \(invitee), \(connection.inviteeEmail), 'pending',
               \(connection.caregiver), \(connection.caregiver), \(connection.createdAt)
        FROM ledger_stamp
        """
    }

    /// Part of an act: accepts an invitation. Accepting a caregiver's invitation also lets the inviter nag the
    /// invitee's children.
    static func accept(_ id: ConnectionID, by invitee: UserID, at now: Timestamp) -> SQL {
        """
        UPDATE connections SET status = 'active', invitee_id = \(invitee), responded_at = \(now),
            invitee_shares_children = caregiver
        FROM ledger_stamp WHERE connections.id = \(id)
        """
    }

    /// Part of an act: ends a connection as declined or revoked.
    /// - Parameter invitee: the caller if they are the invitee; nil otherwise.
    static func end(_ id: ConnectionID, as status: ConnectionStatus, invitee: UserID?, at now: Timestamp) -> SQL {
        """
        UPDATE connections SET status = \(status.rawValue), invitee_id = coalesce(invitee_id, \(invitee)),
            responded_at = CASE WHEN \(status == .declined) THEN \(now) ELSE responded_at END,
            caregiver = false, inviter_shares_children = false, invitee_shares_children = false, ended_at = \(now)
        FROM ledger_stamp WHERE connections.id = \(id)
        """
    }

    static func setSharing(_ id: ConnectionID, inviterShares inviter: Bool, inviteeShares invitee: Bool) -> SQL {
        """
        UPDATE connections SET caregiver = \(inviter || invitee), inviter_shares_children = \(inviter),
            invitee_shares_children = \(invitee)
        FROM ledger_stamp WHERE connections.id = \(id)
        """
    }

    /// Removes the addresses from the connections of somebody whose account is deleted. None of them is pending.
    static func removeAddresses(of user: UserID) -> SQL {
        """
        UPDATE connections SET invitee_email = 'deleted' FROM ledger_stamp
        WHERE connections.id IN (SELECT id FROM connections WHERE inviter_id = \(user)
                                 UNION ALL SELECT id FROM connections WHERE invitee_id = \(user))
        """
    }
}
