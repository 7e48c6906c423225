import Postgres
import SQL

/// The login of `nagz serve`. It is a member of `nagz_server` and of no other role, owns nothing, and can become no
/// other role.
enum ServerLogin {
    /// Checks the attributes, objects and memberships of the login with which the session connected. `SET ROLE` does
    /// not count, because the session could reset it.
    /// - Throws: the first `RoleFault` that is found.
    static func checkLogin(_ queries: any Queries) async throws {
        let row = try await queries.query(RoleStatements.loginFacts).onlyRow()
        let login: String = try row["login"]
        if try row["is_superuser"] { throw RoleFault.superuser(login: login) }
        if let thing: String = try row["owns"] { throw RoleFault.ownsObject(login: login, object: thing) }
        if let names: String = try row["attributes"] { throw RoleFault.hasAttributes(login: login, attributes: names) }
        if let roles: String = try row["becomes"] { throw RoleFault.canBecomeRoles(login: login, roles: roles) }
        if let roles: String = try row["administers"] { throw RoleFault.canGrantRoles(login: login, roles: roles) }
        if let names: String = try row["parameters"] {
            throw RoleFault.canSetParameters(login: login, parameters: names)
        }
        guard try row["is_member"] else { throw RoleFault.notMember(login: login) }
        guard try row["reads_migrations"] else { throw RoleFault.missingPrivileges("SELECT on schema_migrations") }
        if let things: String = try await queries.query(RoleStatements.creationPrivileges(of: login)).onlyRow()["makes"]
        {
            throw RoleFault.canCreateObjects(things)
        }
    }

    /// Checks that the session's login has the privileges that the migrations grant, and no others.
    /// - Throws: `RoleFault.missingPrivileges` or `RoleFault.surplusPrivileges`.
    static func checkPrivileges(_ queries: any Queries, _ grants: ServerGrants) async throws {
        let login: String = try await queries.query("SELECT session_user::text AS login").onlyRow()["login"]
        let privileges = try await RolePrivileges(of: login, queries)
        if let missing = privileges.firstMissing(of: grants) {
            throw RoleFault.missingPrivileges(missing)
        }
        if let surplus = privileges.firstSurplus(over: grants) {
            throw RoleFault.surplusPrivileges(login: login, privileges: surplus)
        }
    }
}

/// A role's effective privileges on the schema's tables, whether granted to it, to a role of which it is a member, or
/// to PUBLIC.
struct RolePrivileges {
    /// The privileges on whole tables, and those that the role has only on some columns.
    private var held: Set<ServerGrants.Privilege> = []

    init(of role: String, _ queries: any Queries) async throws {
        for row in try await queries.query(RoleStatements.tablePrivileges(of: role)) {
            let (table, name): (String, String) = (try row["tab"], try row["privilege"])
            let columns: [String?] = try row.list("columns") ?? [nil]
            held.formUnion(columns.map { ServerGrants.Privilege(name: name, table: table, column: $0) })
        }
    }

    /// Returns a granted privilege that the role lacks, as text for the operator; nil when it lacks none.
    func firstMissing(of grants: ServerGrants) -> String? {
        grants.privileges.filter { !held.contains($0) && !held.contains($0.onWholeTable) }.map(\.description).min()
    }

    /// Returns a privilege without a grant that the role has, as text for the operator; nil when there is none.
    func firstSurplus(over grants: ServerGrants) -> String? {
        held.filter { !grants.privileges.contains($0) && !grants.privileges.contains($0.onWholeTable) }
            .map(\.description).min()
    }
}
