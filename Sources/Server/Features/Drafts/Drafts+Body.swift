import Audit
import Contract
import Domain
import NagzAI
import Postgres
import TimeZones

extension Drafts {
    /// The body that the client gives, or what the rules make of the request: the one place that drafts.
    /// - Parameter modelled: what a model read in the words; nil where the rules read them.
    func body(
        _ order: DraftCreate, _ modelled: DraftedNag?, _ member: Member, _ caller: Caller, _ queries: any Queries
    ) async throws -> Decision<DraftBody> {
        if let body = order.body { return .answer(body) }
        switch order.kind {
        case .suggestedNag:
            let text = try Self.words(of: order)
            let facts = try await intentFacts(of: member, caller, queries)
            let nag = modelled ?? DraftedNag(reading: text, facts)
            return .answer(
                .suggestedNag(
                    SuggestedNag(
                        recipientID: nag.recipient, category: nag.category, description: nag.description,
                        dueAt: nag.dueAt, doneDefinition: nag.doneDefinition)))
        case .dueChange:
            let times = DueTimeReader(now: caller.now, zone: services.zones.zone(member.timeZone))
            guard let due = times.dueAt(in: try Self.words(of: order)) else {
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

    /// What words are read against.
    func intentFacts(
        of member: Member, _ caller: Caller, _ queries: any Queries
    ) async throws -> IntentFacts {
        let rows = try await queries.query(AIStatements.digestMembers(of: member.familyID, subject: nil))
        let members = try rows.map { row throws(PostgresError) in
            IntentFacts.Member(id: try row["user_id"], name: try row["display_name"] ?? "")
        }
        return IntentFacts(
            author: member.userID, members: members, now: caller.now, zone: services.zones.zone(member.timeZone))
    }

    static func words(of order: DraftCreate) throws(APIError) -> String {
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
