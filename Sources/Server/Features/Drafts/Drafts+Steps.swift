import Audit
import Contract
import Domain
import Postgres
import SQL

extension Drafts {
    /// Edits a draft. Everybody who sees the draft may edit it. An edit voids the approval and the confirmation.
    func edit(_ caller: Caller, _ call: Call<DraftPath, DraftUpdate>) async throws -> DraftResponse {
        try await takeStep(.edit, caller, call.parameters.draftID, nil, call.body.source) { member, draft, queries in
            var edited = draft.response
            if let tags = caller.context.ifMatch, !IfMatch.matches(edited.etag, in: tags) {
                throw APIError.draftHasChanged
            }
            let body = try Self.body(call.body.body, of: edited)
            try body.requireDueTimeWithinLimit(now: caller.now)
            guard body != edited.body else { return .answer(edited) }
            let act = try await editAct(&edited, to: body, by: member, [], at: caller.now, queries)
            return .perform(act, edited)
        }
    }

    /// Gives a draft another body, as a new version without approval and confirmation, and returns the act that stores
    /// it.
    /// - Parameter statements: further statements of the act.
    func editAct(
        _ draft: inout DraftResponse, to body: DraftBody, by member: Member, _ statements: [SQL], at now: Timestamp,
        _ queries: any Queries
    ) async throws -> Act {
        draft.body = body
        draft.bodyHash = services.hash(of: body)
        guard draft.progress.version < DraftVersion.versionRange.upperBound else {
            throw APIError.draftHasTooManyVersions
        }
        draft.progress.version += 1
        draft.progress.state = .draft
        (draft.approvedBy, draft.approvedAt, draft.confirmedAt) = (nil, nil, nil)
        (draft.editedBy, draft.editedAt, draft.updatedAt) = (member.userID, now, now)
        return try await act(
            .draftEdited, draft, by: member, [DraftStatements.edit(draft)] + statements, at: now, queries)
    }

    private static func body(_ changes: DraftBodyChanges, of draft: DraftResponse) throws(APIError) -> DraftBody {
        do throws(InvalidInput) {
            return try changes.applied(to: draft.body).flooredToMillisecond
        } catch {
            throw APIError(error)
        }
    }

    /// Approves a draft, for somebody who may do what the draft does, and who acknowledges all of its side effects.
    func approve(_ caller: Caller, _ call: Call<DraftPath, DraftApproval>) async throws -> DraftResponse {
        let version = call.body.draft
        return try await takeStep(.approve, caller, call.parameters.draftID, version.version, version.source) {
            member, draft, queries in
            try await decideApproval(of: draft, acknowledging: call.body.acknowledged, by: member, caller, queries)
        }
    }

    /// Decides about the approval of a draft.
    func decideApproval(
        of draft: StoredDraft, acknowledging effects: [DraftSideEffect], by member: Member, _ caller: Caller,
        _ queries: any Queries
    ) async throws -> Decision<DraftResponse> {
        var approved = draft.response
        guard Set(effects) == Set(approved.kind.sideEffects) else { throw APIError.sideEffectsDiffer }
        if let refusal = try await refusal(approved, by: member, caller, queries) { return refusal }
        let now = caller.now
        approved.progress.state = .approved
        (approved.approvedBy, approved.approvedAt, approved.updatedAt) = (member.userID, now, now)
        return .perform(
            try await act(
                .draftApproved, approved, by: member,
                [DraftStatements.approve(approved.id, by: member.userID, at: now)], at: now, queries), approved)
    }

    /// Gives a confirmation to a person who may do what the draft does. That voids an earlier confirmation.
    func confirm(_ caller: Caller, _ call: Call<DraftPath, DraftVersion>) async throws -> DraftConfirmation {
        let token = AITokens(random: services.random).makeToken()
        let key = makeConfirmationKey(AITokens.digest(token), of: caller)
        return try await writeStep(.confirm, caller, call.parameters.draftID, call.body.version, call.body.source) {
            member, draft, _, queries in
            try await decideConfirmation(of: draft, key, by: member, caller, queries).map { _ in
                DraftConfirmation(confirmation: token, expiresAt: key.expiresAt)
            }
        }
    }

    func makeConfirmationKey(_ digest: [UInt8], of caller: Caller) -> ConfirmationKey {
        ConfirmationKey(
            digest: digest, owner: caller.userID, expiresAt: caller.now + DraftLimit.confirmationKeyLifetime)
    }

    /// Decides about the confirmation of a draft.
    func decideConfirmation(
        of draft: StoredDraft, _ key: ConfirmationKey, by member: Member, _ caller: Caller, _ queries: any Queries
    ) async throws -> Decision<DraftResponse> {
        if let refusal = try await refusal(draft.response, by: member, caller, queries) { return refusal }
        var act = try await act(
            .draftConfirmed, draft.response, by: member,
            [DraftStatements.confirm(draft.response.id, key, at: caller.now)], at: caller.now, queries)
        act.details["key_expires_at"] = key.expiresAt.rfc3339
        return .perform(act, draft.response)
    }

    /// Executes a draft, once: the act of its effect also changes the draft's row. Repeating it returns the first
    /// response.
    func execute(_ caller: Caller, _ call: Call<DraftPath, DraftExecution>) async throws -> DraftResponse {
        let version = call.body.draft
        return try await takeStep(.execute, caller, call.parameters.draftID, version.version, version.source) {
            member, draft, queries in
            let digest = AITokens.digest(try Self.requireConfirmation(call.body.confirmation))
            return try await decideExecution(of: draft, digest, by: member, caller, queries)
        }
    }

    /// Returns the confirmation of a request.
    /// - Throws: a refusal if there is none.
    static func requireConfirmation(_ confirmation: Secret?) throws(APIError) -> Secret {
        guard let confirmation else { throw APIError.draftConfirmationIsMissing }
        return confirmation
    }

    /// Decides about the execution of a draft.
    /// - Parameter digest: the digest of the confirmation.
    func decideExecution(
        of draft: StoredDraft, _ digest: [UInt8], by member: Member, _ caller: Caller, _ queries: any Queries
    ) async throws -> Decision<DraftResponse> {
        guard let key = draft.key, key.allowsUse(of: digest, by: member.userID, at: caller.now) else {
            throw APIError.draftConfirmationIsInvalid
        }
        let effect = try await effects.decide(draft.response, by: member, caller, queries)
        var act: Act
        let result: ResourceID
        switch effect {
        case .refuse(let act, let refusal): return .refuse(act, refusal)
        case .refuseAgain(let refusal): return .refuseAgain(refusal)
        case .perform(let effectAct, let effectResult): (act, result) = (effectAct, effectResult)
        case .answer(let unchangedResult):
            act = Act(
                kind: .draftExecuted, basis: .nothing, actor: member.pseudonym, resource: unchangedResult,
                stampedRows: 0)
            result = unchangedResult
        }
        // The member was read before the draft, and before everything that the effect depends on.
        act.basis = .nothingChanged(since: member.seq)
        let now = caller.now
        var executed = draft.response
        for (name, value) in executed.executionDetails(by: member) { act.details[name] = value }
        // The act of the effect also marks the draft as executed.
        act.statements.append(DraftStatements.execute(executed.id, by: member.userID, result: result, at: now))
        executed.progress.state = .executed
        (executed.executedBy, executed.executedAt, executed.updatedAt) = (member.userID, now, now)
        executed.resultID = result
        return .perform(act, executed)
    }

    /// Rejects a draft. Everybody who sees the draft may reject it.
    func reject(_ caller: Caller, _ call: Call<DraftPath, DraftVersion>) async throws -> DraftResponse {
        try await takeStep(.reject, caller, call.parameters.draftID, call.body.version, call.body.source) {
            member, draft, queries in
            var rejected = draft.response
            rejected.progress.state = .rejected
            (rejected.rejectedBy, rejected.rejectedAt, rejected.updatedAt) = (member.userID, caller.now, caller.now)
            return .perform(
                try await act(
                    .draftRejected, rejected, by: member,
                    [DraftStatements.reject(rejected.id, by: member.userID, at: caller.now)], at: caller.now, queries),
                rejected)
        }
    }

    // MARK: Parts of all steps

    /// Takes a step whose answer is the draft. If the step was taken before, the answer is the draft as it is.
    private func takeStep(
        _ step: DraftStep, _ caller: Caller, _ id: DraftID, _ version: Int?, _ source: DraftSource,
        _ decide: (Member, StoredDraft, any Queries) async throws -> Decision<DraftResponse>
    ) async throws -> DraftResponse {
        try await writeStep(step, caller, id, version, source) { member, draft, isDone, queries in
            isDone ? .answer(draft.response) : try await decide(member, draft, queries)
        }
    }

    /// Commits the decision of the closure about a step. The closure gets the draft, and whether the step was taken
    /// before.
    /// - Parameter version: the version that the person has seen; nil if it does not matter.
    /// - Throws: 404 for a draft that the caller does not see; 403 where the request comes from voice or a shortcut;
    ///   409 for a step that is not the next one.
    private func writeStep<Answer: WireContent>(
        _ step: DraftStep, _ caller: Caller, _ id: DraftID, _ version: Int?, _ source: DraftSource,
        _ decide: (Member, StoredDraft, Bool, any Queries) async throws -> Decision<Answer>
    ) async throws -> Answer {
        let family = try await services.access.member(caller, orThrow: .noSuchDraft, services.database).familyID
        return try await services.ledger.write(caller, in: family) { queries in
            let member = try await services.access.member(caller, of: family, queries)
            let draft = try await draft(id, for: member, queries)
            if source.mayOnlyCreate { return Self.voiceDenial(of: member) }
            let isDone = try Self.isDone(step, draft.response.progress, version, at: caller.now)
            return try await decide(member, draft, isDone, queries)
        }
    }

    static func voiceDenial<Answer>(of member: Member) -> Decision<Answer> {
        let denial = Denial.voiceOnlyCreates
        return .denied(.draftStepDenied, to: member, reason: denial.rawValue, APIError(.policyForbidden, denial))
    }

    /// Whether a step was taken before.
    /// - Throws: 409 where it is not the next one.
    static func isDone(
        _ step: DraftStep, _ progress: DraftProgress, _ version: Int?, at now: Timestamp
    ) throws(APIError) -> Bool {
        switch progress.verdict(on: step, of: version, at: now) {
        case .allowed: return false
        case .alreadyDone: return true
        case .missing(let step):
            throw APIError.draftLacksStep(step)
        case .ended(let state):
            throw APIError.draftHasEnded(state, progress.endReason)
        case .edited:
            throw APIError.draftVersionHasChanged
        }
    }

    /// Returns the refusal of a member who may not do what the draft does; nil when they may.
    private func refusal(
        _ draft: DraftResponse, by member: Member, _ caller: Caller, _ queries: any Queries
    ) async throws -> Decision<DraftResponse>? {
        let decision = try await effects.decide(draft, by: member, caller, queries)
        switch decision {
        case .perform, .answer: return nil
        case .refuse, .refuseAgain: return decision.map { _ in draft }
        }
    }
}

extension DraftResponse {
    /// Returns the details of the execution for the audit log, beside those of the effect.
    fileprivate func executionDetails(by member: Member) -> [(String, String)] {
        [
            ("draft", id.description), ("draft_kind", kind.rawValue), ("draft_version", "\(progress.version)"),
            ("draft_model", model), ("draft_source", source.rawValue),
            ("draft_self_approved", "\(approvedBy == member.userID)"),
            ("draft_approved_at", approvedAt?.rfc3339 ?? ""), ("draft_confirmed_at", confirmedAt?.rfc3339 ?? ""),
            ("draft_side_effects", kind.sideEffects.map(\.rawValue).joined(separator: ",")),
            ("draft_import", importID?.description ?? ""),
            ("draft_body_hash", bodyHash ?? ""), ("draft_written_by", writer.rawValue),
            ("draft_plan", plan.map(\.action.rawValue).joined(separator: ",")),
            ("draft_citations", citations.map(\.description).joined(separator: ",")),
        ].filter { !$0.1.isEmpty }
    }
}
