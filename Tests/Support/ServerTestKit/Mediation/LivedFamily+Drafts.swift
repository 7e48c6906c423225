import Contract
import Domain
import Testing

@testable import Server

extension LivedFamily {
    /// Creates drafts of every kind, which the guardian executes, and an import.
    func liveWithDrafts() async throws {
        let rules = try await server.call(
            API.listIncentiveRules, IncentiveListQuery(familyID: id, page: PageRequest()), as: guardian)
        let open = try await nag(to: child)
        let done = try await nag(to: child)
        _ = try await server.complete(done, as: child)
        var drafts = [
            DraftCreate(familyID: id, kind: .suggestedNag, text: "Finn feeds the dog tomorrow at 5"),
            DraftCreate(familyID: id, kind: .dueChange, nagID: open, text: "in 3 days"),
            DraftCreate(familyID: id, kind: .pushBack, nagID: open),
        ]
        if let rule = rules.items.first(where: { $0.status == .active && $0.action.type == .bonusPoints }) {
            let body = Consequence(ruleID: rule.id, actionType: rule.action.type, amount: rule.action.amount)
            drafts.append(DraftCreate(familyID: id, kind: .consequence, nagID: done, body: .consequence(body)))
        }
        let digest = DigestMessage(message: "well done", recipientIDs: [guardian.id])
        let orders =
            drafts.map { ($0, guardian) }
            + [(DraftCreate(familyID: id, kind: .digest, body: .digest(digest)), participant)]
        for (order, author) in orders {
            let draft = try await server.call(API.createDraft, order, as: author)
            let key = try await server.confirmed(draft, as: guardian)
            try await server.execute(draft, key, as: guardian)
        }
        try await liveWithImport()
    }

    /// Lets the participant import two nags, and execute their drafts together.
    private func liveWithImport() async throws {
        let path = ImportPath(importID: ImportID(high: 0x11, low: 1))
        let items = (1...2).map { number in
            ImportItem(
                itemID: ImportItemID(InputID(high: 0x12, low: number)),
                nag: SuggestedNag(
                    recipientID: child.id, category: .chores, description: nil, dueAt: server.clock.now() + .hours(5),
                    doneDefinition: .acknowledgeOnly))
        }
        try await server.call(
            API.importNags, NagImport(familyID: id, importID: path.importID, source: .document, items: items),
            as: participant)
        let chosen = try await server.call(API.getImport, path, as: participant).open()
        try await server.call(
            API.approveImport, path, ImportApproval(chosen, acknowledged: DraftKind.suggestedNag.sideEffects),
            as: participant)
        let key = try await server.call(API.confirmImport, path, chosen, as: participant)
        try await server.call(
            API.executeImport, path, ImportExecution(chosen, confirmation: key.confirmation), as: participant)
    }
}
