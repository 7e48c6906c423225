import Audit
import Contract
import Domain
import SQL

/// Every statement on inputs and enrichments.
enum IngestionStatements {
    /// Reads the results of a member's inputs with those IDs.
    static func results(_ ids: [InputID], of user: UserID, in family: FamilyID) -> SQL {
        """
        SELECT id, outcome, event_id, code, message, reason, opens_at, fingerprint, import_id, draft_id,
               earlier_imports
        FROM inputs
        WHERE family_id = \(family) AND user_id = \(user) AND id = ANY(\(SQLList(ids)))
        """
    }

    /// Part of an act: stores an input with its result.
    /// - Parameters:
    ///   - nag: the nag that the input is about; nil for a new nag that was not created.
    ///   - draft: the draft that was made of the input; nil for none.
    static func insert(
        _ input: Provenance, _ kind: InputKind, by user: UserID, on nag: NagID?, at now: Timestamp,
        outcome: InputOutcome, refusal: InputRefusal? = nil, draft: DraftID? = nil
    ) -> SQL {
        """
        INSERT INTO inputs (family_id, user_id, id, kind, nag_id, source, confidence, source_context, made_at,
                            received_at, fingerprint, outcome, event_id, code, message, reason, opens_at,
                            draft_id)
        SELECT family_id, \(user), \(input.id), \(kind.rawValue), \(nag), \(input.source), \(input.confidence),
               \(input.context?.rawValue), \(input.madeAt), \(now), \(input.fingerprint), \(outcome.rawValue),
               \(outcome == .applied ? input.event : nil), \(refusal?.code.rawValue), \(refusal?.message),
               \(refusal?.reason), \(refusal?.opensAt), \(draft)
        FROM ledger_stamp
        """
    }

    /// Reads the people who used an ID for an import; no row if nobody did.
    static func importers(of importID: ImportID, in family: FamilyID) -> SQL {
        "SELECT DISTINCT user_id FROM inputs WHERE family_id = \(family) AND import_id = \(importID)"
    }

    /// Returns the fingerprint of an imported item: the SHA-256 of the JSON that the server encodes it in.
    static func fingerprint(of item: ImportItem) -> [UInt8] { sha256(item.jsonBytes) }

    /// Part of an act: stores an imported item with the draft that it became.
    static func insert(_ item: ImportItem, became draft: DraftResponse, at now: Timestamp) -> SQL {
        """
        INSERT INTO inputs (family_id, user_id, id, kind, source, made_at, received_at, fingerprint, outcome, import_id,
                            draft_id)
        SELECT family_id, \(draft.authorID), \(item.itemID.input), 'nag', \(StoredSource(draft.source)), \(now), \(now),
               \(fingerprint(of: item)), 'drafted', \(draft.importID), \(draft.id)
        FROM ledger_stamp
        """
    }

    /// Part of an act: stores a changed item with the draft that was created or edited for the change. Its last hundred
    /// earlier imports stay known.
    static func updateItem(
        _ item: ImportItem, to draft: DraftID, in importID: ImportID, of user: UserID, at now: Timestamp
    ) -> SQL {
        """
        UPDATE inputs i
        SET fingerprint = \(fingerprint(of: item)), import_id = \(importID), draft_id = \(draft), received_at = \(now),
            earlier_imports = (i.earlier_imports || i.import_id)[greatest(cardinality(i.earlier_imports) - 98, 1):]
        FROM ledger_stamp s
        WHERE i.family_id = s.family_id AND i.user_id = \(user) AND i.id = \(item.itemID.input)
        """
    }

    /// Reads the event that a person's input on a nag became; no row if there is no such input or it was not applied.
    /// `is_same` is whether the event already has this enrichment; null if the event has no enrichment of that kind.
    static func rootEvent(
        of input: InputID, by user: UserID, on nag: NagID, in family: FamilyID, _ enrichment: Enrichment
    ) -> SQL {
        """
        SELECT i.event_id, i.kind = 'excuse' AS is_excuse,
               e.body = \(SQLJSON(enrichment.json)) AND e.source = \(enrichment.source) AS is_same
        FROM inputs i LEFT JOIN enrichments e
            ON e.family_id = i.family_id AND e.event_id = i.event_id AND e.kind = \(enrichment.kind.rawValue)
        WHERE i.family_id = \(family) AND i.user_id = \(user) AND i.id = \(input) AND i.nag_id = \(nag)
            AND i.event_id IS NOT NULL
        """
    }

    /// Reads the nag of an event that an input became, and whether the input was merged into another; no row for any
    /// other event.
    static func nagOfRootEvent(_ event: EventID, in family: FamilyID) -> SQL {
        """
        SELECT i.nag_id, EXISTS (
            SELECT FROM enrichments e WHERE e.family_id = i.family_id AND e.event_id = i.event_id AND e.kind = 'merge'
        ) AS is_merged
        FROM inputs i WHERE i.family_id = \(family) AND i.event_id = \(event)
        """
    }

    /// Part of an act: stores an enrichment.
    static func insert(_ enrichment: Enrichment, of event: EventID, at now: Timestamp) -> SQL {
        """
        INSERT INTO enrichments (family_id, event_id, kind, body, source, made_at)
        SELECT family_id, \(event), \(enrichment.kind.rawValue), \(SQLJSON(enrichment.json)), \(enrichment.source), \(now)
        FROM ledger_stamp
        """
    }
}
