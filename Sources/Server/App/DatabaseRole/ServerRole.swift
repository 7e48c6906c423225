import Postgres
import SQL

/// Creates and repairs the role `nagz_server` as the schema's owner. Roles belong to the cluster and are in no dump of
/// a database, so a restored cluster may lack the role and all its grants.
enum ServerRole {
    /// Creates the role if it is missing, before any migration grants to it. A dry run only checks.
    /// - Returns: whether it was missing; false if another process created it meanwhile.
    /// - Throws: `RoleFault.roleNotCreated` if the login may not create roles.
    static func createIfMissing(_ database: Database, isDryRun: Bool) async throws -> Bool {
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

    /// Runs the grants of the applied migrations again if the role lacks one of them, and revokes its privileges
    /// to create something, and PUBLIC's, if it has any. A dry run only reports what it would repair.
    /// - Returns: a text for the operator about each repair: what was missing, or what was too much.
    /// - Throws: `RoleFault.canCreateObjects` if such a privilege is left afterwards.
    static func repair(_ database: Database, _ grants: ServerGrants, isDryRun: Bool) async throws -> [String] {
        try await database.transaction { transaction in
            _ = try await transaction.query(RoleStatements.lock)
            var repairTexts: [String] = []
            let privileges = try await RolePrivileges(of: ServerGrants.role, transaction)
            if let missing = privileges.firstMissing(of: grants) {
                repairTexts.append("the grants of nagz_server, such as \(missing)")
                if !isDryRun { for grant in grants.statements { try await transaction.run(script: grant) } }
            }
            if let open = try await creationPrivileges(transaction) {
                repairTexts.append("the limits of nagz_server, which may not have \(open)")
                if !isDryRun {
                    try await transaction.run(script: RoleStatements.revokeCreationPrivileges)
                    if let open = try await creationPrivileges(transaction) { throw RoleFault.canCreateObjects(open) }
                }
            }
            return repairTexts
        }
    }

    /// Returns the privileges of `nagz_server` to create something, which it has from PUBLIC or because somebody granted
    /// them to it; nil if it has none.
    private static func creationPrivileges(_ queries: any Queries) async throws -> String? {
        try await queries.query(RoleStatements.creationPrivileges(of: ServerGrants.role)).onlyRow()["makes"]
    }
}
