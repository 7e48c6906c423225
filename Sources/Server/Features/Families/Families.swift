import Contract
import Domain
import Postgres
import SQL

/// Families and their members; each way to join or leave has a file of its own.
package final class Families {
    let services: Services

    package init(_ services: Services) { self.services = services }

    /// The group `families`: families, their members, and how their children sign in.
    func register(in routes: RouteTable) {
        routes.signedIn(API.createFamily, create)
        routes.signedIn(API.listFamilies, list)
        routes.signedIn(API.getFamily, get)
        routes.signedIn(API.updateFamily, update)
        routes.signedIn(API.joinFamily, join)
        routes.signedIn(API.joinFamilyByID, joinByID)
        routes.signedIn(API.leaveFamily, leave)
        routes.signedIn(API.renewFamilyCode, renewCode)

        routes.signedIn(API.listMembers, members)
        routes.signedIn(API.addMember, addMember)
        routes.signedIn(API.createMember, createMember)
        routes.signedIn(API.removeMember, removeMember)

        routes.signedIn(API.setChildCredentials, setCredentials)
        routes.signedIn(API.unlockMember, unlockMember)
        routes.signedIn(API.changePIN, changePIN)
        routes.signedIn(API.getChildSettings, childSettings)
        routes.signedIn(API.updateChildSettings, updateChildSettings)
    }

    /// A code that guardians hand out to let people in.
    func newCode() -> String { services.random.code(8) }

    /// The family; only guardians see its codes.
    package func get(_ caller: Caller, _ call: Call<FamilyPath, NoBody>) async throws -> FamilyResponse {
        let member = try await services.access.member(caller, of: call.parameters.familyID, services.database)
        return try await response(for: member, services.database)
    }

    /// The caller's families: people are in one, or in none.
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

    func response(for member: Member, _ queries: any Queries) async throws -> FamilyResponse {
        let row = try await queries.query(FamilyStatements.family(member.familyID)).one()
        let isGuardian = member.role == .guardian
        return FamilyResponse(
            id: member.familyID, name: member.familyName, inviteCode: isGuardian ? try row["invite_code"] : "",
            childCode: isGuardian ? try row["child_code"] : nil, timeZone: member.timeZone,
            createdAt: try row["created_at"])
    }

    /// The active members, in the order they joined. Guardians also see who is locked out after wrong PINs.
    func members(_ caller: Caller, _ call: Call<FamilyMembersQuery, NoBody>) async throws -> Page<MemberDetail> {
        let (family, page) = (call.parameters.familyID, call.parameters.page)
        let member = try await services.access.member(caller, of: family, services.database)
        let rows = try await services.database.query(MembershipStatements.page(page, of: family))
        var members = try Page(rows, answering: page) { try MemberRecord(ifAny: $0)?.detail(in: family) }
        if member.role == .guardian {
            let children = members.items.filter(\.hasChildLogin).map(\.userID)
            let lockouts = try await PINAttempts.lockouts(of: children, at: caller.now, services.database)
            for index in members.items.indices {
                members.items[index].loginLockedUntil = lockouts[members.items[index].userID]
            }
        }
        return members
    }

    /// An active member of the caller's family.
    /// - Throws: 404 when there is none of that id.
    func member(_ user: UserID, of family: FamilyID, _ queries: any Queries) async throws -> MemberRecord {
        let rows = try await queries.query(MembershipStatements.member(user, of: family))
        guard let row = rows.first else { throw APIError.noSuchMember }
        return try MemberRecord(row)
    }

    /// Returns the statements of a new or renewed membership.
    /// - Parameters:
    ///   - isWaiting: whether the account waits for a guardian; it becomes active.
    ///   - isGuardiansDecision: whether a guardian decides it, which lifts suspended relationships. Joining by a code does
    ///     not.
    func admission(
        of user: UserID, as role: FamilyRole, at now: Timestamp, isWaiting: Bool = false,
        isGuardiansDecision: Bool = false
    ) -> [SQL] {
        var rows = [
            MembershipStatements.admit(user, as: role, at: now),
            MembershipStatements.insertRelationships(user, liftingSuspensions: isGuardiansDecision),
        ]
        if role == .child { rows.append(ChildSettingsStatements.insertDefaults(for: user)) }
        if isWaiting { rows.append(AccountStatements.activate(user)) }
        return rows
    }

    /// Returns the reason for which the family cannot have one more member; nil when it can.
    /// - Parameter makesAccount: whether the account is made for it.
    func denialOfGrowth(
        of family: FamilyID, at now: Timestamp, makesAccount: Bool = false, _ queries: any Queries
    ) async throws -> Denial? {
        let size = try await queries.query(MembershipStatements.growthCounts(of: family, since: now - .days(1))).one()
        if let denial = FamilyLimit.denialOfMember(active: try size["members"]) { return denial }
        return makesAccount ? FamilyLimit.denialOfAccount(madeToday: try size["made"]) : nil
    }

    /// Whether the family's guardians consent to children's accounts. `user` is the caller.
    func allowsChildren(_ user: UserID, in family: FamilyID, _ queries: any Queries) async throws -> Bool {
        try await queries.query(
            ConsentStatements.status(.childAccountCreation, for: user, in: family)
        ).one()["is_in_force"]
    }

    /// Carries out a write; throws 409 if at its commit the person is in another family or their account is deleted.
    func mappingMembershipConflict<Answer>(_ write: () async throws -> Answer) async throws -> Answer {
        do {
            return try await write()
        } catch let error as PostgresError where error.violates(.oneActiveFamily) {
            throw APIError.personHasFamily
        } catch let error as PostgresError where error.violates(.deletedIsNoMember) {
            throw APIError.accountWasDeleted
        }
    }
}

/// An active member, as the files of this group read one.
struct MemberRecord {
    let id: UserID
    let pseudonym: Pseudonym
    let displayName: String?
    let role: FamilyRole
    let joinedAt: Timestamp
    let hasChildLogin: Bool
    /// Whether the account was made inside this family, without a sign-in of its own: its guardians decide about it.
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
