import Audit
import Contract
import Domain
import NagzAI
import Postgres
import TimeZones

extension Drafts {
    /// The body of a draft, and the selected rows that it is built from.
    struct DraftContent {
        var body: DraftBody
        var citations: [ResourceID]
        /// The phrases that the rules did not understand as a time.
        var unclearPhrases: [String] = []
    }

    /// Decides the content of a draft: the body that the client sent, the nag that a model read, or what the rules make
    /// of the request.
    /// - Parameter modelNag: the nag that a model read from the words; nil where the rules read them.
    func decideContent(
        _ request: DraftCreate, _ modelNag: DraftedNag?, _ member: Member, _ caller: Caller, _ queries: any Queries
    ) async throws -> Decision<DraftContent> {
        if request.body == nil, request.kind == .digest {
            return .answer(try await makeDigestContent(request, member, caller, queries))
        }
        // The rules of the other kinds read the nag alone.
        let citations = request.contextIDs.filter { $0 == request.nagID?.retyped() }
        if request.body == nil, request.kind == .suggestedNag {
            let facts = try await intentFacts(of: member, caller, queries)
            let nag = try modelNag ?? DraftedNag(reading: Self.requiredText(of: request), facts)
            return .answer(
                DraftContent(
                    body: .suggestedNag(SuggestedNag(nag)), citations: citations, unclearPhrases: nag.unclearPhrases))
        }
        return try await clientOrDerivedBody(request, member, caller, queries).map {
            DraftContent(body: $0, citations: citations)
        }
    }

    /// Returns the client's body, or the one that the rules derive for a due change or a push-back.
    private func clientOrDerivedBody(
        _ request: DraftCreate, _ member: Member, _ caller: Caller, _ queries: any Queries
    ) async throws -> Decision<DraftBody> {
        if let body = request.body {
            try body.requireDueTimeWithinLimit(now: caller.now)
            return .answer(body)
        }
        switch request.kind {
        case .dueChange:
            let times = DueTimeReader(now: caller.now, zone: services.zones.zoneOrUTC(member.familyZone))
            let reading = times.read(try Self.requiredText(of: request))
            guard let due = reading.dueAt else {
                throw APIError.wordsNameNoTime(
                    reading.unclearPhrases.isEmpty ? nil : Self.warning(of: reading.unclearPhrases))
            }
            return .answer(.dueChange(DueChange(dueAt: due)))
        case .pushBack:
            guard let nag = request.nagID else { throw APIError.noSuchNag }
            return try await effects.evaluatePushBack(on: nag, caller, queries).map {
                .pushBack(PushBackMessage(message: $0.message ?? ""))
            }
        case .suggestedNag, .consequence, .digest:
            throw APIError.draftNeedsBody
        }
    }

    /// Returns a digest of the selected nags that count in this week's digest. For a member who may not see insights
    /// about everybody, it is about their own nags.
    private func makeDigestContent(
        _ request: DraftCreate, _ member: Member, _ caller: Caller, _ queries: any Queries
    ) async throws -> DraftContent {
        guard let recipients = request.recipientIDs else { throw APIError.digestNeedsRecipients }
        let question = FamilyQuestion(familyID: member.familyID)
        let (snapshot, countedNags) = try await question.consult(
            for: member, caller, about: request.contextIDs, services.zones.zoneOrUTC(member.familyZone), queries)
        guard !countedNags.isEmpty else { throw APIError.digestNeedsNags }
        let text = services.heuristics.digest(for: snapshot).response.summaryText
        return DraftContent(
            body: .digest(DigestMessage(message: text, recipientIDs: recipients)),
            citations: request.contextIDs.filter(countedNags.contains))
    }

    /// Returns the facts that are needed to read a nag from the author's words.
    func intentFacts(
        of member: Member, _ caller: Caller, _ queries: any Queries
    ) async throws -> IntentFacts {
        let rows = try await queries.query(AIStatements.activeMembers(of: member.familyID, subject: nil))
        let members = try rows.map { row throws(PostgresError) in
            IntentFacts.Member(id: try row["user_id"], name: try row["display_name"] ?? "")
        }
        return IntentFacts(
            author: member.userID, members: members, now: caller.now, zone: services.zones.zoneOrUTC(member.familyZone))
    }

    /// Returns a sentence about phrases that were not understood as a time.
    static func warning(of unclearPhrases: [String]) -> String {
        "Not understood as a time: \(unclearPhrases.map { "“\($0)”" }.joined(separator: ", "))."
    }

    /// Returns the words that the author sent.
    /// - Throws: a refusal if there are none.
    static func requiredText(of request: DraftCreate) throws(APIError) -> String {
        guard let text = request.text else { throw APIError.draftNeedsWords }
        return text
    }
}

extension SuggestedNag {
    init(_ nag: DraftedNag) {
        self.init(
            recipientID: nag.recipient, category: nag.category, description: nag.description, dueAt: nag.dueAt,
            doneDefinition: nag.doneDefinition)
    }
}

extension DraftBody {
    /// Refuses a due time that is too far ahead. A due time in the past is refused only when the draft is executed,
    /// because it may pass before that.
    func requireDueTimeWithinLimit(now: Timestamp) throws(APIError) {
        let dueAt: Timestamp? =
            switch self {
            case .suggestedNag(let nag): nag.dueAt
            case .dueChange(let change): change.dueAt
            case .pushBack, .consequence, .digest: nil
            }
        if let dueAt, DueTimeLimit.isTooFar(dueAt, now: now) {
            throw APIError.dueTimeIsInvalid(DueTimeLimit.tooFarMessage)
        }
    }

    /// The body with due times in whole milliseconds, the precision that clients show.
    var flooredToMillisecond: DraftBody {
        switch self {
        case .suggestedNag(var nag):
            nag.dueAt = nag.dueAt.flooredToMillisecond
            return .suggestedNag(nag)
        case .dueChange(let change):
            return .dueChange(DueChange(dueAt: change.dueAt.flooredToMillisecond))
        case .pushBack, .consequence, .digest: return self
        }
    }
}
