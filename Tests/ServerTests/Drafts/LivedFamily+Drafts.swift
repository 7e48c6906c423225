import Contract
import Domain
import Testing

@testable import Server

extension LivedFamily {
    /// Drafts of every kind, executed by the guardian.
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
        for order in drafts {
            let draft = try await server.call(API.createDraft, order, as: guardian)
            let key = try await server.confirmed(draft, as: guardian)
            try await server.execute(draft, key, as: guardian)
        }
    }
}
