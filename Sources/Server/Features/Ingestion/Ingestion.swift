import Audit
import Contract
import Domain
import Postgres
import Reactor
import SQL

/// Accepts imports and the outboxes of devices. Each input of an outbox that is applied becomes one event of the feed,
/// with its provenance, in the same act as its consequences. Each new item of an import becomes a draft, which people
/// may execute.
///
/// The use case in `Nags` decides whether an input is allowed, as for a request.
final class Ingestion {
    let services: Services
    let nags: Nags
    let drafts: Drafts

    init(_ services: Services, _ nags: Nags, _ drafts: Drafts) {
        self.services = services
        self.nags = nags
        self.drafts = drafts
    }

    /// Registers the operations of the tag `ingestion`, and the upload of a device's outbox, of the tag `sync`.
    func register(in routes: RouteTable) {
        routes.signedIn(API.uploadEvents, upload)
        routes.signedIn(API.importNags, importNags)
        routes.signedIn(API.getImport, drafts.getImport)
        routes.signedIn(API.approveImport, drafts.approveImport)
        routes.signedIn(API.confirmImport, drafts.confirmImport)
        routes.signedIn(API.executeImport, drafts.executeImport)
    }

    /// Applies the items in order, each once. An item that has a stored result is not applied again, and returns that
    /// result. An item that is refused does not end the request, but a fault, a rate limit or the end of the session
    /// does; the items applied before it stay applied, and return the same results next time.
    func upload(
        _ caller: Caller, _ call: Call<NoParameters, OutboxUpload>
    ) async throws -> OutboxAnswer {
        // Each item has an id of its own; the request's idempotency key would belong to the first act only.
        let caller = caller.withoutConditions
        let (family, items) = (call.body.familyID, call.body.items)
        _ = try await services.access.member(caller, of: family, services.database)
        let storedResults = try await results(items.map(\.clientID), of: caller.userID, in: family, services.database)
        var results: [InputResult] = []
        for item in items {
            let input = Provenance(item, of: family, event: services.random.identifier(at: caller.now))
            if let stored = storedResults[item.clientID] {
                results.append(stored.result(for: input))
            } else {
                results.append(try await process(item, input, from: caller, in: family))
            }
        }
        return OutboxAnswer(results: results)
    }

    /// Applies an item that has no stored result. A refusal that a retry would get again becomes the item's result.
    private func process(
        _ item: OutboxItem, _ input: Provenance, from caller: Caller, in family: FamilyID
    ) async throws -> InputResult {
        if let enrichment = Enrichment(item.act, source: input.source), let earlierInput = item.act.enrichedInput,
            let nag = item.nagID
        {
            return try await enrich(input) {
                try await append(enrichment, to: earlierInput, on: nag, input, from: caller, in: family)
            }
        }
        do {
            if case .nag(let request) = item.act,
                input.denialOfDictation(about: request.recipientID, by: caller.userID) != nil
            {
                return try await createDraft(of: request, input, from: caller, in: family)
            }
            try await apply(item, input, from: caller, in: family)
            if let stored = try await storedResult(of: input, from: caller, in: family) { return stored }
            return try await storeResult(input, item, .alreadyDone, nil, from: caller, in: family)
        } catch let error as PostgresError where error.violates(.inputID) {
            // Another request applied the same item at the same time: its result is the answer.
            if let stored = try await storedResult(of: input, from: caller, in: family) { return stored }
            throw error
        } catch let refusal as APIError where refusal.isFinal {
            let outcome: InputOutcome = refusal.status == 409 ? .conflict : .refused
            return try await storeResult(
                input, item, outcome, InputRefusal(refusal), from: caller, in: family)
        }
    }

    /// Performs an enrichment. A refusal that a retry would get again becomes its result. It is not stored as an input,
    /// because its result follows from stored data.
    private func enrich(
        _ input: Provenance, _ work: () async throws -> InputResult
    ) async throws -> InputResult {
        do {
            return try await work()
        } catch let refusal as APIError where refusal.isFinal {
            return InputResult(
                clientID: input.id, outcome: .refused, eventID: nil,
                error: InputRefusal(refusal))
        }
    }

    /// Performs the operation that an item stands for, as its request would.
    private func apply(
        _ item: OutboxItem, _ input: Provenance, from caller: Caller, in family: FamilyID
    ) async throws {
        if case .nag(let request) = item.act {
            return try await nags.create(request, in: family, by: caller, as: input)
        }
        guard let nag = item.nagID else { throw APIError.inputNeedsNag }
        func call<Body>(_ body: Body) -> Call<NagPath, Body> {
            Call(NagPath(nagID: nag), body)
        }
        switch item.act {
        case .status(let status, let note):
            _ = try await nags.updateStatus(caller, call(NagStatusUpdate(status: status, note: note)), as: input)
        case .excuse(let text, let category):
            _ = try await nags.submitExcuse(
                caller, call(ExcuseCreate(text: text, category: category?.rawValue)), as: input)
        case .note(let text):
            try await nags.addNote(text, caller, to: nag, as: input)
        case .nag, .classification, .summary, .relation, .merge: break
        }
    }

    // MARK: Stored results

    /// The largest number of inputs per person and hour that are stored although they were not applied.
    private static let maxUnappliedPerPersonAndHour = 200

    /// Stores the result of an input that was not applied, so that a retry gets the same answer. Beyond
    /// `maxUnappliedPerPersonAndHour` the result is returned but not stored, and a retry is decided again.
    private func storeResult(
        _ input: Provenance, _ item: OutboxItem, _ outcome: InputOutcome, _ refusal: InputRefusal?,
        from caller: Caller, in family: FamilyID
    ) async throws -> InputResult {
        let result = InputResult(clientID: item.clientID, outcome: outcome, eventID: nil, error: refusal)
        do {
            let _: OutboxAnswer = try await services.ledger.write(caller, in: family) { queries in
                let member = try await services.access.member(caller, of: family, queries)
                let counter = RefusalCount(ofInputsBy: member.pseudonym, in: family)
                let count = try await counter.incrementIfStarted(at: caller.now, queries)
                if count ?? 1 > Self.maxUnappliedPerPersonAndHour { return .answer(OutboxAnswer(results: [result])) }
                guard let kind = InputKind(item.act.kind) else { return .answer(OutboxAnswer(results: [result])) }
                var details: AuditBody = ["kind": kind.rawValue, "outcome": outcome.rawValue]
                details.merge(input.auditDetails)
                if let refusal { details["code"] = refusal.code.rawValue }
                let act = Act(
                    kind: .inputNotApplied, basis: .rightsUnchanged(since: member.seq), actor: member.pseudonym,
                    resource: item.nagID?.retyped(), details: details, stampedRows: 0,
                    statements: [
                        IngestionStatements.insert(
                            input, kind, by: caller.userID, on: item.nagID, at: caller.now, outcome: outcome,
                            refusal: refusal)
                    ] + (count == nil ? [counter.insert(at: caller.now)] : []))
                return .perform(act, OutboxAnswer(results: [result]))
            }
            return result
        } catch let error as PostgresError where error.violates(.inputID) {
            return try await self.storedResult(of: input, from: caller, in: family) ?? result
        }
    }

    private func storedResult(
        of input: Provenance, from caller: Caller, in family: FamilyID
    ) async throws -> InputResult? {
        try await results([input.id], of: caller.userID, in: family, services.database)[input.id]?.result(for: input)
    }

    /// Returns the stored results of a person's inputs by their IDs.
    func results(
        _ ids: [InputID], of user: UserID, in family: FamilyID, _ queries: any Queries
    ) async throws -> [InputID: StoredInputResult] {
        let rows = try await queries.query(IngestionStatements.results(ids, of: user, in: family))
        let stored = try rows.map { row throws(PostgresError) in try StoredInputResult(row) }
        return Dictionary(stored.map { ($0.id, $0) }) { first, _ in first }
    }
}

extension APIError {
    /// Whether a retry would be refused again, unlike after faults, rate limits or the end of the session.
    fileprivate var isFinal: Bool { (400..<500).contains(status) && status != 401 && status != 429 }
}
