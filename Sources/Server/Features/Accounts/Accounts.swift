import Audit
import Contract
import Domain
import Postgres

/// Accounts come to their end; opening one and signing in is the group `auth`.
final class Accounts {
    private let services: Services
    private let families: Families

    init(_ services: Services, _ families: Families) {
        self.services = services
        self.families = families
    }

    /// Deletes an account, softly and at once: its sessions end, its membership ends as by leaving, and nobody signs in to
    /// it again, all in one act. What is kept of it is purged later.
    ///
    /// A person's own; but a child's account that was made in their family is for its guardians to delete. Of other accounts
    /// nothing is told.
    func delete(_ caller: Caller, _ call: Call<AccountPath, NoBody>) async throws -> AccountResponse {
        let user = call.parameters.userID
        let account = try await services.access.account(caller, services.database)
        let found = try await services.database.query(AccountStatements.byID(user)).first
        guard let person = try found.map(Person.init),
            user == caller.userID || (account.family != nil && person.membership?.familyID == account.family)
        else { throw APIError(.notFound, "There is no such account.") }
        let answer = AccountResponse(
            id: user, email: person.email, displayName: person.displayName, status: AccountStatus.deleted.rawValue,
            createdAt: person.createdAt)
        if let family = account.family {
            return try await families.depart(caller, user, from: family, by: .deletingAccount(answer, at: call.now))
        }
        let hasJoined = APIError(.conflict, "You have joined a family meanwhile.")
        do {
            return try await services.ledger.write(caller, in: .outside) { queries in
                guard try await services.access.account(caller, queries).family == nil else { throw hasJoined }
                let act = Act(
                    kind: .accountDeleted, basis: .nothing, actor: person.pseudonym, subject: person.pseudonym,
                    stampedRows: 0,
                    statements: AccountStatements.delete(user, at: call.now) + [
                        SessionStatements.revokeAll(of: user, at: call.now)
                    ])
                return .perform(act, answer)
            }
        } catch let error as PostgresError where error.violates(.deletedIsNoMember) {
            throw hasJoined
        }
    }
}

extension Departure<AccountResponse> {
    static func deletingAccount(_ answer: AccountResponse, at now: Timestamp) -> Departure {
        Departure(
            kind: .accountDeleted, deniedKind: .accountDeleteDenied,
            denial: { member, person in
                guard let person else { return nil }
                return RoleMatrix.denialOfAccountDeletion(
                    of: person.role, isSelf: person.id == member.userID, isFamilyAccount: person.isFamilyAccount,
                    by: MemberState(role: member.role))
            },
            mayLeaveNobody: true, endSessions: { SessionStatements.revokeAll(of: $0, at: now) },
            statements: AccountStatements.delete(answer.id, at: now), answer: { _ in answer })
    }
}
