import Audit
import Contract
import Domain
import Postgres

/// Makes a draft of a recipient's request to move a nag further than a snooze may, for the nag's creator to decide on.
///
/// The request is refused all the same: the refusal and the draft are one act.
struct DueChangeDrafting {
    let services: Services
    let caller: Caller

    /// Refuses the move. The refusal names the draft that proposes it: a new one, or the open one of an equal request.
    /// - Throws: the refusal without a draft where none can be made: the nag is of a connection, the consent or the
    ///   person's preference for the AI is missing, the time is too far ahead, or the day's limit of drafts is reached.
    func refuseWithDraft<Answer>(
        _ refusal: APIError, moving view: NagView, to dueAt: Timestamp, as input: Provenance, _ queries: any Queries
    ) async throws -> Decision<Answer> {
        let (family, now) = (view.ledgerID, caller.now)
        guard view.nag.familyID == family, !DueTimeLimit.isTooFar(dueAt, now: now) else { throw refusal }
        var draft = DraftResponse(
            id: services.random.identifier(at: now), familyID: family, nagID: view.nag.id, authorID: view.userID,
            source: DraftSource(input.source), body: .dueChange(DueChange(dueAt: dueAt)), contextIDs: [], citations: [],
            model: DraftResponse.clientModel, confidence: nil, warnings: [],
            progress: DraftProgress(expiresAt: now + DraftLimit.lifetime), traceID: caller.context.trace, createdAt: now
        )
        draft.addresseeID = view.nag.creatorID
        draft.bodyHash = services.hash(of: draft.body)
        do {
            try Requester.requireAIAllowed(
                try await queries.query(AIStatements.permission(view.userID, in: family)).onlyRow())
            if let duplicate = try await queries.query(DraftStatements.openDuplicate(of: draft, at: now)).first {
                throw refusal.proposing(try duplicate["id"])
            }
            let count = try await DailyCount(limit: .draftSteps, user: view.userID).checkedIncrement(at: now, queries)
            let act = Act(
                kind: .draftCreated, basis: .nothingChanged(since: view.seq), actor: view.pseudonym,
                resource: draft.id.retyped(), details: draft.auditDetails, stampedRows: 0,
                statements: [DraftStatements.insert(draft), count])
            return .refuse(act, refusal.proposing(draft.id))
        } catch let error as APIError where error.isAIForbidden || error.code == .rateLimited {
            throw refusal
        }
    }
}
