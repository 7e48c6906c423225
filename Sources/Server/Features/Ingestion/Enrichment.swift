import Audit
import Contract
import Domain
import JSON
import Postgres
import SQL

/// A finding about an input, appended to the root event that the input became. A root event has at most one of each
/// kind, and an enrichment never changes.
///
/// The rules classify an excuse in the act that submits it; the findings of a person's device are uploaded later with
/// its outbox. The server computes none in the background. Only a summary contains a person's words. The feed's events
/// contain no summary of an excuse, because not everybody who reads the feed may read excuses.
struct Enrichment: Sendable {
    /// The kind of finding: the category of an excuse, a summary of the words, a relation to another input, or a merge
    /// into another input.
    enum Kind: String, Sendable, CaseIterable { case classification, summary, relation, merge }

    let kind: Kind
    let source: StoredSource
    let body: JSONObject
    /// Another root event of the family, to which this one is related or into which it is merged.
    var relatedEvent: EventID?

    var json: String { JSONValue.object(body).description }

    /// Returns the category of an excuse as an enrichment. The rules or the author's own device have chosen it.
    static func classification(_ category: ExcuseCategory, confidence: Double, source: StoredSource) -> Enrichment {
        Enrichment(
            kind: .classification, source: source,
            body: ["category": .string(category.rawValue), "confidence": .double(confidence)])
    }

    /// Creates an enrichment from a device's finding; nil for other inputs.
    /// - Parameter source: the source of the words that the device read.
    init?(_ act: InputAct, source: StoredSource) {
        switch act {
        case .classification(_, let category):
            self = .classification(category, confidence: 1, source: source)
        case .summary(_, let text):
            self.init(kind: .summary, source: source, body: ["text": .string(text)])
        case .relation(_, let other):
            self.init(kind: .relation, source: source, body: ["to": .string(other.description)], relatedEvent: other)
        case .merge(_, let other):
            self.init(kind: .merge, source: source, body: ["into": .string(other.description)], relatedEvent: other)
        case .status, .excuse, .note, .nag: return nil
        }
    }

    private init(kind: Kind, source: StoredSource, body: JSONObject, relatedEvent: EventID? = nil) {
        self.kind = kind
        self.source = source
        self.body = body
        self.relatedEvent = relatedEvent
    }

    /// Returns the payload of the enrichment's event in the feed, for everybody who may read the nag.
    /// - Parameters:
    ///   - root: the event that the enrichment is appended to.
    ///   - isExcuse: whether that event is an excuse.
    ///   - sharesNag: whether the related event belongs to the same nag, and so has the same readers.
    func payload(of root: EventID, isExcuse: Bool, sharesNag: Bool) -> [String: String] {
        var payload = ["of": root.description, "kind": kind.rawValue]
        switch kind {
        case .classification: payload["category"] = body["category"]?.stringValue
        case .summary: payload["text"] = isExcuse ? nil : body["text"]?.stringValue
        case .relation: payload["to"] = sharesNag ? relatedEvent?.description : nil
        case .merge: payload["into"] = sharesNag ? relatedEvent?.description : nil
        }
        return payload
    }
}

extension InputAct {
    /// The earlier input that this one enriches; nil for an input of another kind.
    var enrichedInput: InputID? {
        switch self {
        case .classification(let input, _), .summary(let input, _), .relation(let input, _), .merge(let input, _): input
        case .status, .excuse, .note, .nag: nil
        }
    }
}

extension Ingestion {
    /// Appends a device's finding about an earlier input of the same person, with an event in the feed. A second
    /// finding of the same kind changes nothing.
    /// - Throws: 403 without the consent `ai_mediation`, 404 if the person has no such input on the nag or may not see
    ///   the related one, 409 for a merge into an input that was merged itself, 422 for a relation of an input to
    ///   itself or a merge into itself.
    func append(
        _ enrichment: Enrichment, to earlierInput: InputID, on nag: NagID, _ input: Provenance, from caller: Caller,
        in family: FamilyID
    ) async throws -> InputResult {
        let answer: OutboxAnswer = try await nags.decideAndPerform(caller, on: nag, .read) { view, queries in
            let permission = try await queries.query(
                NagStatements.excusePermission(caller.userID, in: family)
            ).onlyRow()
            guard try permission["has_consent"] else { throw APIError.aiConsentIsMissing }
            let rows = try await queries.query(
                IngestionStatements.rootEvent(of: earlierInput, by: caller.userID, on: nag, in: family, enrichment))
            guard let row = rows.first else { throw APIError.noSuchInput }
            let root: EventID = try row["event_id"]
            func result(_ outcome: InputOutcome) -> OutboxAnswer {
                let event = outcome == .applied ? root : nil
                return OutboxAnswer(results: [
                    InputResult(clientID: input.id, outcome: outcome, eventID: event, error: nil)
                ])
            }
            if let isSame: Bool = try row["is_same"] {
                // A repeated finding gets the first answer; another finding of that kind is not applied.
                return .answer(result(isSame ? .applied : .alreadyDone))
            }
            var sharesNag = false
            var details: AuditBody = ["kind": enrichment.kind.rawValue, "source": enrichment.source.rawValue]
            if let other = enrichment.relatedEvent {
                guard other != root else { throw APIError.inputRelatesToItself }
                sharesNag = try await self.nag(of: other, for: enrichment, caller, in: family, queries) == nag
                details["other"] = other.description
            }
            let payload = enrichment.payload(of: root, isExcuse: try row["is_excuse"], sharesNag: sharesNag)
            var act = view.act(
                .inputEnriched, details: details,
                statements: [
                    IngestionStatements.insert(enrichment, of: root, at: caller.now),
                    NagStatements.insertEvent(
                        .inputEnriched, input.event, to: nag, from: view.nag.creatorID,
                        for: view.nag.recipientID, by: caller.userID, at: caller.now, payload, source: input.source),
                ])
            act.resource = root.retyped()
            return .perform(act, result(.applied))
        }
        return answer.results[0]
    }

    /// Returns the nag of a related root event.
    /// - Throws: 404 unless the caller may read that nag, 409 for a merge into an input that was merged itself.
    private func nag(
        of other: EventID, for enrichment: Enrichment, _ caller: Caller, in family: FamilyID, _ queries: any Queries
    ) async throws -> NagID {
        guard let row = try await queries.query(IngestionStatements.nagOfRootEvent(other, in: family)).first else {
            throw APIError.noSuchOtherInput
        }
        let nag: NagID = try row["nag_id"]
        let view = try await nags.view(caller, nag, queries)
        guard view.nag.familyID == family, RoleMatrix.denial(of: .read, by: view.part) == nil else {
            throw APIError.noSuchOtherInput
        }
        if enrichment.kind == .merge, try row["is_merged"] {
            throw APIError.otherInputWasMerged
        }
        return nag
    }
}
