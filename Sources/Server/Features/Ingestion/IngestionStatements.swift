import Contract
import Domain
import SQL

/// Every statement on inputs and enrichments.
enum IngestionStatements {
    /// The results of a member's inputs with those ids.
    static func results(_ ids: [InputID], of user: UserID, in family: FamilyID) -> SQL {
        """
        SELECT id, outcome, event_id, code, message, fingerprint FROM inputs
        WHERE family_id = \(family) AND user_id = \(user) AND id = ANY(\(SQLList(ids)))
        """
    }

    /// Part of an act: stores an input with its result.
    /// - Parameter nag: what it is about; nil for a new nag that was not created.
    static func insert(
        _ input: Provenance, _ kind: InputAct.Kind, by user: UserID, on nag: NagID?, at now: Timestamp,
        outcome: InputOutcome, refusal: InputRefusal?
    ) -> SQL {
        """
        INSERT INTO inputs (family_id, user_id, id, kind, nag_id, source, made_at, received_at, fingerprint, outcome,
                            event_id, code, message)
        SELECT family_id, \(user), \(input.id), \(kind.rawValue), \(nag), \(input.source), \(input.madeAt), \(now),
               \(input.fingerprint), \(outcome.rawValue), \(outcome == .applied ? input.event : nil),
               \(refusal?.code.rawValue), \(refusal?.message)
        FROM ledger_stamp
        """
    }

    /// The event that a person's input on a nag became, and its enrichment of that kind.
    static func root(
        of input: InputID, by user: UserID, on nag: NagID, in family: FamilyID, _ kind: Enrichment.Kind
    ) -> SQL {
        """
        SELECT i.event_id, e.body->>'category' AS category, e.source
        FROM inputs i LEFT JOIN enrichments e
            ON e.family_id = i.family_id AND e.event_id = i.event_id AND e.kind = \(kind.rawValue)
        WHERE i.family_id = \(family) AND i.user_id = \(user) AND i.id = \(input) AND i.nag_id = \(nag)
            AND i.event_id IS NOT NULL
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
