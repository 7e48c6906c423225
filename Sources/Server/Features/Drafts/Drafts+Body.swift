import Audit
import Contract
import Domain
import NagzAI
import Postgres
import TimeZones

extension Drafts {
    /// What the constraints say of the author's words. A prompt to confirm is a warning here: nothing happens before a
    /// person has approved and confirmed the draft.
    static func warnings(
        about text: String, _ settings: AISettings, _ engine: PolicyEngine, _ caller: Caller
    ) throws(ExecutionRefusal) -> [String] {
        // Constraints see no operation; this one is about a person's words, too.
        let question = Question(
            id: QuestionID(high: 0, low: 0), operation: .summarizeExcuse, content: text,
            privacyLevel: settings.privacyLevel, askedAt: caller.now)
        let policy = try ExecutionPermit(
            question, ExecutionOptions(), settings.mode, engine, ReachableModels(), trace: caller.context.trace
        ).policy
        return policy.warnings + [policy.confirmation].compactMap(\.self)
    }

    static func refuse<Answer>(
        _ refusal: ExecutionRefusal, to member: Member, _ caller: Caller
    ) -> Decision<Answer> {
        var details: AuditBody = ["operation": "draft", "error_code": refusal.code.rawValue]
        details["constraint"] = refusal.constraint?.description
        return .refuse(
            Act(
                kind: .aiExecutionRefused, basis: .rightsUnchanged(since: member.seq), actor: member.pseudonym,
                details: details, stampedRows: 0), refusal.error(trace: caller.context.trace))
    }

    /// The body that the client gives, or what the rules make of the request: the one place that drafts.
    func body(
        _ order: DraftCreate, _ member: Member, _ caller: Caller, _ queries: any Queries
    ) async throws -> Decision<DraftBody> {
        if let body = order.body { return .answer(body) }
        let zone = services.zones.zone(member.timeZone)
        switch order.kind {
        case .suggestedNag:
            let text = try Self.words(of: order)
            let rows = try await queries.query(AIStatements.digestMembers(of: member.familyID, subject: nil))
            let members = try rows.map { row throws(PostgresError) in
                IntentFacts.Member(id: try row["user_id"], name: try row["display_name"] ?? "")
            }
            let nag = DraftedNag(
                reading: text, IntentFacts(author: member.userID, members: members, now: caller.now, zone: zone))
            return .answer(
                .suggestedNag(
                    SuggestedNag(
                        recipientID: nag.recipient, category: nag.category, description: nag.description,
                        dueAt: nag.dueAt, doneDefinition: nag.doneDefinition)))
        case .dueChange:
            guard let due = DueTimeReader(now: caller.now, zone: zone).dueAt(in: try Self.words(of: order)) else {
                throw APIError(.validationFailed, "The words name no time, such as: tomorrow at 5.", field: "text")
            }
            return .answer(.dueChange(DueChange(dueAt: due)))
        case .pushBack:
            guard let nag = order.nagID else { throw NagView.notFound }
            return try await effects.pushBack(on: nag, caller, queries).map {
                .pushBack(PushBackMessage(message: $0.message ?? ""))
            }
        case .consequence:
            throw APIError(.validationFailed, "Give the rule and what it promises: body.", field: "body")
        }
    }

    private static func words(of order: DraftCreate) throws(APIError) -> String {
        guard let text = order.text else {
            throw APIError(.validationFailed, "Give the words to draft from, or the body.", field: "text")
        }
        return text
    }
}

extension DraftBody {
    /// Times as clients see them, so that what is shown is what runs.
    var flooredToMillisecond: DraftBody {
        switch self {
        case .suggestedNag(var nag):
            nag.dueAt = nag.dueAt.flooredToMillisecond
            return .suggestedNag(nag)
        case .dueChange(let change):
            return .dueChange(DueChange(dueAt: change.dueAt.flooredToMillisecond))
        case .pushBack, .consequence: return self
        }
    }
}
