import Audit
import Contract
import Domain
import Postgres
import SQL

/// The drafts of one import, and the steps that are taken for several of them together. For each draft the step is the
/// same as alone, with its own entry in the audit log; all of them are taken or none.
extension Drafts {
    // MARK: Importing

    /// Returns the act that creates the draft of one item of an import.
    /// - Parameter statements: further statements of the act.
    func creationAct(
        _ draft: DraftResponse, by member: Member, _ statements: [SQL], at now: Timestamp, _ queries: any Queries
    ) async throws -> Act {
        try await act(
            .draftCreated, draft, by: member, [DraftStatements.insert(draft)] + statements, at: now, queries)
    }

    /// Makes a draft whose body a client has written.
    func makeClientDraft(
        _ body: DraftBody, id: DraftID, from source: DraftSource, by member: Member, _ context: CallContext
    ) -> DraftResponse {
        var draft = DraftResponse(
            id: id, familyID: member.familyID, nagID: nil, authorID: member.userID, source: source,
            body: body.flooredToMillisecond, contextIDs: [], citations: [],
            model: DraftResponse.clientModel,
            confidence: nil, warnings: [], progress: DraftProgress(expiresAt: context.now + DraftLimit.lifetime),
            traceID: context.trace, createdAt: context.now)
        draft.bodyHash = services.hash(of: draft.body)
        return draft
    }

    // MARK: Reading

    func getImport(_ caller: Caller, _ call: Call<ImportPath, NoBody>) async throws -> ImportResponse {
        let member = try await services.access.member(caller, orThrow: .noSuchImport, services.database)
        return try await drafts(of: call.parameters.importID, for: member, services.database).response(at: caller.now)
    }

    /// Reads the drafts that the member sees among these, as they are now.
    func drafts(_ ids: [DraftID], for member: Member, _ queries: any Queries) async throws -> [DraftResponse] {
        if ids.isEmpty { return [] }
        let rows = try await queries.query(
            DraftStatements.drafts(ids, for: member.userID, seesAll: Self.seesAll(member), in: member.familyID))
        return try rows.map { try StoredDraft($0).response(at: services.clock.now()) }
    }

    /// Reads the drafts of an import that the member sees.
    /// - Throws: 404 for an import of which the member sees no draft.
    private func drafts(
        of importID: ImportID, for member: Member, _ queries: any Queries
    ) async throws -> ImportedDrafts {
        let rows = try await queries.query(
            DraftStatements.drafts(
                of: importID, for: member.userID, seesAll: Self.seesAll(member), in: member.familyID))
        return try ImportedDrafts(rows.map(StoredDraft.init), of: importID)
    }

    // MARK: Steps

    /// Approves drafts of an import, for somebody who may do what the drafts do, and who acknowledges all side effects
    /// that at least one of the drafts has.
    func approveImport(_ caller: Caller, _ call: Call<ImportPath, ImportApproval>) async throws -> ImportResponse {
        let acknowledged = Set(call.body.acknowledged)
        return try await takeSteps(.approve, caller, call.parameters.importID, call.body.selection) { drafts in
            drafts.response(at: caller.now)
        } check: { drafts in
            guard acknowledged == Set(drafts.flatMap(\.response.kind.sideEffects)) else {
                throw APIError.sideEffectsDiffer
            }
        } decide: { draft, member, queries in
            try await decideApproval(
                of: draft, acknowledging: draft.response.kind.sideEffects, by: member, caller, queries)
        }
    }

    /// Gives one confirmation, which allows one execution of exactly these drafts in these versions, and of no draft
    /// alone.
    func confirmImport(_ caller: Caller, _ call: Call<ImportPath, ImportSelection>) async throws -> DraftConfirmation {
        let token = AITokens(random: services.random).makeToken()
        let key = makeConfirmationKey(call.body.digest(of: token), of: caller)
        return try await takeSteps(.confirm, caller, call.parameters.importID, call.body) { _ in
            DraftConfirmation(confirmation: token, expiresAt: key.expiresAt)
        } decide: { draft, member, queries in
            try await decideConfirmation(of: draft, key, by: member, caller, queries)
        }
    }

    /// Executes the drafts, once: the acts of their effects, in one transaction. Repeating it changes nothing, and
    /// returns the import as it is then.
    func executeImport(_ caller: Caller, _ call: Call<ImportPath, ImportExecution>) async throws -> ImportResponse {
        let selection = call.body.selection
        return try await takeSteps(.execute, caller, call.parameters.importID, selection) { drafts in
            drafts.response(at: caller.now)
        } decide: { draft, member, queries in
            let digest = selection.digest(of: try Self.requireConfirmation(call.body.confirmation))
            return try await decideExecution(of: draft, digest, by: member, caller, queries)
        }
    }

    /// Takes a step for each selected draft for which it was not taken yet.
    /// - Parameters:
    ///   - answer: makes the answer from the drafts of the import as they are afterwards.
    ///   - check: checks all selected drafts together, unless the step was taken for each of them before.
    ///   - decide: decides about the step of one draft.
    /// - Throws: 404 for an import, or a draft of it, that the caller does not see; 403 for a request from voice or a
    ///   shortcut; 409 if the step is not the next one of a draft. Nothing is changed then.
    private func takeSteps<Answer: WireContent>(
        _ step: DraftStep, _ caller: Caller, _ importID: ImportID, _ selection: ImportSelection,
        answer: (ImportedDrafts) -> Answer, check: ([StoredDraft]) throws -> Void = { _ in },
        decide: (StoredDraft, Member, any Queries) async throws -> Decision<DraftResponse>
    ) async throws -> Answer {
        let member = try await services.access.member(caller, orThrow: .noSuchImport, services.database)
        let family = member.familyID
        return try await services.ledger.writeAll(caller, in: family) { queries, perform in
            var member = try await services.access.member(caller, of: family, queries)
            var drafts = try await drafts(of: importID, for: member, queries)
            if selection.source.mayOnlyCreate { return Self.voiceDenial(of: member) }
            let selected = try drafts.selectedDrafts(by: selection)
            let pendingDrafts = try selected.filter { draft, version in
                try !Self.isDone(step, draft.response.progress, version, at: caller.now)
            }.map(\.draft)
            if !pendingDrafts.isEmpty { try check(selected.map(\.draft)) }
            for (index, draft) in pendingDrafts.enumerated() {
                // The member is read again after each act, because the basis of the next act includes the previous one.
                if index > 0 { member = try await services.access.member(caller, of: family, queries) }
                let decision = try await decide(draft, member, queries)
                switch decision {
                case .perform(let act, let changedDraft):
                    drafts.replace(changedDraft)
                    if index == pendingDrafts.count - 1 { return .perform(act, answer(drafts)) }
                    try await perform(act)
                case .answer(let unchangedDraft): drafts.replace(unchangedDraft)
                case .refuse, .refuseAgain: return decision.map { _ in answer(drafts) }
                }
            }
            return .answer(answer(drafts))
        }
    }
}

/// The drafts of one import that a person sees.
private struct ImportedDrafts {
    private let id: ImportID
    private var drafts: [StoredDraft]
    /// The first draft. It has what all drafts of the import have in common, such as the author.
    private let first: DraftResponse

    init(_ drafts: [StoredDraft], of id: ImportID) throws(APIError) {
        guard let first = drafts.first?.response else { throw APIError.noSuchImport }
        self.id = id
        self.drafts = drafts
        self.first = first
    }

    /// Returns the selected drafts, with the versions that the selection names.
    /// - Throws: 404 for a draft that is not one of these.
    func selectedDrafts(by selection: ImportSelection) throws(APIError) -> [(draft: StoredDraft, version: Int)] {
        var selectedDrafts: [(draft: StoredDraft, version: Int)] = []
        for choice in selection.drafts {
            guard let draft = drafts.first(where: { $0.response.id == choice.draftID }) else {
                throw APIError.noSuchDraftOfList
            }
            selectedDrafts.append((draft, choice.version))
        }
        return selectedDrafts
    }

    mutating func replace(_ draft: DraftResponse) {
        for index in drafts.indices where drafts[index].response.id == draft.id { drafts[index].response = draft }
    }

    func response(at now: Timestamp) -> ImportResponse {
        ImportResponse(
            importID: id, familyID: first.familyID, authorID: first.authorID, source: first.source,
            createdAt: first.createdAt, drafts: drafts.map { $0.response(at: now) })
    }
}

extension ImportSelection {
    /// Returns the digest of a confirmation for exactly these drafts in these versions.
    func digest(of token: Secret) -> [UInt8] {
        let choices = drafts.sorted { $0.draftID < $1.draftID }.map { "\($0.draftID) \($0.version)" }
        return AITokens.digest(Secret(([token.wireText] + choices).joined(separator: "\n")))
    }
}
