import Audit
import Contract
import Domain
import JSON
import Postgres
import SQL

/// A classification of an input: codes and numbers, never a person's words.
///
/// It belongs to the event that the input became, at most one of each kind. The rules classify an excuse in the act
/// that submits it; a device's own classification comes later with its outbox. There is no background work.
struct Enrichment: Sendable {
    /// The kinds; an input has at most one of each.
    enum Kind: String, Sendable, CaseIterable { case classification, summary, relation, merge }

    let kind: Kind
    let source: StoredSource
    let body: JSONObject

    var json: String { JSONValue.object(body).description }

    /// The category of an excuse: by the rules, or by the author's own device.
    static func classification(_ category: ExcuseCategory, confidence: Double, source: StoredSource) -> Enrichment {
        Enrichment(
            kind: .classification, source: source,
            body: ["category": .string(category.rawValue), "confidence": .double(confidence)])
    }
}

extension Ingestion {
    /// Stores a device's classification of an earlier input of its person, and shows it in the feed in the same act. A
    /// second one of the same kind changes nothing.
    /// - Throws: 403 without the consent `ai_mediation`, 404 where the person submitted no such input on the nag.
    func classify(
        _ earlier: InputID, as category: ExcuseCategory, on nag: NagID, _ input: Provenance, from caller: Caller,
        in family: FamilyID
    ) async throws -> InputResult {
        let finding = Enrichment.classification(category, confidence: 1, source: input.source)
        let answer: OutboxAnswer = try await nags.decide(caller, on: nag, .read) { view, queries in
            let gate = try await queries.query(NagStatements.excuseGate(caller.userID, in: family)).one()
            guard try gate["has_consent"] else {
                throw APIError(
                    .authorizationDenied, "Classifying needs the consent ai_mediation.",
                    reason: ErrorReason.consentMissing)
            }
            let rows = try await queries.query(
                IngestionStatements.root(of: earlier, by: caller.userID, on: nag, in: family, finding.kind))
            guard let row = rows.first else { throw APIError(.notFound, "There is no such input on this nag.") }
            let root: EventID = try row["event_id"]
            func result(_ outcome: InputOutcome) -> OutboxAnswer {
                let event = outcome == .applied ? root : nil
                return OutboxAnswer(results: [
                    InputResult(clientID: input.id, outcome: outcome, eventID: event, error: nil)
                ])
            }
            if let known: String = try row["category"] {
                // The same classification again gets the first answer again.
                let isSame = try known == category.rawValue && row["source"] == input.source.rawValue
                return .answer(result(isSame ? .applied : .alreadyDone))
            }
            var act = view.act(
                .inputEnriched, details: ["kind": finding.kind.rawValue, "source": finding.source.rawValue],
                statements: [
                    IngestionStatements.insert(finding, of: root, at: caller.now),
                    NagStatements.append(
                        .inputEnriched, input.event, to: nag, from: view.nag.creatorID,
                        for: view.nag.recipientID, by: caller.userID, at: caller.now,
                        ["of": root.description, "kind": finding.kind.rawValue, "category": category.rawValue],
                        source: input.source),
                ])
            act.resource = root.retyped()
            return .perform(act, result(.applied))
        }
        return answer.results[0]
    }
}
