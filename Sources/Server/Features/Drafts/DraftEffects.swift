import Audit
import Contract
import Domain
import NagzAI
import Postgres

/// The effects of executed drafts: the acts of the features that do the same without a draft.
///
/// Whoever these features refuse may neither approve, confirm nor execute the draft.
struct DraftEffects {
    let services: Services
    let nags: Nags
    let incentives: Incentives
    let mediator: Mediator

    /// Decides about the execution of a draft by a member.
    /// - Returns: the act that carries out the draft, and the ID of the row that it creates or changes; or the refusal.
    func decide(
        _ draft: DraftResponse, by member: Member, _ caller: Caller, _ queries: any Queries
    ) async throws -> Decision<ResourceID> {
        let input = Provenance(
            StoredSource(draft.source), at: caller.now, event: services.random.identifier(at: caller.now))
        switch draft.body {
        case .suggestedNag(let nag):
            let request = NagCreate(
                familyID: draft.familyID, recipientID: nag.recipientID, dueAt: nag.dueAt, category: nag.category,
                doneDefinition: nag.doneDefinition, description: nag.description)
            return try await nags.decideCreation(of: request, by: member, as: input, caller, queries)
                .map { $0.id.retyped() }
        case .dueChange(let change):
            let view = try await nag(of: draft, caller, queries)
            let changes = NagUpdate(dueAt: change.dueAt)
            return try await nags.change(
                view, by: changes, as: input, at: caller.now, queries
            ).map { $0.id.retyped() }
        case .pushBack(let push):
            return try await decidePushBack(push.message, draft, caller, queries)
        case .consequence(let consequence):
            let view = try await nag(of: draft, caller, queries)
            return try await incentives.decideGrant(consequence, on: view, by: member, at: caller.now, queries)
                .map { $0.retyped() }
        case .digest(let digest):
            return try await decideDigest(digest, draft, by: member, caller, queries)
        }
    }

    /// Returns the nag that a draft is about, as the caller sees it.
    private func nag(
        of draft: DraftResponse, _ caller: Caller, _ queries: any Queries
    ) async throws -> NagView {
        guard let nag = draft.nagID else { throw APIError.noSuchNag }
        let view = try await nags.view(caller, nag, queries)
        guard view.nag.familyID == draft.familyID else { throw APIError.noSuchNag }
        return view
    }

    /// Decides about sending a push-back, within the mediator's limits. Sending counts as one push-back, unless the
    /// evaluation was counted already.
    private func decidePushBack(
        _ message: String, _ draft: DraftResponse, _ caller: Caller, _ queries: any Queries
    ) async throws -> Decision<ResourceID> {
        let view = try await nag(of: draft, caller, queries)
        let countedAt = draft.isCountedPushBack ? draft.createdAt : nil
        let evaluation = try await evaluatePushBack(on: view.nag.id, countedAt: countedAt, caller, queries)
        guard case .answer(let response) = evaluation else { return evaluation.map { $0.nagID.retyped() } }
        var (act, event) = nags.pushBackAct(message, on: view, source: StoredSource(draft.source), at: caller.now)
        guard countedAt == nil else { return .perform(act, event.retyped()) }
        act.statements.append(
            AIStatements.insertAnswer(
                services.random.identifier(at: caller.now), view.nag.id, AIOperationID.pushBack.rawValue,
                response.tone ?? .neutral, message, onBehalfOf: caller.userID))
        return .perform(act, event.retyped())
    }

    /// Evaluates whether the rules allow a push-back on the nag now.
    /// - Parameter countedAt: the time at which this push-back was counted; nil if it was not counted yet.
    /// - Throws: 409 with the rules' reason, where they allow no push-back.
    func evaluatePushBack(
        on nag: NagID, countedAt: Timestamp? = nil, _ caller: Caller, _ queries: any Queries
    ) async throws -> Decision<PushBackResponse> {
        let consultation = try await mediator.consult(caller, on: nag, .askForPushBack, .full, queries)
        if let denial = consultation.denial { return consultation.refuse(.aiPushBackDenied, denial) }
        var snapshot = consultation.snapshot
        if let countedAt { snapshot.facts = snapshot.facts.removingPushBack(at: countedAt) }
        let response = services.heuristics.pushBack(for: snapshot).response
        guard response.shouldPushBack else { throw APIError.pushBackIsLimited(response.reason) }
        return .answer(response)
    }
}

extension Decision {
    /// Returns the same decision with another answer.
    func map<Other>(_ transform: (Answer) -> Other) -> Decision<Other> {
        switch self {
        case .perform(let act, let answer): .perform(act, transform(answer))
        case .refuse(let act, let refusal): .refuse(act, refusal)
        case .refuseAgain(let refusal): .refuseAgain(refusal)
        case .answer(let answer): .answer(transform(answer))
        }
    }
}
