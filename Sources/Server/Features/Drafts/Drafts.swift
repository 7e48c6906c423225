import Audit
import Contract
import Domain
import NagzAI
import Postgres
import SQL
import TimeZones

/// Drafts: what the AI would send or change for somebody, which people see, edit, approve and execute.
///
/// A draft holds exactly what its execution does. It is approved by somebody who may do that without a draft, who then
/// gets a second key for one execution within 60 seconds. The execution is the effect's own act, and the draft's row
/// changes in it: both or neither. Author and guardians see a draft; nobody else does.
final class Drafts {
    let services: Services
    let nags: Nags
    let effects: DraftEffects
    private let obeyed = ObeyedConstraints()

    init(_ services: Services, _ nags: Nags) {
        self.services = services
        self.nags = nags
        effects = DraftEffects(nags: nags)
    }

    /// The group `drafts`.
    func register(in routes: RouteTable) {
        routes.signedIn(API.createDraft, create)
        routes.signedIn(API.listDrafts, list)
        routes.signedIn(API.getDraft, get)
        routes.signedIn(API.editDraft, edit)
        routes.signedIn(API.approveDraft, approve)
        routes.signedIn(API.confirmDraft, confirm)
        routes.signedIn(API.executeDraft, execute)
        routes.signedIn(API.rejectDraft, reject)
    }

    static let missing = "There is no such draft."

    // MARK: Reading

    /// Newest first.
    func list(_ caller: Caller, _ call: Call<DraftListQuery, NoBody>) async throws -> Page<DraftResponse> {
        let query = call.parameters
        let member = try await services.access.member(caller, of: query.familyID, services.database)
        let rows = try await services.database.query(
            DraftStatements.page(query, for: member.userID, seesAll: Self.seesAll(member), at: call.now))
        return try Page(rows, answering: query.page) { try StoredDraft(ifAny: $0)?.seen(at: call.now) }
    }

    func get(_ caller: Caller, _ call: Call<DraftPath, NoBody>) async throws -> DraftResponse {
        let member = try await services.access.member(caller, orNotFound: Self.missing, services.database)
        return try await draft(call.parameters.draftID, for: member, services.database).seen(at: call.now)
    }

    /// - Throws: 404 for a draft that the member does not see.
    func draft(_ id: DraftID, for member: Member, _ queries: any Queries) async throws -> StoredDraft {
        let rows = try await queries.query(
            DraftStatements.draft(id, for: member.userID, seesAll: Self.seesAll(member), in: member.familyID))
        guard let row = rows.first else { throw APIError(.notFound, Self.missing) }
        return try StoredDraft(row)
    }

    /// Guardians see what the AI is asked to do for anybody of the family.
    private static func seesAll(_ member: Member) -> Bool {
        RoleMatrix.denialOfInsights(isSelf: false, by: MemberState(role: member.role)) == nil
    }

    // MARK: Creating

    /// Every member may have drafts made; whether one can be approved shows when somebody does.
    func create(_ caller: Caller, _ call: Call<NoParameters, DraftCreate>) async throws -> DraftResponse {
        let (order, family) = (call.body, call.body.familyID)
        let id: DraftID = services.random.identifier(at: call.now)
        return try await services.ledger.write(caller, in: family) { queries in
            let member = try await services.access.member(caller, of: family, queries)
            let gate = try await queries.query(AIStatements.gate(caller.userID, in: family)).one()
            try Requester.requireOpenGate(gate)
            try await requireVisible(order, to: member, caller, queries)
            var warnings: [String] = []
            if let text = order.text {
                let settings = try AISettings(gate)
                let engine = try await obeyed.engine(for: caller.userID, settings.constraints, queries)
                do throws(ExecutionRefusal) {
                    warnings = try Self.warnings(about: text, settings, engine, caller)
                } catch {
                    return Self.refuse(error, to: member, caller)
                }
            }
            let draft = DraftResponse(
                id: id, familyID: family, nagID: order.nagID, authorID: member.userID, source: order.source,
                body: try await body(order, member, caller, queries).flooredToMillisecond,
                contextIDs: order.contextIDs, citations: order.citations,
                model: order.body == nil ? "heuristic" : "client",
                confidence: order.body == nil ? DraftedNag.confidence : nil, warnings: warnings,
                progress: DraftProgress(expiresAt: call.now + DraftLimit.lifetime), traceID: caller.context.trace,
                createdAt: call.now)
            return .perform(
                try await act(.draftCreated, draft, by: member, [DraftStatements.insert(draft)], at: call.now, queries),
                draft)
        }
    }

    /// - Throws: 404 for a nag and for rows that the member does not see; 422 where the kind needs a nag.
    private func requireVisible(
        _ order: DraftCreate, to member: Member, _ caller: Caller, _ queries: any Queries
    ) async throws {
        if let nag = order.nagID {
            let view = try await nags.view(caller, nag, queries)
            guard view.nag.familyID == member.familyID, RoleMatrix.denial(of: .read, by: view.part) == nil else {
                throw NagView.notFound
            }
        } else if order.kind == .dueChange {
            throw APIError(.validationFailed, "nag_id is required for a draft of this kind.", field: "nag_id")
        }
        guard !order.contextIDs.isEmpty else { return }
        let (ids, isGuardian) = (order.contextIDs, member.role == .guardian)
        let seen = try await queries.query(
            """
            SELECT count(*) AS count FROM (
                \(NagStatements.visibleRows(ids, to: member.userID, isGuardian: isGuardian, in: member.familyID))
                UNION
                \(AIStatements.visibleRows(ids, to: member.userID, isGuardian: isGuardian, in: member.familyID))
            ) x
            """)
        guard try seen.one()["count"] == ids.count else {
            throw APIError(.notFound, "There are no such rows.", field: "context_ids")
        }
    }

    /// What the constraints say of the author's words. A prompt to confirm is a warning here: nothing happens before a
    /// person has approved and confirmed the draft.
    private static func warnings(
        about text: String, _ settings: AISettings, _ engine: PolicyEngine, _ caller: Caller
    ) throws(ExecutionRefusal) -> [String] {
        // Constraints see no operation; this one is about a person's words, too.
        let question = Question(
            id: QuestionID(high: 0, low: 0), operation: .summarizeExcuse, content: text,
            privacyLevel: settings.privacyLevel, askedAt: caller.now)
        let policy = try ExecutionPermit(
            question, ExecutionOptions(), settings.mode, engine, trace: caller.context.trace
        ).policy
        return policy.warnings + [policy.confirmation].compactMap(\.self)
    }

    private static func refuse<Answer>(
        _ refusal: ExecutionRefusal, to member: Member, _ caller: Caller
    ) -> Decision<Answer> {
        var details: AuditBody = ["operation": "draft", "error_code": refusal.code.rawValue]
        details["constraint"] = refusal.constraint?.description
        return .refuse(
            Act(
                kind: .aiExecutionRefused, basis: .rightsUnchanged(since: member.seq), actor: member.pseudonym,
                details: details, stampedRows: 0), refusal.error(trace: caller.context.trace))
    }

    /// The body that the client gives, or what the rules read from the person's words: the one place that drafts.
    private func body(
        _ order: DraftCreate, _ member: Member, _ caller: Caller, _ queries: any Queries
    ) async throws -> DraftBody {
        if let body = order.body { return body }
        guard let text = order.text else {
            throw APIError(.validationFailed, "Give the words to draft from, or the body.", field: "text")
        }
        let zone = services.zones.zone(member.timeZone)
        switch order.kind {
        case .suggestedNag:
            let rows = try await queries.query(AIStatements.digestMembers(of: member.familyID, subject: nil))
            let members = try rows.map { row throws(PostgresError) in
                IntentFacts.Member(id: try row["user_id"], name: try row["display_name"] ?? "")
            }
            let nag = DraftedNag(
                reading: text, IntentFacts(author: member.userID, members: members, now: caller.now, zone: zone))
            return .suggestedNag(
                SuggestedNag(
                    recipientID: nag.recipient, category: nag.category, description: nag.description, dueAt: nag.dueAt,
                    doneDefinition: nag.doneDefinition))
        case .dueChange:
            guard let due = DueTimeReader(now: caller.now, zone: zone).dueAt(in: text) else {
                throw APIError(.validationFailed, "The words name no time, such as: tomorrow at 5.", field: "text")
            }
            return .dueChange(DueChange(dueAt: due))
        }
    }

    /// An act on a draft that changes nothing else.
    func act(
        _ kind: AuditKind, _ draft: DraftResponse, by member: Member, _ statements: [SQL], at now: Timestamp,
        _ queries: any Queries
    ) async throws -> Act {
        let count = DailyCount(limit: .draftSteps, user: member.userID)
        return Act(
            kind: kind, basis: .nothingChanged(since: member.seq), actor: member.pseudonym,
            resource: draft.id.retyped(), details: draft.auditDetails, stampedRows: 0,
            statements: statements + [try await count.increment(at: now, queries)])
    }
}

extension DraftCreate {
    /// The selected rows that the draft is built from: the nag it is about. The rules read nothing else.
    fileprivate var citations: [ResourceID] { contextIDs.filter { $0 == nagID?.retyped() } }
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
        }
    }
}
