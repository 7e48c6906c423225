import Audit
import Domain
import Postgres
import SQL

/// Every statement of realtime.
enum RealtimeStatements {
    /// The largest number of entries of one family that one statement reads.
    static let maxEntriesPerFamily = 200

    static let listen: SQL = "LISTEN nagz_changes"

    /// Sends the payloads to all instances that listen. The transaction is not synced to disk: a sweep finds
    /// the changes of a lost notification.
    static func notify(_ payloads: [String]) -> SQL {
        """
        SELECT set_config('synchronous_commit', 'off', true), pg_notify('nagz_changes', p.payload)
        FROM unnest(\(SQLList(payloads))) p (payload)
        """
    }

    /// Reads the entries of the families' audit logs after their positions, ordered by the family's `ordinal` and the
    /// entry's number, with the columns that decide who may receive their events. Points are not checked with EXISTS,
    /// because the planner may answer that by reading the points of all families.
    static func entries(after positions: [(family: FamilyID, seq: Int64)]) -> SQL {
        """
        SELECT f.ordinal, e.n, e.at, e.kind, e.resource, a.id AS actor_id, s.id AS subject_id, n.creator_id,
               n.recipient_id,
               e.kind IN ('nag.completed', 'nag.missed')
                   AND (SELECT true FROM gamification_events p
                        WHERE p.family_id = e.family_id AND p.sync_ts = e.at LIMIT 1) IS NOT NULL AS has_points
        FROM unnest(\(SQLList(positions.map(\.family))), \(SQLList(positions.map(\.seq)))) WITH ORDINALITY
            AS f (family_id, seq, ordinal)
        CROSS JOIN LATERAL (
            SELECT * FROM audit_entry e WHERE e.family_id = f.family_id AND e.n > f.seq
            ORDER BY e.family_id, e.n LIMIT \(literal: maxEntriesPerFamily)
        ) e
        LEFT JOIN users a ON a.pseudonym = e.actor
        LEFT JOIN users s ON s.pseudonym = e.subject
        LEFT JOIN nags n ON n.family_id = e.family_id AND n.id = e.resource
        ORDER BY f.ordinal, e.n
        """
    }

    /// The kinds of entries of which a connection's two parties are notified, and not the people of its nags.
    private static let kindsForParties = [AuditKind.connectionInvited, .connectionAccepted].map(\.rawValue)

    /// The largest number of entries of a connection that one statement reads: the newest.
    static let maxEntriesPerConnection = 50

    /// Reads the entries of connections' audit logs after their positions, ordered by the connection's `ordinal` and
    /// the entry's number, with the `people` who receive their events: for the connection itself its two parties; for
    /// nags their creators, their recipients, and the guardians of a child who receives one. Of a connection with
    /// position 0 it reads only the last entry and those of the five seconds before.
    static func entries(ofConnections positions: [(connection: FamilyID, seq: Int64)]) -> SQL {
        """
        SELECT f.ordinal, e.n, e.at, e.kind, a.id AS actor_id, x.id AS nag_id,
               CASE WHEN e.kind = ANY(\(SQLList(kindsForParties)))
                    THEN (SELECT array_agg(p.id) FROM (\(ConnectionStatements.parties(of: "f.id"))) p)
                    ELSE (SELECT array_agg(DISTINCT w.id) FROM nags n CROSS JOIN LATERAL (
                              SELECT n.creator_id AS id UNION ALL SELECT n.recipient_id
                              UNION ALL SELECT g.user_id FROM memberships k
                              JOIN memberships g ON g.family_id = k.family_id AND g.status = 'active' AND g.role = 'guardian'
                              WHERE k.user_id = n.recipient_id AND k.status = 'active' AND k.role = 'child'
                          ) w
                          WHERE n.family_id = f.id AND (n.id = e.resource OR n.sync_ts = e.at)) END AS people
        FROM unnest(\(SQLList(positions.map(\.connection))), \(SQLList(positions.map(\.seq)))) WITH ORDINALITY
            AS f (id, seq, ordinal)
        JOIN family_clock c ON c.family_id = f.id
        CROSS JOIN LATERAL (
            SELECT * FROM audit_entry e
            WHERE e.family_id = f.id AND e.n > greatest(f.seq, c.seq - \(literal: maxEntriesPerConnection))
                AND (f.seq > 0 OR e.at > c.ts - interval '5 seconds')
            ORDER BY e.family_id, e.n
        ) e
        LEFT JOIN users a ON a.pseudonym = e.actor
        LEFT JOIN nags x ON x.family_id = f.id AND x.id = e.resource
        ORDER BY f.ordinal, e.n
        """
    }

    /// Reads the rights of sockets, by `ordinal`: whether session, account and membership still allow the socket
    /// (`is_entitled`), and the member's `role`.
    static func entitlements(of sockets: [SocketRecord], at now: Timestamp) -> SQL {
        """
        SELECT r.ordinal, m.role,
               coalesce(u.status = 'active', false) AND m.user_id IS NOT NULL
                   AND (r.session_id IS NULL OR s.id IS NOT NULL) AS is_entitled
        FROM unnest(\(SQLList(sockets.map(\.user))), \(SQLList(sockets.map(\.family))),
                    \(SQLList(sockets.map(\.session)))) WITH ORDINALITY AS r (user_id, family_id, session_id, ordinal)
        LEFT JOIN users u ON u.id = r.user_id
        LEFT JOIN memberships m ON m.family_id = r.family_id AND m.user_id = r.user_id AND m.status = 'active'
        LEFT JOIN sessions s ON s.id = r.session_id AND s.user_id = r.user_id AND s.revoked_at IS NULL
            AND s.expires_at > \(now)
        """
    }

    /// Reads the `ordinal` of each family that has changed since its position.
    static func changedFamilies(since positions: [(family: FamilyID, seq: Int64)]) -> SQL {
        """
        SELECT f.ordinal
        FROM unnest(\(SQLList(positions.map(\.family))), \(SQLList(positions.map(\.seq)))) WITH ORDINALITY
            AS f (family_id, seq, ordinal)
        JOIN family_clock c ON c.family_id = f.family_id AND c.seq > f.seq
        """
    }

    /// Reads the connections of these people, and those over which they or a child of whom they are guardians have
    /// received a nag, that have changed since a moment.
    static func changedConnections(of users: [UserID], since moment: Timestamp) -> SQL {
        """
        \(ConnectionStatements.changedIDs(of: users, since: moment))
        UNION SELECT n.family_id FROM nags n JOIN family_clock k ON k.family_id = n.family_id
        WHERE k.ts > \(moment) AND n.connection_id IS NOT NULL AND n.recipient_id IN (
            SELECT unnest(\(SQLList(users)))
            UNION SELECT m.user_id FROM memberships g
            JOIN memberships m ON m.family_id = g.family_id AND m.status = 'active' AND m.role = 'child'
            WHERE g.user_id = ANY(\(SQLList(users))) AND g.status = 'active' AND g.role = 'guardian')
        """
    }

    // MARK: Live sockets

    /// Records for 45 seconds that these people have a socket on this instance.
    static func recordLiveSockets(_ users: [UserID], on instance: InstanceID) -> SQL {
        """
        INSERT INTO live_sockets (user_id, instance, until)
        SELECT u.id, \(instance), statement_timestamp() + interval '45 seconds' FROM unnest(\(SQLList(users))) u (id)
        ON CONFLICT (user_id, instance) DO UPDATE SET until = excluded.until
        """
    }

    static func deleteLiveSockets(_ users: [UserID], on instance: InstanceID) -> SQL {
        "DELETE FROM live_sockets WHERE user_id = ANY(\(SQLList(users))) AND instance = \(instance)"
    }

    static func deleteAllLiveSockets(on instance: InstanceID) -> SQL {
        "DELETE FROM live_sockets WHERE instance = \(instance)"
    }

    /// Deletes the rows of instances that died.
    static let deleteExpiredLiveSockets: SQL =
        "DELETE FROM live_sockets WHERE until < statement_timestamp() - interval '1 hour'"

    /// Returns a condition: the person has an open socket on any instance.
    ///
    /// When an instance dies, its sockets still count for up to 45 seconds.
    static func hasLiveSocket(_ user: SQL) -> SQL {
        "EXISTS (SELECT FROM live_sockets l WHERE l.user_id = \(user) AND l.until > statement_timestamp())"
    }
}

/// The ID of one server process, in the database.
typealias InstanceID = Identifier<Kind.ServerProcess>
