import Contract
import Domain
import JSON
import Postgres
import Reactor
import SQL

/// Something found out about an input: codes and numbers, never a person's words.
struct Enrichment: Sendable {
    /// What kinds there are; an input has at most one of each.
    enum Kind: String, Sendable, CaseIterable { case classification, summary, relation, merge }

    let kind: Kind
    let source: StoredSource
    let body: JSONObject

    var json: String { JSONValue.object(body).description }

    /// The category of an excuse: the system's finding, or the author's own device's.
    static func classification(_ category: ExcuseCategory, confidence: Double, source: StoredSource) -> Enrichment {
        Enrichment(
            kind: .classification, source: source,
            body: ["category": .string(category.rawValue), "confidence": .double(confidence)])
    }
}

extension Ingestion {
    /// Hangs a finding on the event an input became. The second of a kind changes nothing.
    /// - Returns: whether it was new.
    /// - Throws: 404 when no input became that event.
    @discardableResult
    func append(
        _ enrichment: Enrichment, to event: EventID, in family: FamilyID, at now: Timestamp
    ) async throws -> Bool {
        let context = CallContext(
            now: now, trace: backend.random.identifier(at: now), request: backend.random.identifier(at: now),
            idempotency: nil, ifMatch: nil)
        let answer: StatusAnswer = try await backend.ledger.write(context, in: family) { queries in
            let rows = try await queries.query(IngestionStatements.root(event, in: family, enrichment.kind))
            guard let row = rows.first else { throw APIError(.notFound, "There is no such input.") }
            guard try !row["is_enriched"] else { return .answer(StatusAnswer(status: "known")) }
            let act = Act(
                kind: "input.enriched", basis: .nothingChanged(since: try row["seq"]),
                actor: SystemActor.mediator, subject: try row["pseudonym"], resource: event.retyped(),
                details: ["kind": enrichment.kind.rawValue, "source": enrichment.source.rawValue], stampedRows: 0,
                rows: [IngestionStatements.insert(enrichment, of: event, at: now)])
            return .perform(act, StatusAnswer(status: "new"))
        }
        return answer.status == "new"
    }
}
