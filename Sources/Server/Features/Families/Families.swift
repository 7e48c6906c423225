import Contract
import Domain
import Postgres
import SQL

/// The operations on families and their members. Each way to join or leave has a file of its own.
package final class Families {
    let services: Services

    package init(_ services: Services) { self.services = services }

    /// Registers the operations of the tag `families`: families, their members, and how their children sign in.
    func register(in routes: RouteTable) {
        routes.signedIn(API.createFamily, create)
        routes.signedIn(API.listFamilies, list)
        routes.signedIn(API.getFamily, get)
        routes.signedIn(API.updateFamily, update)
        routes.signedIn(API.joinFamily, join)
        routes.signedIn(API.joinFamilyByID, joinByID)
        routes.signedIn(API.leaveFamily, leave)
        routes.signedIn(API.renewFamilyCode, renewCode)

        routes.signedIn(API.listMembers, listMembers)
        routes.signedIn(API.addMember, addMember)
        routes.signedIn(API.createMember, createMember)
        routes.signedIn(API.removeMember, removeMember)

        routes.signedIn(API.setChildCredentials, setCredentials)
        routes.signedIn(API.unlockMember, unlockMember)
        routes.signedIn(API.changePIN, changePIN)
        routes.signedIn(API.getChildSettings, getChildSettings)
        routes.signedIn(API.updateChildSettings, updateChildSettings)
    }

    /// Returns a new invite code or child code.
    func makeCode() -> String { services.random.code(8) }

    /// Returns the family. Only guardians see its codes.
    package func get(_ caller: Caller, _ call: Call<FamilyPath, NoBody>) async throws -> FamilyResponse {
        let member = try await services.access.member(caller, of: call.parameters.familyID, services.database)
        return try await response(for: member, services.database)
    }

    /// Lists the caller's families: one or none.
    func list(_ caller: Caller, _ call: Call<PageRequest, NoBody>) async throws -> Page<FamilyResponse> {
        let account = try await services.access.account(caller, services.database)
        var families: [FamilyResponse] = []
        if let family = account.family {
            let member = try await services.access.member(caller, of: family, services.database)
            families = [try await response(for: member, services.database)]
        }
        let page = call.parameters
        return Page(
            items: Array(families.dropFirst(page.offset).prefix(page.limit)), total: families.count, answering: page)
    }

    /// Returns the member's family as they may see it.
    func response(for member: Member, _ queries: any Queries) async throws -> FamilyResponse {
        let row = try await queries.query(FamilyStatements.codesAndCreationTime(of: member.familyID)).onlyRow()
        let isGuardian = member.role == .guardian
        return FamilyResponse(
            id: member.familyID, name: member.familyName, inviteCode: isGuardian ? try row["invite_code"] : "",
            childCode: isGuardian ? try row["child_code"] : nil, timeZone: member.familyZone,
            createdAt: try row["created_at"])
    }

    /// Lists the active members in the order in which they joined. Guardians also see lockouts after wrong PINs.
    func listMembers(_ caller: Caller, _ call: Call<FamilyMembersQuery, NoBody>) async throws -> Page<MemberDetail> {
        let (family, page) = (call.parameters.familyID, call.parameters.page)
        let member = try await services.access.member(caller, of: family, services.database)
        let rows = try await services.database.query(MembershipStatements.page(page, of: family))
        var members = try Page(rows, answering: page) { try MemberRecord(ifAny: $0)?.detail(in: family) }
        if member.role == .guardian {
            let children = members.items.filter(\.hasChildLogin).map(\.userID)
            let lockouts = try await PINAttempts.lockoutEnds(of: children, at: caller.now, services.database)
            for index in members.items.indices {
                members.items[index].loginLockedUntil = lockouts[members.items[index].userID]
            }
        }
        return members
    }

    /// Returns an active member of a family.
    /// - Throws: 404 if the family has no active member with that ID.
    func member(_ user: UserID, of family: FamilyID, _ queries: any Queries) async throws -> MemberRecord {
        let rows = try await queries.query(MembershipStatements.member(user, of: family))
        guard let row = rows.first else { throw APIError.noSuchMember }
        return try MemberRecord(row)
    }

    /// Returns the statements of a new or renewed membership.
    /// - Parameters:
    ///   - isWaiting: whether the account waits for a guardian; then the statements activate it.
    ///   - isGuardiansDecision: whether a guardian has decided to admit the person, which lifts suspended
    ///     relationships. Joining by a code does not lift them.
    func admission(
        of user: UserID, as role: FamilyRole, at now: Timestamp, isWaiting: Bool = false,
        isGuardiansDecision: Bool = false
    ) -> [SQL] {
        var statements = [
            MembershipStatements.admit(user, as: role, at: now),
            MembershipStatements.insertRelationships(user, liftingSuspensions: isGuardiansDecision),
        ]
        if role == .child { statements.append(ChildSettingsStatements.insertDefaults(for: user)) }
        if isWaiting { statements.append(AccountStatements.activate(user)) }
        return statements
    }

    /// Returns the reason for which the family cannot have one more member; nil if it can.
    /// - Parameter makesAccount: whether a new account is created for the member. The number of such accounts within 24
    ///   hours is limited, too.
    func denialOfNewMember(
        of family: FamilyID, at now: Timestamp, makesAccount: Bool = false, _ queries: any Queries
    ) async throws -> Denial? {
        let counts = try await queries.query(
            MembershipStatements.memberLimitCounts(of: family, since: now - .days(1))
        ).onlyRow()
        if let denial = FamilyLimit.denialOfMember(active: try counts["members"]) { return denial }
        return makesAccount ? FamilyLimit.denialOfAccount(madeWithinDay: try counts["made"]) : nil
    }

    /// Returns whether the family's guardians consent to children's accounts.
    /// - Parameter user: the caller.
    func allowsChildAccounts(for user: UserID, in family: FamilyID, _ queries: any Queries) async throws -> Bool {
        try await queries.query(
            ConsentStatements.status(.childAccountCreation, for: user, in: family)
        ).onlyRow()["is_in_force"]
    }

    /// Performs a write, and throws 409 if at its commit the person is in another family or their account is deleted.
    func mappingMembershipConflict<Answer>(_ write: () async throws -> Answer) async throws -> Answer {
        do {
            return try await write()
        } catch let error as PostgresError where error.violates(.oneActiveFamily) {
            throw APIError.personHasFamily
        } catch let error as PostgresError where error.violates(.deletedIsNoMember) {
            throw APIError.accountWasDeletedMeanwhile
        }
    }
}

/// An active member, with the facts that the operations on families need.
struct MemberRecord {
    let id: UserID
    let pseudonym: Pseudonym
    let displayName: String?
    let role: FamilyRole
    let joinedAt: Timestamp
    let hasChildLogin: Bool
    /// Whether the account was made inside this family and has no sign-in of its own: the guardians decide about it.
    let isFamilyAccount: Bool

    init(_ row: Row) throws(PostgresError) {
        id = try row["user_id"]
        pseudonym = try row["pseudonym"]
        displayName = try row["display_name"]
        role = try row["role"]
        joinedAt = try row["joined_at"]
        hasChildLogin = try row["has_child_login"]
        isFamilyAccount = try row["is_family_account"]
    }

    /// Reads a member; nil for a row of nulls.
    init?(ifAny row: Row) throws(PostgresError) {
        guard let _: UserID = try row["user_id"] else { return nil }
        try self.init(row)
    }

    func detail(in family: FamilyID) -> MemberDetail {
        MemberDetail(
            userID: id, displayName: displayName, familyID: family, role: role, status: .active, joinedAt: joinedAt,
            hasChildLogin: hasChildLogin)
    }
}
