import Contract
import Domain
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Drafts: permissions by role and source")
struct DraftRoleTests {
    private enum Outcome: Equatable {
        case taken
        case refused(ErrorCode, String?)
    }

    /// What the step of somebody comes to. An adult's draft is of a nag to the child.
    private static func expected(
        _ step: DraftStep, by who: Who, author: Who, source: DraftSource
    ) -> Outcome {
        let sees = who == .guardian || who == .secondGuardian || who == author
        if !sees { return .refused(.notFound, nil) }
        if source == .voice || source == .shortcut { return .refused(.policyForbidden, "voice_only_creates") }
        guard who == .child else { return .taken }
        switch step {
        case .edit, .reject: return .taken
        case .approve, .confirm: return .refused(.policyForbidden, "child_may_not_nag")
        case .execute: return .refused(.conflict, "confirmation_invalid")
        }
    }

    @Test(
        "each step of a draft is allowed or refused by role and source",
        arguments: [Who.participant, .child], DraftStep.allCases)
    private func roles(author: Who, step: DraftStep) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            for who in Who.allCases {
                for source in DraftSource.allCases {
                    try await server.sql("DELETE FROM daily_counts")
                    let draft = try await server.draft("Cleo does the dishes", in: family, as: author(family))
                    if step == .confirm || step == .execute { try await server.approve(draft, as: family.guardian) }
                    var key: DraftConfirmation?
                    if step == .execute {
                        let isEntitled = [.guardian, .secondGuardian, author].contains(who) && who != .child
                        key = try await server.confirm(draft, as: isEntitled ? who(family) : family.guardian)
                    }
                    let outcome: Outcome
                    do {
                        try await server.take(step, draft, key, as: who(family), source: source)
                        outcome = .taken
                    } catch let error as APIError {
                        outcome = .refused(error.code, error.code == .notFound ? nil : error.reason)
                    }
                    #expect(
                        outcome == Self.expected(step, by: who, author: author, source: source),
                        "\(step) by \(who) from \(source), a draft of \(author)")
                    let state = try await server.draft(draft.id, as: family.guardian).progress
                    if outcome != .taken {
                        let before: DraftState =
                            switch step {
                            case .confirm: .approved
                            case .execute: .confirmed
                            case .edit, .approve, .reject: .draft
                            }
                        #expect(state.state == before && state.version == 1)
                    }
                }
            }
        }
    }

    @Test("every member may have drafts made from every source, and nobody else", arguments: DraftSource.allCases)
    func creation(source: DraftSource) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            for person in family.members {
                let draft = try await server.draft(in: family, source: source, as: person)
                #expect(draft.authorID == person.id && draft.source == source)
            }
            for person in [family.removed, family.stranger] {
                try await server.expect(.refusal(.authorizationDenied)) {
                    try await server.draft(in: family, source: source, as: person)
                }
            }
        }
    }
}
