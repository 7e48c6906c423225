import Contract
import Domain
import Postgres

/// What drafts do when they are executed: the acts of the features that do the same without a draft.
///
/// Whoever these features refuse may neither approve, confirm nor execute the draft.
struct DraftEffects {
    let nags: Nags

    /// - Returns: the act that carries the draft out for this member, and what it makes or changes; or why they may not.
    func decide(
        _ draft: DraftResponse, by member: Member, _ caller: Caller, _ queries: any Queries
    ) async throws -> Decision<ResourceID> {
        switch draft.body {
        case .suggestedNag(let nag):
            let order = NagCreate(
                familyID: draft.familyID, recipientID: nag.recipientID, dueAt: nag.dueAt, category: nag.category,
                doneDefinition: nag.doneDefinition, description: nag.description)
            return try await nags.creation(of: order, by: member, caller, queries).map { $0.id.retyped() }
        case .dueChange(let change):
            guard let nag = draft.nagID else { throw NagView.notFound }
            let view = try await nags.view(caller, nag, queries)
            guard view.nag.familyID == draft.familyID else { throw NagView.notFound }
            return try await nags.change(view, by: NagUpdate(dueAt: change.dueAt), at: caller.now, queries)
                .map { $0.id.retyped() }
        }
    }
}

extension Decision {
    /// The same decision with another answer.
    func map<Other>(_ transform: (Answer) -> Other) -> Decision<Other> {
        switch self {
        case .perform(let act, let answer): .perform(act, transform(answer))
        case .refuse(let act, let refusal): .refuse(act, refusal)
        case .refuseAgain(let refusal): .refuseAgain(refusal)
        case .answer(let answer): .answer(transform(answer))
        }
    }
}
