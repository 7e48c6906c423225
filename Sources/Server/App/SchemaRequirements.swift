import Postgres

/// The requirements of a server on a database, part by part.
struct SchemaRequirements: Sendable {
    private let migrator: Migrator
    private let grants: ServerGrants
    /// The number of the newest migration.
    let version: Int

    init(_ migrations: [Migrator.Migration]) throws(Migrator.MigrationError) {
        migrator = try Migrator(migrations)
        grants = ServerGrants(migrations)
        version = migrations.count
    }

    /// Checks that the session's login is a member of `nagz_server`, owns nothing, and can become no other role.
    /// - Throws: `RoleFault`.
    func checkLogin(_ queries: any Queries) async throws { try await ServerLogin.checkLogin(queries) }

    /// Checks that all migrations are applied, and no others.
    /// - Throws: `Schema.MigrationsPending` or `Migrator.MigrationError`.
    func checkMigrations(_ queries: any Queries) async throws {
        let pending = try await migrator.pendingMigrations(queries).count
        guard pending == 0 else { throw Schema.MigrationsPending(count: pending) }
    }

    /// Checks that the session's login has the privileges that the migrations grant, and no others. The migrations MUST
    /// be applied.
    /// - Throws: `RoleFault`.
    func checkGrants(_ queries: any Queries) async throws { try await ServerLogin.checkPrivileges(queries, grants) }
}
