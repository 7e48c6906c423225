import Audit
import Contract
import Domain
import Postgres
import SQL

extension Ingestion {
    /// Imports a list of proposed nags: each item that no import of this person had before becomes a draft, or none
    /// does. The same import again gets the first answer.
    ///
    /// Whether a draft can be approved shows when somebody does, as with every draft.
    /// - Throws: 403 without the consent `ai_mediation`, 409 for an import id that was used for other items, 422 naming
    ///   every item that is invalid.
    func importNags(_ caller: Caller, _ call: Call<NoParameters, NagImport>) async throws -> ImportResult {
        let order = call.body
        if order.isDryRun {
            let member = try await services.access.member(caller, of: order.familyID, services.database)
            return try await examine(order, member, at: call.now, services.database).result(of: order)
        }
        return try await services.ledger.writeAll(caller, in: order.familyID) { queries, perform in
            var member = try await services.access.member(caller, of: order.familyID, queries)
            var examined = try await examine(order, member, at: call.now, queries)
            if let refusal = examined.refusal { throw refusal }
            let items = examined.newItems
            let made = drafts.draft(items.map { order.items[$0] }, of: order, by: member, call.context)
            for (number, (index, draft)) in zip(items, made).enumerated() {
                // Read again after each act, which the next one depends on.
                if number > 0 { member = try await services.access.member(caller, of: order.familyID, queries) }
                let act = try await drafts.drafting(
                    draft, by: member,
                    [IngestionStatements.insert(order.items[index], became: draft, at: call.now)], at: call.now, queries
                )
                examined.results[index].draftID = draft.id
                if number == items.count - 1 { return .perform(act, examined.result(of: order)) }
                try await perform(act)
            }
            return .answer(examined.result(of: order))
        }
    }

    /// What becomes of each item.
    private func examine(
        _ order: NagImport, _ member: Member, at now: Timestamp, _ queries: any Queries
    ) async throws -> ExaminedImport {
        try Requester.requireOpenGate(
            try await queries.query(AIStatements.gate(member.userID, in: order.familyID)).one())
        let used = try await queries.query(
            IngestionStatements.importers(of: order.importID, in: order.familyID)
        ).map { row throws(PostgresError) -> UserID in try row["user_id"] }
        let known = try await results(order.items.map(\.itemID), of: member.userID, in: order.familyID, queries)
        let members = try await queries.query(
            MembershipStatements.active(order.items.map(\.nag.recipientID), in: order.familyID)
        ).map { row throws(PostgresError) -> UserID in try row["user_id"] }
        let examined = ExaminedImport(order, known, members: Set(members), at: now)
        let isOthers = used.contains { $0 != member.userID }
        if isOthers || !used.isEmpty && !examined.newItems.isEmpty {
            throw APIError(
                .conflict, "This import_id was used for other items. Choose another one.", field: "import_id",
                reason: "import_id_used")
        }
        return examined
    }
}

/// What becomes of the items of an import.
private struct ExaminedImport {
    var results: [ImportItemResult]

    init(_ order: NagImport, _ known: [InputID: KeptResult], members: Set<UserID>, at now: Timestamp) {
        results = order.items.enumerated().map { index, item in
            if let earlier = known[item.itemID] { return earlier.answer(to: item, at: index, of: order) }
            func invalid(_ field: String, _ message: String) -> ImportItemResult {
                ImportItemResult(
                    itemID: item.itemID, outcome: .invalid,
                    error: ImportFault(field: "items[\(index)].\(field)", message: message))
            }
            if let fault = DueTimeLimit.fault(of: item.nag.dueAt.flooredToMillisecond, now: now) {
                return invalid("due_at", fault)
            }
            if !members.contains(item.nag.recipientID) { return invalid("recipient_id", "There is no such member.") }
            return ImportItemResult(itemID: item.itemID, outcome: .new)
        }
    }

    /// The indices of the items that no import had before.
    var newItems: [Int] { results.indices.filter { results[$0].outcome == .new && results[$0].draftID == nil } }

    /// Names every invalid item; nil where there is none.
    var refusal: APIError? {
        let faults = results.compactMap(\.error)
        guard let first = faults.first else { return nil }
        let others = faults.dropFirst().map(\.field).joined(separator: ", ")
        let more = others.isEmpty ? "" : " Also invalid: \(others)."
        return APIError(.validationFailed, "\(first.field): \(first.message)\(more)", field: first.field)
    }

    func result(of order: NagImport) -> ImportResult {
        ImportResult(importID: order.importID, isDryRun: order.isDryRun, items: results)
    }
}

extension KeptResult {
    /// What became of an item that was sent before.
    fileprivate func answer(to item: ImportItem, at index: Int, of order: NagImport) -> ImportItemResult {
        guard let imported, fingerprint == IngestionStatements.fingerprint(of: item) else {
            return ImportItemResult(
                itemID: item.itemID, outcome: .invalid,
                error: ImportFault(field: "items[\(index)].item_id", message: "This id was used for another input."))
        }
        // The first answer again, where it was this import.
        let isSame = imported.batch == order.importID && !order.isDryRun
        return ImportItemResult(
            itemID: item.itemID, outcome: isSame ? .new : .alreadyImported, draftID: imported.draft)
    }
}
