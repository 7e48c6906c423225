import Domain
import SQL

/// The statements of a reconciliation: the chains of the audit log, and the rows that their entries explain.
enum ReconcileStatements {
    /// The number of families or rows in one page.
    static let pageSize = 500

    /// Reads the next ids of families and connections: those that exist, that have a clock, or that entries or leaves
    /// name. The nil id, the chain outside families, is one of them.
    static func chainIDs(after last: FamilyID?) -> SQL {
        let isNext: SQL = last.map { "family_id > \($0)" } ?? "family_id >= \(FamilyID.outside)"
        let isNextID: SQL = last.map { "id > \($0)" } ?? "id >= \(FamilyID.outside)"
        return """
            WITH RECURSIVE \(NamedFamilies.commonTableExpression("written", of: "audit_entry", where: isNext)),
            \(NamedFamilies.commonTableExpression("placed", of: "audit_leaf", where: isNext))
            (SELECT family_id FROM written WHERE family_id IS NOT NULL LIMIT \(pageSize))
            UNION (SELECT family_id FROM placed WHERE family_id IS NOT NULL LIMIT \(pageSize))
            UNION (SELECT family_id FROM family_clock WHERE \(isNext) ORDER BY family_id LIMIT \(pageSize))
            UNION (SELECT id FROM families WHERE \(isNextID) ORDER BY id LIMIT \(pageSize))
            UNION (SELECT id FROM connections WHERE \(isNextID) ORDER BY id LIMIT \(pageSize))
            ORDER BY family_id LIMIT \(pageSize)
            """
    }

    /// Reads the ID if a family or a connection has it, or if a clock, an entry or a leaf names it. Otherwise no row.
    static func chain(_ id: FamilyID) -> SQL {
        """
        SELECT \(id)::uuid AS family_id
        WHERE EXISTS (SELECT FROM family_clock WHERE family_id = \(id))
            OR EXISTS (SELECT FROM families WHERE id = \(id))
            OR EXISTS (SELECT FROM connections WHERE id = \(id))
            OR EXISTS (SELECT FROM audit_entry WHERE family_id = \(id))
            OR EXISTS (SELECT FROM audit_leaf WHERE family_id = \(id))
        """
    }

    /// The columns of a `PreparedEntry`, of an entry `e`, its body `p`, its body's key `k` and its leaf `l`.
    static let entryColumns: SQL = """
        e.family_id, e.n, e.at, e.kind, e.actor, e.subject, e.resource, e.trace, e.request, e.commit, e.prev, e.hash,
        p.salt, p.body, p.key_id, k.master, k.wrapped, l.hash AS leaf
        """

    /// Reads the next page of a family's entries after a sequence number, in order, with their bodies and leaves.
    static func entryPage(of family: FamilyID, after number: Int64) -> SQL {
        """
        SELECT \(entryColumns)
        FROM audit_entry e
        LEFT JOIN audit_payload p ON p.family_id = e.family_id AND p.n = e.n
        LEFT JOIN audit_subject_key k ON k.id = p.key_id
        LEFT JOIN audit_leaf l ON l.family_id = e.family_id AND l.n = e.n
        WHERE e.family_id = \(family) AND e.n > \(number) ORDER BY e.n LIMIT \(pageSize)
        """
    }

    /// Reads the sequence number of the family's newest entry, by its clock.
    static func newestSequenceNumber(of family: FamilyID) -> SQL {
        "SELECT seq FROM family_clock WHERE family_id = \(family)"
    }

    static func newestPrune(of family: FamilyID) -> SQL {
        "SELECT note FROM audit_prune WHERE family_id = \(family) ORDER BY cut DESC LIMIT 1"
    }

    /// Reads the family's clock, and the first number of an entry, body or leaf that is below the chain's beginning or
    /// above its end; null where there is none.
    static func clockAndMisplacedNumbers(of family: FamilyID, lastPruned cut: Int64, last: Int64) -> SQL {
        """
        SELECT c.seq, c.head,
               (SELECT n FROM audit_entry WHERE family_id = \(family) AND n <= \(cut) ORDER BY n LIMIT 1) AS early_entry,
               (SELECT n FROM audit_payload WHERE family_id = \(family) AND n <= \(cut) ORDER BY n LIMIT 1) AS early_body,
               (SELECT n FROM audit_payload WHERE family_id = \(family) AND n > \(last) ORDER BY n LIMIT 1) AS late_body,
               (SELECT n FROM audit_leaf WHERE family_id = \(family) AND n <= 0 ORDER BY n LIMIT 1) AS early_leaf,
               (SELECT n FROM audit_leaf WHERE family_id = \(family) AND n > \(last) ORDER BY n LIMIT 1) AS late_leaf
        FROM (SELECT) one LEFT JOIN family_clock c ON c.family_id = \(family)
        """
    }

    // MARK: Rows of a family

    // Columns have the names of `StateRow.values`, and are texts as entries write them.

    static func members(of family: FamilyID) -> SQL {
        """
        SELECT m.user_id, u.pseudonym, m.role, CASE m.status WHEN 'active' THEN 'active' ELSE 'removed' END AS status
        FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.family_id = \(family)
        """
    }

    static func relationships(of family: FamilyID) -> SQL {
        """
        SELECT r.id, a.pseudonym AS a, b.pseudonym AS b, r.status FROM relationships r
        JOIN users a ON a.id = r.party_a JOIN users b ON b.id = r.party_b WHERE r.family_id = \(family)
        """
    }

    static func consents(of family: FamilyID, after last: ConsentID?) -> SQL {
        let isNext: SQL = last.map { "AND k.id > \($0)" } ?? ""
        return """
            SELECT k.id, u.pseudonym AS user, k.consent_type AS type, (k.revoked_at IS NOT NULL)::text AS revoked,
                   k.granted_seq::text AS granted_seq
            FROM consents k JOIN users u ON u.id = k.user_id
            WHERE k.family_id = \(family) \(isNext) ORDER BY k.id LIMIT \(pageSize)
            """
    }

    static func policies(of family: FamilyID) -> SQL {
        """
        SELECT o.id, \(pseudonyms("o.owners")) AS owners, (o.is_default AND o.status = 'active')::text AS in_force,
               o.daily_cap, o.max_snooze_minutes, o.points_multiplier, o.max_pushback, o.cooldown_minutes,
               o.third_party_models,
               o.constraints::text AS constraints, o.version::text AS version,
               o.awaits_co_owner::text AS awaits_co_owner, o.proposal_id,
               \(pseudonyms("o.proposed_owners")) AS proposed_owners,
               o.proposed_constraints::text AS proposed_constraints,
               \(pseudonyms("ARRAY(SELECT a.approver_id FROM policy_approvals a WHERE a.family_id = o.family_id AND a.policy_id = o.id AND a.proposal_id = o.proposal_id)"))
                   AS approvers
        FROM policies o WHERE o.family_id = \(family)
        """
    }

    /// Returns an expression for the pseudonyms of an array of users. The pseudonym of an erased person is null.
    private static func pseudonyms(_ users: SQL) -> SQL {
        """
        ARRAY(SELECT u.pseudonym FROM unnest(\(users)) WITH ORDINALITY w (id, place)
              LEFT JOIN users u ON u.id = w.id ORDER BY w.place)
        """
    }

    static func nags(of family: FamilyID, after last: NagID?) -> SQL {
        let isNext: SQL = last.map { "AND n.id > \($0)" } ?? ""
        return """
            SELECT n.id, c.pseudonym AS creator, r.pseudonym AS recipient, n.category, n.due_at, n.status,
                   (n.recipient_dismissed_at IS NOT NULL)::text AS dismissed, n.phase::text AS phase, n.parent_nag_id,
                   n.sync_seq
            FROM nags n JOIN users c ON c.id = n.creator_id JOIN users r ON r.id = n.recipient_id
            WHERE n.family_id = \(family) \(isNext) ORDER BY n.id LIMIT \(pageSize)
            """
    }

    /// Reads a page of a family's gamification events, in the order of their creation.
    static func points(of family: FamilyID, after last: (at: Timestamp, id: EventID)?) -> SQL {
        let isNext: SQL = last.map { "AND (g.sync_ts, g.id) > (\($0.at), \($0.id))" } ?? ""
        return """
            SELECT g.id, g.user_id, u.pseudonym AS user, g.nag_id::text AS nag, g.delta_points::text AS delta_points,
                   g.streak_delta::text AS streak_delta, (g.event_type = 'nag_completed')::text AS is_completion,
                   g.sync_seq, g.sync_ts
            FROM gamification_events g JOIN users u ON u.id = g.user_id
            WHERE g.family_id = \(family) \(isNext) ORDER BY g.sync_ts, g.id LIMIT \(pageSize)
            """
    }

    /// Reads the sums of each member's gamification events, and the part of them for deleted events (`dropped_…`).
    static func totals(of family: FamilyID) -> SQL {
        """
        SELECT user_id, points, streak::bigint AS streak, events, completions, dropped_points, dropped_streak,
               dropped_events, dropped_completions FROM member_totals
        WHERE family_id = \(family)
        """
    }

    static func badges(of family: FamilyID) -> SQL {
        """
        SELECT b.user_id, u.pseudonym, b.badge_type AS type FROM badges b JOIN users u ON u.id = b.user_id
        WHERE b.family_id = \(family)
        """
    }

    /// Reads the connection that the chain belongs to; no row for a family's chain.
    static func connection(_ id: FamilyID) -> SQL {
        """
        SELECT c.id, a.pseudonym AS inviter, b.pseudonym AS invitee, c.status,
               c.inviter_shares_children::text AS inviter_shares_children,
               c.invitee_shares_children::text AS invitee_shares_children
        FROM connections c JOIN users a ON a.id = c.inviter_id LEFT JOIN users b ON b.id = c.invitee_id
        WHERE c.id = \(id)
        """
    }

    static func incentiveRules(of family: FamilyID) -> SQL {
        """
        SELECT id, version::bigint AS version, status,
               concat_ws(' ', condition ->> 'type', condition ->> 'count', action ->> 'type', action ->> 'amount',
                         approval_mode) AS terms
        FROM incentive_rules WHERE family_id = \(family)
        """
    }

    static func incentives(of family: FamilyID, after last: IncentiveEventID?) -> SQL {
        let isNext: SQL = last.map { "AND i.id > \($0)" } ?? ""
        return """
            SELECT i.id, i.nag_id, i.nag_id::text AS nag, i.rule_id::text AS rule, i.rule_version::text AS version,
                   u.pseudonym AS user, (i.applied_at IS NOT NULL)::text AS applied
            FROM incentive_events i JOIN users u ON u.id = i.user_id
            WHERE i.family_id = \(family) \(isNext) ORDER BY i.id LIMIT \(pageSize)
            """
    }

    // MARK: Accounts

    /// Reads the accounts of people by their pseudonyms.
    static func accounts(of people: [Pseudonym]) -> SQL {
        "SELECT pseudonym, id FROM users WHERE pseudonym = ANY(\(SQLList(people)))"
    }

    /// Reads the next accounts, and whether an entry opened (`is_opened`) and ended (`is_ended`) each.
    static func accounts(after last: UserID?) -> SQL {
        let isNext: SQL = last.map { "WHERE u.id > \($0)" } ?? ""
        return """
            SELECT u.id, u.pseudonym IS NOT NULL AS is_known, u.status = 'deleted' AS is_deleted,
                   EXISTS (SELECT FROM audit_entry e WHERE e.subject = u.pseudonym
                           AND e.kind IN ('account.created', 'member.created', 'admin.created')) AS is_opened,
                   u.status = 'deleted' AND EXISTS (SELECT FROM audit_entry e WHERE e.subject = u.pseudonym
                           AND e.kind = 'account.deleted') AS is_ended
            FROM users u \(isNext) ORDER BY u.id LIMIT \(pageSize)
            """
    }

    /// Reads up to 100 accounts that an entry ended and that are not deleted.
    static let accountsDeletedOnlyInLog: SQL = """
        SELECT u.id, e.family_id, e.n FROM audit_entry e JOIN users u ON u.pseudonym = e.subject
        WHERE e.kind = 'account.deleted' AND u.status <> 'deleted' LIMIT 100
        """

    /// Counts the accounts without a pseudonym, and the people whose erasure the log records.
    static let erasedCounts: SQL = """
        SELECT (SELECT count(*) FROM users WHERE pseudonym IS NULL) AS accounts,
               (SELECT count(DISTINCT subject) FROM audit_entry
                WHERE family_id = '00000000-0000-0000-0000-000000000000' AND kind = 'person.erased') AS people
        """

    /// Reads the administrators, and whether entries record the creation (`is_made`) and the revocation (`is_ended`) of
    /// each.
    static let administrators: SQL = """
        SELECT a.user_id, u.pseudonym IS NOT NULL AS is_known, a.revoked_at IS NOT NULL AS is_revoked,
               EXISTS (SELECT FROM audit_entry e WHERE e.family_id = '00000000-0000-0000-0000-000000000000'
                       AND e.kind = 'admin.created' AND e.subject = u.pseudonym) AS is_made,
               EXISTS (SELECT FROM audit_entry e WHERE e.family_id = '00000000-0000-0000-0000-000000000000'
                       AND e.kind = 'admin.revoked' AND e.subject = u.pseudonym) AS is_ended
        FROM admins a JOIN users u ON u.id = a.user_id
        """

    /// Reads up to 100 administrators whom the log names and whom the database lacks. Erased people are left out.
    static let administratorsOnlyInLog: SQL = """
        SELECT e.subject, e.n FROM audit_entry e
        WHERE e.family_id = '00000000-0000-0000-0000-000000000000' AND e.kind = 'admin.created'
            AND NOT EXISTS (SELECT FROM users u JOIN admins a ON a.user_id = u.id WHERE u.pseudonym = e.subject)
            AND NOT EXISTS (SELECT FROM audit_entry x WHERE x.family_id = e.family_id AND x.kind = 'person.erased'
                            AND x.subject = e.subject)
        LIMIT 100
        """

    /// Reads the next consents that people gave for themselves alone, and whether entries record that each was granted
    /// (`is_given`) and that it was revoked or its account deleted (`is_taken_back`).
    static func personalConsents(after last: ConsentID?) -> SQL {
        let isNext: SQL = last.map { "AND k.id > \($0)" } ?? ""
        return """
            SELECT k.id, u.pseudonym IS NOT NULL AS is_known, k.revoked_at IS NOT NULL AS is_revoked,
                   EXISTS (SELECT FROM audit_entry e WHERE e.resource = k.id AND e.kind = 'consent.granted'
                           AND (e.subject = u.pseudonym OR u.pseudonym IS NULL)) AS is_given,
                   EXISTS (SELECT FROM audit_entry e WHERE e.resource = k.id AND e.kind = 'consent.revoked')
                       OR EXISTS (SELECT FROM audit_entry e WHERE e.subject = u.pseudonym
                                  AND e.kind = 'account.deleted') AS is_taken_back
            FROM consents k JOIN users u ON u.id = k.user_id
            WHERE k.family_id IS NULL \(isNext) ORDER BY k.id LIMIT \(pageSize)
            """
    }

    static let prunes: SQL = "SELECT note FROM audit_prune"
}
