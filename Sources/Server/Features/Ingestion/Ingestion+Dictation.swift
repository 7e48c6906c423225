import Audit
import Contract
import Domain
import Postgres

extension Ingestion {
    /// Creates a draft of a nag that a person dictated for somebody else. Dictated words may only create drafts.
    /// - Throws: 403 without the consent `ai_mediation` or with the AI off, 404 for a recipient who is not a member,
    ///   422 for content that a draft cannot have, and for a due time that is not in the future or is too far
    ///   ahead.
    func createDraft(
        of request: NagCreate, _ input: Provenance, from caller: Caller, in family: FamilyID
    ) async throws -> InputResult {
        let nag = try SuggestedNag(dictated: request)
        let answer: OutboxAnswer = try await services.ledger.write(caller, in: family) { queries in
            let member = try await services.access.member(caller, of: family, queries)
            try Requester.requireAIAllowed(
                try await queries.query(AIStatements.permission(member.userID, in: family)).onlyRow())
            guard nag.dueAt.flooredToMillisecond > caller.now else {
                throw APIError.dueTimeIsInvalid(DueTimeLimit.pastMessage)
            }
            let body = DraftBody.suggestedNag(nag)
            try body.requireDueTimeWithinLimit(now: caller.now)
            let recipients = try await queries.query(
                MembershipStatements.activeMembers(among: [nag.recipientID], in: family))
            guard !recipients.isEmpty else {
                throw APIError.noSuchMember
            }
            let draft = drafts.makeClientDraft(
                body, id: services.random.identifier(at: caller.now), from: .voice, by: member,
                caller.context)
            let result = InputResult(
                clientID: input.id, outcome: .drafted, eventID: nil, draftID: draft.id, error: nil)
            let insertion = IngestionStatements.insert(
                input, .nag, by: caller.userID, on: nil, at: caller.now, outcome: .drafted, draft: draft.id)
            var act = try await drafts.creationAct(draft, by: member, [insertion], at: caller.now, queries)
            act.details.merge(input.auditDetails)
            return .perform(act, OutboxAnswer(results: [result]))
        }
        return answer.results[0]
    }
}

extension SuggestedNag {
    /// Creates the content of a draft from a dictated nag.
    /// - Throws: 422 for content that a draft cannot have.
    fileprivate init(dictated request: NagCreate) throws(APIError) {
        guard request.recurrence == nil, request.policyID == nil, request.attachmentIDs.isEmpty else {
            throw APIError.dictationDoesNotFitDraft
        }
        guard request.description?.unicodeScalars.count ?? 0 <= Self.maxDescriptionLength else {
            throw APIError.dictationIsTooLong(limit: Self.maxDescriptionLength)
        }
        self.init(
            recipientID: request.recipientID, category: request.category, description: request.description,
            dueAt: request.dueAt, doneDefinition: request.doneDefinition)
    }
}
