import Audit
import Contract
import Domain
import NagzAI
import Postgres
import Reactor
import SQL

/// Drafts: proposed messages and changes, mostly by the AI, which people see, edit, approve and execute.
///
/// A draft's body is exactly what its execution does. Only people who may do the same without a draft can take the
/// steps to the execution. One of them approves the draft. Then the same person or another gets a confirmation, with
/// which only that person can execute the draft, once and within 60 seconds. The execution is the effect's own act,
/// which also changes the draft's row, so both are stored or neither. Only the author, the addressee and guardians see
/// a draft.
final class Drafts {
    let services: Services
    let nags: Nags
    let effects: DraftEffects
    let mediator: Mediator

    init(_ services: Services, _ nags: Nags, _ incentives: Incentives, _ mediator: Mediator) {
        self.services = services
        self.nags = nags
        self.mediator = mediator
        effects = DraftEffects(services: services, nags: nags, incentives: incentives, mediator: mediator)
    }

    /// Registers the operations of the tag `drafts`. Those of imports have the tag `ingestion`.
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

    // MARK: Reading

    /// Lists drafts, the newest first.
    func list(_ caller: Caller, _ call: Call<DraftListQuery, NoBody>) async throws -> Page<DraftResponse> {
        let query = call.parameters
        let member = try await services.access.member(caller, of: query.familyID, services.database)
        let rows = try await services.database.query(
            DraftStatements.page(query, for: member.userID, seesAll: Self.seesAll(member), at: caller.now))
        return try Page(rows, answering: query.page) { try StoredDraft(ifAny: $0)?.response(at: caller.now) }
    }

    func get(_ caller: Caller, _ call: Call<DraftPath, NoBody>) async throws -> DraftResponse {
        let member = try await services.access.member(caller, orThrow: .noSuchDraft, services.database)
        return try await draft(call.parameters.draftID, for: member, services.database).response(at: caller.now)
    }

    /// Reads a draft.
    /// - Throws: 404 for a draft that the member does not see.
    func draft(_ id: DraftID, for member: Member, _ queries: any Queries) async throws -> StoredDraft {
        let rows = try await queries.query(
            DraftStatements.draft(id, for: member.userID, seesAll: Self.seesAll(member), in: member.familyID))
        guard let row = rows.first else { throw APIError.noSuchDraft }
        return try StoredDraft(row)
    }

    /// Whether the member sees the drafts of everybody in the family, as guardians do.
    static func seesAll(_ member: Member) -> Bool {
        RoleMatrix.denialOfMemberData(isSelf: false, by: MemberState(role: member.role)) == nil
    }

    // MARK: Creating

    /// Creates a draft. Every member may have drafts made; whether a draft can be approved is checked at the approval.
    /// A model is asked before the act, and the act decides again, so that nothing is stored that was forbidden in the
    /// meantime.
    func create(_ caller: Caller, _ call: Call<NoParameters, DraftCreate>) async throws -> DraftResponse {
        let (request, family, started) = (call.body, call.body.familyID, MonotonicTime.now())
        let id: DraftID = services.random.identifier(at: caller.now)
        func write(_ askedAttempt: AskedAttempt?) async throws -> DraftResponse {
            try await services.ledger.write(caller, in: family) { queries in
                do {
                    let decision = try await decide(
                        request, as: id, askedAttempt?.reply, caller, since: started, queries)
                    guard let askedAttempt, case .refuse(let act, let refusal) = decision, act.kind.isDenial else {
                        return decision
                    }
                    return askedAttempt.attempt.refuse(refusal, after: askedAttempt.reply)
                } catch let error as APIError {
                    guard let askedAttempt else { throw error }
                    return askedAttempt.attempt.refuse(error, after: askedAttempt.reply)
                }
            }
        }
        // Even if the request asks for no model, the author's AI mode may ask for one to read the words.
        guard request.kind == .suggestedNag, request.options.asksForModel || request.text != nil && request.body == nil
        else {
            return try await write(nil)
        }
        if let earlier: DraftResponse = try await services.ledger.replayEarlierAnswer(caller) { return earlier }
        let askedAttempt = try await ask(request, caller, since: started)
        guard let askedAttempt, askedAttempt.reply.askedModel != nil else { return try await write(askedAttempt) }
        // If a model was asked, that is recorded even after the client has disconnected.
        return try await services.database.poller.runToCompletion { try await write(askedAttempt) }
    }

    /// Decides about the creation of a draft.
    /// - Parameter reply: a model's reply to the author's words; nil if no model was called.
    private func decide(
        _ request: DraftCreate, as id: DraftID, _ reply: ModelReply?, _ caller: Caller, since started: MonotonicTime,
        _ queries: any Queries
    ) async throws -> Decision<DraftResponse> {
        let (family, now) = (request.familyID, caller.now)
        let member = try await services.access.member(caller, of: family, queries)
        let permission = try await queries.query(AIStatements.permission(caller.userID, in: family)).onlyRow()
        try Requester.requireAIAllowed(permission)
        let attempt = makeAttempt(request, member, try AISettings(permission), caller, since: started)
        try await requireVisible(request, to: member, caller, queries)
        var reading = Reading()
        if request.body == nil {
            switch try await decideReading(request, member, attempt, reply, queries) {
            case .success(let decidedReading): reading = decidedReading
            case .failure(let refused): return attempt.refuse(refused.refusal, refused.confirmation)
            }
        }
        let content: DraftContent
        switch try await decideContent(request, reading.modelNag, member, caller, queries) {
        case .answer(let decidedContent), .perform(_, let decidedContent): content = decidedContent
        case .refuse(let act, let refusal): return .refuse(act, refusal)
        case .refuseAgain(let refusal): return .refuseAgain(refusal)
        }
        if !content.unclearPhrases.isEmpty {
            reading.hasUnclearPhrases = true
            reading.warnings.append(Self.warning(of: content.unclearPhrases))
        }
        attempt.recordStage(.executed)
        var draft = DraftResponse(
            id: id, familyID: family, nagID: request.nagID, authorID: member.userID, source: request.source,
            body: content.body.flooredToMillisecond, contextIDs: request.contextIDs, citations: content.citations,
            model: request.body == nil ? reading.author.draftModel : DraftResponse.clientModel,
            confidence: request.body == nil ? reading.confidence : nil, warnings: reading.warnings,
            progress: DraftProgress(expiresAt: now + DraftLimit.lifetime), traceID: caller.context.trace,
            createdAt: now)
        draft.bodyHash = services.hash(of: draft.body)
        draft.fallbackReason = reading.author.fallback?.text ?? DraftResponse.noFallback
        let execution = Self.executionRecordParts(attempt, reading, request)
        let statements = [DraftStatements.insert(draft)] + reading.tokenStatements + execution.statements
        var act = try await act(.draftCreated, draft, by: member, statements, at: now, queries)
        act.details = execution.details
        act.details.merge(draft.auditDetails)
        return .perform(act, draft)
    }

    /// Requires that the member sees the nag and the rows that the draft is about.
    /// - Throws: 404 for a nag and for rows that the member does not see; 422 if the kind needs a nag, or if other rows
    ///   than the nag are selected for a draft that is not built from rows.
    func requireVisible(
        _ request: DraftCreate, to member: Member, _ caller: Caller, _ queries: any Queries
    ) async throws {
        if let nag = request.nagID {
            let view = try await nags.view(caller, nag, queries)
            guard view.nag.familyID == member.familyID, RoleMatrix.denial(of: .read, by: view.part) == nil else {
                throw APIError.noSuchNag
            }
        } else if request.kind.needsNag {
            throw APIError.draftNeedsNag
        }
        guard !request.contextIDs.isEmpty else { return }
        let (ids, isGuardian) = (request.contextIDs, member.role == .guardian)
        let visibleCount = try await queries.query(
            """
            SELECT count(*) AS count FROM (
                \(NagStatements.visibleRows(ids, to: member.userID, isGuardian: isGuardian, in: member.familyID))
                UNION
                \(AIStatements.visibleRows(ids, to: member.userID, in: member.familyID))
            ) x
            """)
        guard try visibleCount.onlyRow()["count"] == ids.count else { throw APIError.noSuchRows }
        // Only digests are built from rows; the other kinds read the nag alone.
        guard request.kind == .digest && request.body == nil || ids == [request.nagID?.retyped()].compactMap(\.self)
        else {
            throw APIError.rowsAreForDigests
        }
    }

    /// Returns the act of one step of a draft. The act counts towards the daily limit of such steps.
    /// - Throws: 429 if the member has reached the limit.
    func act(
        _ kind: AuditKind, _ draft: DraftResponse, by member: Member, _ statements: [SQL], at now: Timestamp,
        _ queries: any Queries
    ) async throws -> Act {
        let count = DailyCount(limit: .draftSteps, user: member.userID)
        return Act(
            kind: kind, basis: .nothingChanged(since: member.seq), actor: member.pseudonym,
            resource: draft.id.retyped(), details: draft.auditDetails, stampedRows: 0,
            statements: statements + [try await count.checkedIncrement(at: now, queries)])
    }
}
