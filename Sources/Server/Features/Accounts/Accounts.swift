import Audit
import Contract
import Domain
import Postgres

/// Completion, deletion and export of accounts. Sign-up and sign-in have the tag `auth`.
final class Accounts {
    let services: Services
    private let families: Families
    private let connections: Connections

    init(_ services: Services, _ families: Families, _ connections: Connections) {
        self.services = services
        self.families = families
        self.connections = connections
    }

    /// Registers operations of the tag `accounts`.
    func register(in routes: RouteTable) {
        routes.signedIn(API.createAccount, fillMissingProfile)
        routes.signedInResponding(API.exportAccount, AccountDataExport(services).stream)
        routes.signedIn(API.deleteAccount, deleteOwnOrChildAccount)
        let me = Me(services)
        me.register(in: routes)
        PhoneNumbers(services, me).register(in: routes)
        Passwords(services).register(in: routes)
        EmailChanges(services).register(in: routes)
    }

    /// Deletes an account softly and at once: ends its sessions, ends its membership as if the person left the family,
    /// and prevents further sign-in, all in one act. Its personal data is purged later (`AccountPurge`). Earlier acts
    /// revoke the person's connections, one each, and cancel open nags (`depart`). If the process dies in between, the
    /// account still exists.
    ///
    /// People delete their own account; a child's account that was made in a family is deleted by its guardians.
    /// - Throws: 404 for accounts outside the caller's family, whether they exist or not; 403 where the caller may not
    ///   delete the account; 412 for the last guardian of a family with other members; 409 if the person is invited
    ///   again before each of eight attempts.
    func deleteOwnOrChildAccount(
        _ caller: Caller, _ call: Call<AccountPath, NoBody>
    ) async throws -> AccountResponse {
        guard call.parameters.userID == caller.userID else { return try await deleteUnconnected(caller, call) }
        // The deletion is refused as long as there are connections; somebody may invite the person at this moment.
        for _ in 0..<8 {
            do {
                return try await deleteUnconnected(caller, call)
            } catch let error as PostgresError where error.violates(.deletedHasNoConnection) {
                try await connections.revokeAll(of: caller)
            }
        }
        throw APIError.accountWasInvited
    }

    /// Deletes an account without pending and active connections. If it has one, the act violates
    /// `deleted_has_no_connection`.
    private func deleteUnconnected(
        _ caller: Caller, _ call: Call<AccountPath, NoBody>
    ) async throws -> AccountResponse {
        let user = call.parameters.userID
        let account = try await services.access.account(
            caller, acceptsWaiting: user == caller.userID, services.database)
        let personRow = try await services.database.query(AccountStatements.byID(user)).first
        guard let person = try personRow.map(Person.init),
            user == caller.userID || (account.family != nil && person.membership?.familyID == account.family)
        else { throw APIError.noSuchAccount }
        let answer = AccountResponse(
            id: user, email: person.email, displayName: person.displayName, status: AccountStatus.deleted.rawValue,
            createdAt: person.createdAt)
        if let family = account.family {
            return try await families.depart(caller, user, from: family, by: .accountDeletion(answer, at: caller.now))
        }
        do {
            return try await services.ledger.write(caller, in: .outside) { queries in
                guard try await services.access.account(caller, acceptsWaiting: true, queries).family == nil else {
                    throw APIError.accountHasJoined
                }
                return .perform(
                    .accountDeletionOutsideFamilies(
                        of: user, person.pseudonym, by: person.pseudonym, basis: .nothing, at: caller.now),
                    answer)
            }
        } catch let error as PostgresError where error.violates(.deletedIsNoMember) {
            throw APIError.accountHasJoined
        }
    }
}

extension Act {
    /// Returns the act that deletes an account without a family.
    static func accountDeletionOutsideFamilies(
        of user: UserID, _ pseudonym: Pseudonym, by actor: Pseudonym, basis: Basis, details: AuditBody = [:],
        at now: Timestamp
    ) -> Act {
        Act(
            kind: .accountDeleted, basis: basis, actor: actor, subject: pseudonym, details: details, stampedRows: 0,
            statements: AccountStatements.delete(user, at: now) + [
                SessionStatements.revokeAll(of: user, at: now), ConnectionStatements.removeAddresses(of: user),
            ])
    }
}

extension Departure<AccountResponse> {
    /// Returns the departure of a member whose account is deleted in the same act. `answer` is the response.
    static func accountDeletion(_ answer: AccountResponse, at now: Timestamp) -> Departure {
        Departure(
            kind: .accountDeleted, deniedKind: .accountDeleteDenied,
            denial: { member, person in
                guard let person else { return nil }
                return RoleMatrix.denialOfAccountDeletion(
                    of: person.role, isSelf: person.id == member.userID, isFamilyAccount: person.isFamilyAccount,
                    by: MemberState(role: member.role))
            },
            allowsLastMember: true, sessionRevocation: { SessionStatements.revokeAll(of: $0, at: now) },
            additionalStatements: AccountStatements.delete(answer.id, at: now) + [
                ConnectionStatements.removeAddresses(of: answer.id)
            ], answer: { _ in answer })
    }
}
