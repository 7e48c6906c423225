import Audit
import Contract
import Domain
import NagzAI
import Postgres

/// Makes a draft of a push-back that was evaluated, in the act of the evaluation; its requester can send it.
///
/// The evaluation counts as a push-back. The draft cites it, so that sending the draft does not count as another one.
package struct PushBackDrafting {
    let services: Services

    /// Adds the draft to the evaluation's answer and act. It adds none where the rules allow no push-back, where the
    /// text is too long for a draft's message, and for a nag of a connection, because connections have no drafts.
    /// - Throws: 429 if the person has reached the daily limit of steps of drafts.
    func add<Response>(
        to evaluation: RecordedAnswer<Response>, _ attempt: ExecutionAttempt, _ queries: any Queries
    ) async throws {
        guard let response = evaluation.answer.response as? PushBackResponse, response.shouldPushBack,
            let message = response.message, DraftLimit.messageLengths.contains(message.unicodeScalars.count),
            let nag = attempt.nag, attempt.ledger == attempt.requester.settings.homeFamily
        else { return }
        let (event, author, report) = (evaluation.event, evaluation.author, evaluation.report)
        let (caller, now) = (attempt.caller, attempt.caller.now)
        var draft = DraftResponse(
            id: services.random.identifier(at: now), familyID: attempt.ledger, nagID: nag, authorID: caller.userID,
            source: .keyboard, body: .pushBack(PushBackMessage(message: message)), contextIDs: [event.retyped()],
            citations: [event.retyped()], model: author.draftModel, confidence: report.confidence,
            warnings: report.warnings, progress: DraftProgress(expiresAt: now + DraftLimit.lifetime),
            traceID: caller.context.trace, createdAt: now)
        draft.bodyHash = services.hash(of: draft.body)
        draft.fallbackReason = author.fallback?.text ?? DraftResponse.noFallback
        let count = DailyCount(limit: .draftSteps, user: caller.userID)
        evaluation.act.statements += [
            DraftStatements.insert(draft), try await count.checkedIncrement(at: now, queries),
        ]
        evaluation.act.details["draft"] = draft.id.description
        evaluation.act.details["draft_body_hash"] = draft.bodyHash
        evaluation.act.canMerge = false
        evaluation.answer.draftID = draft.id
    }
}

extension DraftResponse {
    /// Whether the draft sends a push-back that was already counted at its evaluation, when the draft was made.
    var isCountedPushBack: Bool { kind == .pushBack && citations.contains { $0 != nagID?.retyped() } }
}

extension NagFacts {
    /// Returns the facts without the push-back of a moment.
    func removingPushBack(at moment: Timestamp) -> NagFacts {
        var facts = self
        facts.cyclePushBacks.removeAll { $0 == moment }
        if facts.earlierPushBack == moment { facts.earlierPushBack = nil }
        return facts
    }
}

extension Authorship {
    /// The `model` of a draft by this author: the provider and, after a slash, the model's name if it has one.
    var draftModel: String { model.map { "\(provider.rawValue)/\($0)" } ?? provider.rawValue }
}
