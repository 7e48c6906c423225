import Audit
import Contract
import Domain
import Postgres
import SQL

extension Nags {
    /// Edits a nag, for its creator and guardians, as long as they may nag the recipient. The recipient snoozes with
    /// `due_at` alone, or promises a time with `committed_at` alone.
    package func update(_ caller: Caller, _ call: Call<NagPath, NagUpdate>) async throws -> NagResponse {
        let input = provenance(of: call.body.capture, at: caller.now)
        return try await decideAndPerform(caller, on: call.parameters.nagID) { view, queries in
            if Self.denial(of: call.body, view.part) == nil,
                let denial = input.denialOfDictation(about: view.nag.recipientID, by: view.userID)
            {
                return view.refuse(.edit, denial, .policyForbidden)
            }
            return try await change(
                view, by: call.body, as: input, at: caller.now,
                drafting: DueChangeDrafting(services: services, caller: caller), queries)
        }
    }

    /// Decides about changes of a nag.
    /// - Parameter drafting: creates a draft if a snooze is refused as too long; nil to create none.
    func change(
        _ view: NagView, by changes: NagUpdate, as input: Provenance, at now: Timestamp,
        drafting: DueChangeDrafting? = nil, _ queries: any Queries
    ) async throws -> Decision<NagResponse> {
        var changes = changes
        changes.dueAt = changes.dueAt?.flooredToMillisecond
        if let (act, denial) = Self.denial(of: changes, view.part) { return view.refuse(act, denial) }
        guard view.nag.status == .open else { throw APIError(.conflict, .nagNotOpen) }
        if changes.isOnlyDueTime, RoleMatrix.denial(of: .edit, by: view.part) != nil, let dueAt = changes.dueAt {
            if changes.scope == .series { return view.refuse(.edit, .creatorOrGuardianOnly) }
            return try await decideSnooze(view, to: dueAt, as: input, at: now, drafting, queries)
        }
        if let denial = try await denialOfContact(of: view, with: [view.nag.recipientID], queries) {
            return view.refuse(.edit, denial, .policyForbidden)
        }
        return try await decideEdit(view, changes, as: input, at: now, queries)
    }

    /// Returns the first change that this person may not make, with the reason; nil if they may make all of them.
    private static func denial(of changes: NagUpdate, _ part: NagPart) -> (NagAct, Denial)? {
        if let denial = RoleMatrix.denial(of: .read, by: part) { return (.edit, denial) }
        if !changes.committedAt.isAbsent, let denial = RoleMatrix.denial(of: .commit, by: part) {
            return (.commit, denial)
        }
        if changes.isEdit, let denial = RoleMatrix.denial(of: .edit, by: part) {
            // Moving only the due time is a snooze.
            if changes.isOnlyDueTime, RoleMatrix.denial(of: .snooze, by: part) == nil { return nil }
            return (.edit, denial)
        }
        return nil
    }

    // MARK: Edits and promises

    /// Decides about an edit, or about the recipient's promise.
    private func decideEdit(
        _ view: NagView, _ changes: NagUpdate, as input: Provenance, at now: Timestamp, _ queries: any Queries
    ) async throws -> Decision<NagResponse> {
        var nag = view.nag
        nag.dueAt = changes.dueAt ?? nag.dueAt
        nag.category = changes.category ?? nag.category
        nag.doneDefinition = changes.doneDefinition ?? nag.doneDefinition
        nag.description = changes.description.applied(to: nag.description)
        nag.committedAt = changes.committedAt.applied(to: nag.committedAt)?.flooredToMillisecond
        if nag.dueAt != view.nag.dueAt, let fault = DueTimeLimit.fault(of: nag.dueAt, now: now) {
            throw APIError.dueTimeIsInvalid(fault)
        }
        if let promise = nag.committedAt, promise != view.nag.committedAt, promise <= now {
            throw APIError.promiseIsPast
        }
        let movesSeries = changes.scope == .series
        if movesSeries, changes.dueAt == nil || nag.recurrence == nil {
            throw APIError.nagIsNoSeries
        }
        guard nag != view.nag || (movesSeries && nag.dueAt != view.slotDueAt) else { return .answer(nag) }
        var editedFields = nag.edits(since: view.nag)
        if movesSeries { editedFields["scope"] = MoveScope.series.rawValue }
        let changesPromise = nag.committedAt != view.nag.committedAt
        if let denial = try await denialOfChange(by: view, at: now, queries) {
            return view.refuse(editedFields.isEmpty ? .commit : .edit, limit: denial, at: now)
        }
        let movesDueTime = nag.dueAt != view.nag.dueAt
        let seriesChange = try await seriesChange(view, to: nag.dueAt, changes.scope, queries)
        nag.opensAt = seriesChange.opensAt
        let nextStep =
            movesDueTime || changesPromise
            ? services.escalationPlan.earliestStepTime(
                after: movesDueTime ? .initial : view.phase, dueAt: nag.dueAt, committedAt: nag.committedAt) : nil
        var events: [SQL] = []
        if !editedFields.isEmpty { events.append(event(.updated, view, at: now, editedFields, source: input.source)) }
        if changesPromise {
            events.append(
                event(
                    .committed, view, at: now, nag.committedAt.map { ["committed_at": $0.rfc3339] } ?? [:],
                    from: input))
        }
        var statements =
            [
                NagStatements.edit(
                    nag, movesDueTime: movesDueTime, movesSeries: movesSeries, nextStep: nextStep, at: now)
            ] + events + seriesChange.statements
        if changesPromise { statements.append(input.insert(.promise, by: view.userID, on: nag.id, at: now)) }
        var details = AuditBody(editedFields)
        details.merge(input.auditDetails)
        details.merge(seriesChange.details)
        if changesPromise { details["committed_at"] = nag.committedAt?.rfc3339 ?? "none" }
        return .perform(
            view.act(
                editedFields.isEmpty ? .nagCommitted : .nagUpdated, details: details,
                stampedRows: max(events.count, seriesChange.stampedRows),
                statements: statements),
            nag)
    }

    // MARK: Snoozes

    /// Decides about a snooze: a later due time, within the family's limits. The nag keeps its phase and its promise.
    private func decideSnooze(
        _ view: NagView, to dueAt: Timestamp, as input: Provenance, at now: Timestamp, _ drafting: DueChangeDrafting?,
        _ queries: any Queries
    ) async throws -> Decision<NagResponse> {
        if dueAt == view.nag.dueAt { return .answer(view.nag) }
        let row = try await queries.query(
            NagStatements.snoozeFacts(
                view.nag.recipientID, settings: view.settingsFamily, day: countedDay(of: view.record, at: now))
        ).onlyRow()
        let allowance = SnoozeAllowance(
            isAllowed: try row["can_snooze"], perDay: try row["snoozes_per_day"], usedToday: try row["snoozed_today"])
        let policy = try FamilyPolicy(row)
        switch NagLimit.denialOfSnooze(
            from: view.nag.dueAt, to: dueAt, now: now, policy: policy,
            allowance: view.role == .child ? allowance : nil)
        {
        case nil: break
        case .snoozeNotLater?: throw APIError.snoozeIsNotLater
        case .snoozeTooLong?:
            let refusal = APIError.snoozeIsTooLong(limit: policy.maxSnoozeMinutes)
            // The draft sends the creator a message, so it is created only if the two may contact each other.
            guard let drafting, try await denialOfContact(of: view, with: [view.nag.creatorID], queries) == nil
            else { throw refusal }
            return try await drafting.refuseWithDraft(refusal, moving: view, to: dueAt, as: input, queries)
        case .dailySnoozeLimitReached?: return view.refuse(.snooze, limit: .dailySnoozeLimitReached, at: now)
        case let denial?: return view.refuse(.snooze, denial, .policyForbidden)
        }
        if let denial = try await denialOfChange(by: view, at: now, queries) {
            return view.refuse(.snooze, limit: denial, at: now)
        }
        var nag = view.nag
        nag.dueAt = dueAt
        let seriesChange = try await seriesChange(view, to: dueAt, .this, queries)
        // The instance's opening stays the same, so that the recipient may still complete it earlier.
        let change = ["from": view.nag.dueAt.rfc3339, "due_at": dueAt.rfc3339]
        var details = AuditBody(change)
        details.merge(input.auditDetails)
        details.merge(seriesChange.details)
        return .perform(
            view.act(
                .nagSnoozed, details: details, stampedRows: seriesChange.stampedRows,
                statements: [
                    NagStatements.snooze(
                        nag,
                        nextStep: services.escalationPlan.earliestStepTime(
                            after: view.phase, dueAt: dueAt, committedAt: nag.committedAt)),
                    event(.snoozed, view, at: now, change, from: input),
                    input.insert(.snooze, by: view.userID, on: nag.id, at: now),
                ] + seriesChange.statements),
            nag)
    }
}

extension NagUpdate {
    /// Whether the update changes anything other than the promise.
    fileprivate var isEdit: Bool { dueAt != nil || category != nil || doneDefinition != nil || !description.isAbsent }

    /// Whether the update changes the due time alone.
    fileprivate var isOnlyDueTime: Bool {
        dueAt != nil && category == nil && doneDefinition == nil && description.isAbsent && committedAt.isAbsent
    }
}

extension NagResponse {
    /// Returns the fields, except the promise, that differ from an earlier state, with their values. A description is
    /// returned as its length, because only the nag itself stores the words.
    fileprivate func edits(since old: NagResponse) -> [String: String] {
        var edits: [String: String] = [:]
        if dueAt != old.dueAt { edits["due_at"] = dueAt.rfc3339 }
        if category != old.category { edits["category"] = category.rawValue }
        if doneDefinition != old.doneDefinition { edits["done_definition"] = doneDefinition.rawValue }
        if description != old.description {
            edits["description_length"] = "\(description?.unicodeScalars.count ?? 0)"
        }
        return edits
    }
}
