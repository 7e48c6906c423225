import Postgres
import SQL

/// Creates and repairs the role `nagz_server` as the schema's owner. Roles belong to the cluster and are in no dump of
/// a database, so a restored cluster may lack the role and all its grants.
enum ServerRole {
    /// Creates the role where it is missing, before any migration grants to it.
    /// - Returns: whether it was missing.
    static func make(_ database: Database, isDryRun: Bool) async throws -> Bool {
        let exists: Bool = try await database.query(RoleStatements.roleExists).onlyRow()["exists"]
        guard !exists, !isDryRun else { return !exists }
        do {
            _ = try await database.query(RoleStatements.createRole)
        } catch  where error.sqlState == "42501" {
            throw RoleFault.roleNotCreated
        } catch  where ["42710", "23505"].contains(error.sqlState) {
            return false  // Another process has created it meanwhile, for another database.
        }
        return true
    }

    /// Repeats the grants of the applied migrations, and revokes what PUBLIC must not have.
    /// - Returns: a text for the operator about each repair: what was missing, or what PUBLIC had.
    static func restore(_ database: Database, _ grants: ServerGrants, isDryRun: Bool) async throws -> [String] {
        try await database.transaction { transaction in
            _ = try await transaction.query(RoleStatements.lock)
            var repairs: [String] = []
            let privileges = try await RolePrivileges(of: ServerGrants.role, transaction)
            if let missing = try await privileges.missing(from: grants, transaction) {
                repairs.append("the grants of nagz_server, such as \(missing)")
                if !isDryRun { for grant in grants.statements { try await transaction.run(script: grant) } }
            }
            if let open = try await publicCreateRights(transaction) {
                repairs.append("the database's closure to the public, which has \(open)")
                if !isDryRun {
                    try await transaction.run(script: RoleStatements.revokeFromPublic)
                    if let open = try await publicCreateRights(transaction) { throw RoleFault.openToPublic(open) }
                }
            }
            return repairs
        }
    }

    private static func publicCreateRights(_ queries: any Queries) async throws -> String? {
        try await queries.query(RoleStatements.creatableObjects(ServerGrants.role)).onlyRow()["makes"]
    }
}
