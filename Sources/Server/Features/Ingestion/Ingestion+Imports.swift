import Audit
import Contract
import Domain
import Postgres
import SQL

extension Ingestion {
    /// Imports a list of proposed nags. An item that the person has not imported before becomes a draft. An item that
    /// has changed since then edits its open draft, or becomes a draft of a new due time for the nag that its executed
    /// draft created. Repeating an import returns the first answer. A dry run stores nothing, and returns what
    /// the import would do with each item.
    ///
    /// An import does not check whether its drafts can be approved; as with every draft, the approval does.
    /// - Throws: 403 without the consent `ai_mediation`, 409 for an import ID that was used for other items, 422 if two
    ///   items have the same ID, or, unless it is a dry run, if all items are invalid.
    func importNags(_ caller: Caller, _ call: Call<NoParameters, NagImport>) async throws -> ImportResult {
        let request = call.body
        if request.isDryRun {
            let member = try await services.access.member(caller, of: request.familyID, services.database)
            return try await examine(request, member, caller, services.database).result(of: request)
        }
        return try await services.ledger.writeAll(caller, in: request.familyID) { queries, perform in
            var member = try await services.access.member(caller, of: request.familyID, queries)
            var examinedImport = try await examine(request, member, caller, queries)
            if let refusal = examinedImport.refusal { throw refusal }
            // The drafts of an import are listed by their IDs, so these ascend in the order of the items.
            let ids = examinedImport.steps.map { _ in services.random.identifier(at: caller.now) as DraftID }.sorted()
            for (stepNumber, (index, step)) in examinedImport.steps.enumerated() {
                // Each act requires the sequence number that the act before it left.
                if stepNumber > 0 { member = try await services.access.member(caller, of: request.familyID, queries) }
                let (act, draft) = try await act(
                    step, of: request.items[index], in: request, as: ids[stepNumber], by: member, caller, queries)
                examinedImport.results[index].draftID = draft
                if stepNumber == ids.count - 1 { return .perform(act, examinedImport.result(of: request)) }
                try await perform(act)
            }
            return .answer(examinedImport.result(of: request))
        }
    }

    /// Returns the act of a step, and the ID of the draft that it creates or edits.
    private func act(
        _ step: ImportStep, of item: ImportItem, in request: NagImport, as id: DraftID, by member: Member,
        _ caller: Caller, _ queries: any Queries
    ) async throws -> (Act, DraftID) {
        func makeDraft(_ body: DraftBody) -> DraftResponse {
            var draft = drafts.makeClientDraft(body, id: id, from: request.source, by: member, caller.context)
            (draft.importID, draft.itemID) = (request.importID, item.itemID.input)
            return draft
        }
        func storeChange(to draft: DraftID) -> SQL {
            IngestionStatements.updateItem(item, to: draft, in: request.importID, of: member.userID, at: caller.now)
        }
        switch step {
        case .createDraft:
            let draft = makeDraft(.suggestedNag(item.nag))
            let insert = IngestionStatements.insert(item, became: draft, at: caller.now)
            return (try await drafts.creationAct(draft, by: member, [insert], at: caller.now, queries), id)
        case .proposeDueTime(let nag):
            var draft = makeDraft(.dueChange(DueChange(dueAt: item.nag.dueAt)))
            draft.nagID = nag.id
            if nag.creatorID != member.userID { draft.addresseeID = nag.creatorID }
            return (try await drafts.creationAct(draft, by: member, [storeChange(to: id)], at: caller.now, queries), id)
        case .editDraft(var draft, let body):
            let statement = storeChange(to: draft.id)
            let act = try await drafts.editAct(&draft, to: body, by: member, [statement], at: caller.now, queries)
            return (act, draft.id)
        }
    }

    // MARK: Examining the items

    /// Returns the results of the items, and the steps to take for new and changed ones.
    private func examine(
        _ request: NagImport, _ member: Member, _ caller: Caller, _ queries: any Queries
    ) async throws -> ExaminedImport {
        try Requester.requireAIAllowed(
            try await queries.query(AIStatements.permission(member.userID, in: request.familyID)).onlyRow())
        let ids = request.items.map(\.itemID.input)
        guard Set(ids).count == ids.count else { throw APIError.itemsAreRepeated }
        let importers = try await queries.query(
            IngestionStatements.importers(of: request.importID, in: request.familyID)
        ).map { row throws(PostgresError) -> UserID in try row["user_id"] }
        let storedResults = try await results(ids, of: member.userID, in: request.familyID, queries)
        let earlierDrafts = try await drafts.drafts(
            storedResults.values.compactMap(\.importedItem?.draftID), for: member, queries)
        let members = try await queries.query(
            MembershipStatements.activeMembers(among: request.items.map(\.nag.recipientID), in: request.familyID)
        ).map { row throws(PostgresError) -> UserID in try row["user_id"] }
        var examinedImport = ExaminedImport()
        for (index, item) in request.items.enumerated() {
            let stored = storedResults[ids[index]]
            let draft = stored?.importedItem.flatMap { imported in
                earlierDrafts.first { $0.id == imported.draftID }
            }
            let step: ImportStep?
            if stored == nil {
                step = .createDraft
            } else if let draft, stored?.matches(item) == false, stored?.supersedes(request.importID) == false {
                step = try await self.step(changing: draft, to: item.nag, caller, queries)
            } else {
                step = nil
            }
            examinedImport.add(
                item, at: index, of: request, stored, draft, step,
                fault: step == nil ? nil : Self.fault(of: item.nag, members: members, at: caller.now))
        }
        let isUsedByAnother = importers.contains { $0 != member.userID }
        let isRepetition = !importers.isEmpty || storedResults.values.contains { $0.supersedes(request.importID) }
        if isUsedByAnother || isRepetition && !examinedImport.steps.isEmpty {
            throw APIError.importIDWasUsed
        }
        return examinedImport
    }

    /// Returns the reason for which no draft can be made of a nag; nil if one can.
    private static func fault(of nag: SuggestedNag, members: [UserID], at now: Timestamp) -> ImportFault? {
        if let fault = DueTimeLimit.fault(of: nag.dueAt.flooredToMillisecond, now: now) {
            return ImportFault(field: "due_at", message: fault)
        }
        return members.contains(nag.recipientID)
            ? nil : ImportFault(field: "recipient_id", message: APIError.noSuchMember.message)
    }

    /// Returns the step for a changed item: to edit its open draft, or to propose a new due time for the nag of its
    /// executed draft. The result is nil if neither is possible, or if nothing that the draft contains has changed.
    private func step(
        changing draft: DraftResponse, to nag: SuggestedNag, _ caller: Caller, _ queries: any Queries
    ) async throws -> ImportStep? {
        let isDueChange = draft.kind == .dueChange
        if draft.progress.state.isOpen {
            let body = (isDueChange ? DraftBody.dueChange(DueChange(dueAt: nag.dueAt)) : .suggestedNag(nag))
                .flooredToMillisecond
            return body == draft.body ? nil : .editDraft(draft, body)
        }
        guard draft.progress.state == .executed, let id = isDueChange ? draft.nagID : draft.resultID?.retyped() else {
            return nil
        }
        do {
            let view = try await nags.view(caller, id, queries)
            guard view.nag.status == .open, RoleMatrix.denial(of: .read, by: view.part) == nil else { return nil }
            return view.nag.dueAt == nag.dueAt.flooredToMillisecond ? nil : .proposeDueTime(view.nag)
        } catch let error as APIError where error.code == .notFound {
            return nil
        }
    }
}

/// A step to take for an item of an import.
private enum ImportStep {
    /// Creates a draft of a nag.
    case createDraft
    /// Creates a draft that proposes another due time for the nag that an earlier draft created.
    case proposeDueTime(NagResponse)
    /// Replaces the body of the item's open draft.
    case editDraft(DraftResponse, DraftBody)
}

/// The results of the items of an import, and the steps to take for them.
private struct ExaminedImport {
    var results: [ImportItemResult] = []
    /// The steps, with the indices of their items.
    var steps: [(index: Int, step: ImportStep)] = []

    /// Adds the result of an item, and its step if that can be taken.
    /// - Parameters:
    ///   - stored: the stored result of the item; nil for a new item.
    ///   - draft: the draft that was made of the item; nil for a new item, and if the draft has been deleted.
    ///   - fault: the reason for which the step cannot be taken; nil if it can.
    mutating func add(
        _ item: ImportItem, at index: Int, of request: NagImport, _ stored: StoredInputResult?, _ draft: DraftResponse?,
        _ step: ImportStep?, fault: ImportFault?
    ) {
        var result = ImportItemResult(itemID: item.itemID, outcome: stored == nil ? .new : .changed)
        if let step {
            if fault == nil { steps.append((index, step)) }
            result.error = fault
        } else if let imported = stored?.importedItem {
            result.draftID = imported.draftID
            // A repetition of the same import returns the first outcome.
            let isSame = stored?.matches(item) == true && imported.importID == request.importID && !request.isDryRun
            let wasNew = draft.map { $0.importID == request.importID && $0.kind == .suggestedNag } ?? true
            result.outcome = !isSame ? .alreadyImported : wasNew ? .new : .changed
        } else {
            result.error = ImportFault(field: "item_id", message: APIError.inputIDWasUsed.message)
        }
        if let error = result.error {
            result.outcome = .invalid
            result.error?.field = "items[\(index)].\(error.field)"
        }
        results.append(result)
    }

    /// The refusal of an import whose items are all invalid, with the first item's fault; nil for other imports.
    var refusal: APIError? {
        let faults = results.compactMap(\.error)
        guard let first = faults.first, faults.count == results.count else { return nil }
        return APIError.importIsInvalid(first, others: faults.count > 1)
    }

    func result(of request: NagImport) -> ImportResult {
        ImportResult(importID: request.importID, isDryRun: request.isDryRun, items: results)
    }
}

extension ImportItemID {
    /// The ID under which the item is stored: this ID if it is a UUID, otherwise a UUID that is derived from its text
    /// (RFC 9562 §5.8).
    var input: InputID {
        if let uuid { return uuid }
        let digest = sha256(Array("item:\(wireText)".utf8))
        func number(_ range: Range<Int>) -> UInt64 { digest[range].reduce(0) { $0 << 8 | UInt64($1) } }
        return InputID(
            high: number(0..<8) & ~0xF000 | 0x8000, low: number(8..<16) & (.max >> 2) | 1 << 63)
    }
}
