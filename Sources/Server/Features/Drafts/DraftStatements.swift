import Contract
import Domain
import DomainSQL
import SQL

/// Every statement on drafts.
enum DraftStatements {
    private static let columns: SQL = """
        d.id, d.family_id, d.kind, d.nag_id, d.author_id, d.source, d.body::text AS body,
        to_json(d.context_ids)::text AS context_ids, to_json(d.citations)::text AS citations, d.model,
        d.fallback_reason, d.body_hash, d.edited_by, d.edited_at, d.rejected_by, d.rejected_at, d.confidence,
        d.warnings::text AS warnings, d.state, d.version, d.approved_by, d.approved_at,
        d.confirmed_at, d.key_digest, d.key_owner, d.key_expires_at, d.executed_by, d.executed_at, d.result_id,
        d.import_id, d.item_id, d.addressee_id, d.trace_id, d.created_at, d.updated_at, d.expires_at, d.end_reason
        """

    /// A condition: the person sees the draft `d` of their family.
    private static func isVisible(to user: UserID, seesAll: Bool) -> SQL {
        seesAll ? "true" : "(d.author_id = \(user) OR d.addressee_id = \(user))"
    }

    static func draft(_ id: DraftID, for user: UserID, seesAll: Bool, in family: FamilyID) -> SQL {
        """
        SELECT \(columns) FROM drafts d
        WHERE d.family_id = \(family) AND d.id = \(id) AND \(isVisible(to: user, seesAll: seesAll))
        """
    }

    static func drafts(_ ids: [DraftID], for user: UserID, seesAll: Bool, in family: FamilyID) -> SQL {
        """
        SELECT \(columns) FROM drafts d
        WHERE d.family_id = \(family) AND d.id = ANY(\(SQLList(ids))) AND \(isVisible(to: user, seesAll: seesAll))
        """
    }

    /// Reads the drafts of an import, in the order of its items.
    static func drafts(of importID: ImportID, for user: UserID, seesAll: Bool, in family: FamilyID) -> SQL {
        """
        SELECT \(columns) FROM drafts d
        WHERE d.family_id = \(family) AND d.import_id = \(importID) AND \(isVisible(to: user, seesAll: seesAll))
        ORDER BY d.id
        """
    }

    /// Reads a page of drafts, the newest first. An open draft past its expiry counts as expired.
    static func page(_ query: DraftListQuery, for user: UserID, seesAll: Bool, at now: Timestamp) -> SQL {
        let state: SQL =
            query.state.map {
                "AND CASE WHEN \(isOpen) AND d.expires_at < \(now) THEN 'expired' ELSE d.state END = \($0)"
            }
            ?? ""
        return query.page.select(
            columns, from: "drafts", as: "d",
            where: "d.family_id = \(query.familyID) AND \(isVisible(to: user, seesAll: seesAll)) \(state)",
            orderBy: "d.id DESC")
    }

    /// A condition: the draft `d` is open. The index `open_drafts` has the same one.
    private static let isOpen: SQL = "d.state IN ('draft', 'approved', 'confirmed')"

    /// Reads the drafts that have expired and are not marked yet, the oldest first, with their families.
    static func unmarkedExpiries(at now: Timestamp, limit: Int) -> SQL {
        """
        SELECT d.family_id, d.id FROM drafts d WHERE \(isOpen) AND d.expires_at < \(now)
        ORDER BY d.expires_at LIMIT \(limit)
        """
    }

    /// Reads an open draft with the same author, nag, addressee and body.
    static func openDuplicate(of draft: DraftResponse, at now: Timestamp) -> SQL {
        """
        SELECT d.id FROM drafts d
        WHERE d.family_id = \(draft.familyID) AND d.author_id = \(draft.authorID) AND \(isOpen)
            AND d.expires_at >= \(now) AND d.kind = \(draft.kind) AND d.nag_id = \(draft.nagID)
            AND d.addressee_id = \(draft.addresseeID)
            AND d.body::text = \(jsonText(of: draft.body))
        ORDER BY d.id LIMIT 1
        """
    }

    // MARK: Statements of an act

    static func insert(_ draft: DraftResponse) -> SQL {
        """
        INSERT INTO drafts (family_id, id, kind, nag_id, author_id, source, body, body_hash, context_ids, citations,
                            model, fallback_reason, confidence, warnings, state, version, import_id, item_id,
                            addressee_id, trace_id, created_at, updated_at, expires_at)
        SELECT family_id, \(draft.id), \(draft.kind), \(draft.nagID), \(draft.authorID), \(draft.source),
               \(jsonText(of: draft.body))::json, \(draft.bodyHash), \(SQLList(draft.contextIDs))::uuid[],
               \(SQLList(draft.citations))::uuid[], \(draft.model), \(draft.fallbackReason), \(draft.confidence),
               \(jsonText(of: draft.warnings))::json, \(draft.progress.state), \(draft.progress.version)::integer,
               \(draft.importID), \(draft.itemID), \(draft.addresseeID), \(draft.traceID), \(draft.createdAt),
               \(draft.createdAt), \(draft.progress.expiresAt)
        FROM ledger_stamp
        """
    }

    /// Stores a new version, without approval and confirmation.
    static func edit(_ draft: DraftResponse) -> SQL {
        update(
            draft.id,
            """
            body = \(jsonText(of: draft.body))::json, body_hash = \(draft.bodyHash), edited_by = \(draft.editedBy),
            edited_at = \(draft.editedAt), version = \(draft.progress.version)::integer, state = 'draft',
            approved_by = NULL, approved_at = NULL, confirmed_at = NULL, \(keyRemoval), updated_at = \(draft.updatedAt)
            """)
    }

    static func approve(_ id: DraftID, by user: UserID, at now: Timestamp) -> SQL {
        update(id, "state = 'approved', approved_by = \(user), approved_at = \(now), updated_at = \(now)")
    }

    /// Confirms a draft: stores the key that its execution needs, in place of an earlier one.
    static func confirm(_ id: DraftID, _ key: ConfirmationKey, at now: Timestamp) -> SQL {
        update(
            id,
            """
            state = 'confirmed', key_digest = \(key.digest), key_owner = \(key.owner),
            key_expires_at = \(key.expiresAt), confirmed_at = \(now), updated_at = \(now)
            """)
    }

    /// Marks a draft as executed, and removes its key.
    static func execute(_ id: DraftID, by user: UserID, result: ResourceID, at now: Timestamp) -> SQL {
        update(
            id,
            """
            state = 'executed', executed_by = \(user), executed_at = \(now), result_id = \(result), \(keyRemoval),
            updated_at = \(now)
            """)
    }

    /// Ends a draft without executing it.
    /// - Parameter state: rejected or expired.
    static func end(_ id: DraftID, as state: DraftState, at now: Timestamp) -> SQL {
        update(id, "state = \(state), \(keyRemoval), updated_at = \(now)")
    }

    static func reject(_ id: DraftID, by user: UserID, at now: Timestamp) -> SQL {
        update(
            id,
            "state = 'rejected', rejected_by = \(user), rejected_at = \(now), \(keyRemoval), updated_at = \(now)")
    }

    /// Parts of a departure: reject the person's open drafts, void their approvals and confirmations of others' drafts,
    /// and expire others' drafts whose authors depended on the person's consent.
    static func endOnDeparture(of user: UserID, at now: Timestamp) -> [SQL] {
        let remainingConsents: SQL = "consent.user_id <> \(user)"
        return [
            rejectAndVoid(of: user, remainingConsents: remainingConsents, at: now),
            expireWithoutConsent(remainingConsents: remainingConsents, besidesThoseOf: user, at: now),
        ]
    }

    /// Rejects the person's open drafts, and voids their approvals and confirmations of others' drafts. Others' drafts
    /// that expire because a consent is missing are left out, because no two statements of an act may change the same
    /// row.
    private static func rejectAndVoid(of user: UserID, remainingConsents: SQL, at now: Timestamp) -> SQL {
        """
        UPDATE drafts d SET
            state = CASE WHEN d.author_id = \(user) THEN 'rejected' WHEN d.approved_by = \(user) THEN 'draft'
                         ELSE 'approved' END,
            approved_by = CASE WHEN d.approved_by = \(user) THEN NULL ELSE d.approved_by END,
            approved_at = CASE WHEN d.approved_by = \(user) THEN NULL ELSE d.approved_at END,
            confirmed_at = NULL, \(keyRemoval), updated_at = \(now)
        FROM ledger_stamp
        WHERE d.family_id = ledger_stamp.family_id AND \(isOpen)
            AND \(user) IN (d.author_id, d.approved_by, d.key_owner)
            AND (d.author_id = \(user) OR NOT \(hasNoConsent(among: remainingConsents)))
        """
    }

    /// Part of an act that revokes consents: expires the open drafts of authors who are left without a consent.
    /// `DraftExpiry` marks them, each with an entry in the audit log.
    /// - Parameters:
    ///   - remainingConsents: a condition on `consent` that selects the consents that the act does not revoke.
    ///   - departingUser: the person whose own drafts end in another way; nil for none.
    static func expireWithoutConsent(
        remainingConsents: SQL, besidesThoseOf departingUser: UserID? = nil, at now: Timestamp
    ) -> SQL {
        let others: SQL = departingUser.map { "AND d.author_id <> \($0)" } ?? ""
        return expire(.consentMissing, where: "\(hasNoConsent(among: remainingConsents)) \(others)", at: now)
    }

    /// Part of an act that switches the AI off for a person: expires their open drafts.
    static func expireSwitchedOff(of user: UserID, at now: Timestamp) -> SQL {
        expire(.modeOff, where: "d.author_id = \(user)", at: now)
    }

    private static func hasNoConsent(among remainingConsents: SQL) -> SQL {
        """
        NOT \(ConsentStatements.isInForce(
            .aiMediation, user: "d.author_id", family: "d.family_id", where: remainingConsents))
        """
    }

    /// Expires open drafts now, with a reason. `DraftExpiry` marks them.
    private static func expire(_ reason: DraftEndReason, where condition: SQL, at now: Timestamp) -> SQL {
        """
        UPDATE drafts d SET expires_at = \(now - Timestamp.Span(microseconds: 1)), end_reason = \(reason)
        FROM ledger_stamp
        WHERE d.family_id = ledger_stamp.family_id AND \(isOpen) AND d.expires_at >= \(now) AND \(condition)
        """
    }

    private static let keyRemoval: SQL = "key_digest = NULL, key_owner = NULL, key_expires_at = NULL"

    private static func update(_ id: DraftID, _ changes: SQL) -> SQL {
        """
        UPDATE drafts d SET \(changes) FROM ledger_stamp
        WHERE d.family_id = ledger_stamp.family_id AND d.id = \(id)
        """
    }

    private static func jsonText(of value: some WireOutput) -> String {
        String(decoding: value.jsonBytes, as: UTF8.self)
    }
}
