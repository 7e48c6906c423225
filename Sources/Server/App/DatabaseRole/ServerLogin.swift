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

    /// Checks that the session's login has the privileges that the migrations grant, and no others. A privilege that is
    /// granted on some columns of a table may exist on the whole table: that is not noticed.
    /// - Throws: `RoleFault.missingPrivileges` or `RoleFault.surplusPrivileges`.
    static func checkPrivileges(_ queries: any Queries, _ grants: ServerGrants) async throws {
        let login: String = try await queries.query("SELECT session_user::text AS login").onlyRow()["login"]
        let privileges = try await RolePrivileges(of: login, queries)
        if let missing = try await privileges.firstMissing(of: grants, queries) {
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
    private let role: String
    /// The names of the privileges on whole tables, by table.
    private var onWholeTables: [String: Set<String>] = [:]
    /// The names of the privileges on whole tables or on some of their columns, by table.
    private var onTablesOrColumns: [String: Set<String>] = [:]

    init(of role: String, _ queries: any Queries) async throws {
        self.role = role
        let rows = try await queries.query(RoleStatements.tablePrivileges(of: role))
        for row in rows {
            let (table, name): (String, String) = (try row["tab"], try row["privilege"])
            onTablesOrColumns[table, default: []].insert(name)
            if try row["is_whole"] { onWholeTables[table, default: []].insert(name) }
        }
    }

    /// Returns the first granted privilege that the role lacks, as text for the operator; nil when it lacks none.
    func firstMissing(of grants: ServerGrants, _ queries: any Queries) async throws -> String? {
        let onTables = grants.privileges.filter { $0.column == nil }
        if let lacking = onTables.first(where: { onWholeTables[$0.table]?.contains($0.name) != true }) {
            return "\(lacking.name) on \(lacking.table)"
        }
        let onColumns = Array(grants.privileges.filter { $0.column != nil })
        guard !onColumns.isEmpty else { return nil }
        let rows = try await queries.query(RoleStatements.columnPrivileges(onColumns, of: role))
        for (index, privilege) in onColumns.enumerated() where index < rows.count {
            guard try rows[index]["is_granted"] else {
                return "\(privilege.name) (\(privilege.column ?? "")) on \(privilege.table)"
            }
        }
        return nil
    }

    /// Returns the privileges without a grant that the role has on the first such table, as text for the operator; nil
    /// when there are none. Columns are not compared.
    func firstSurplus(over grants: ServerGrants) -> String? {
        for table in onTablesOrColumns.keys.sorted() {
            let more = onTablesOrColumns[table, default: []].subtracting(grants.privilegeNames(on: table))
            if !more.isEmpty { return "\(more.sorted().joined(separator: ", ")) on \(table)" }
        }
        return nil
    }
}
