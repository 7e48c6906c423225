import Foundation
import Postgres
import Server

/// `nagz migrate`: updates the database's schema to that of this program.
enum Migrate {
    static func run(_ arguments: Arguments) async throws {
        var arguments = arguments
        let url = try arguments.ownerDatabaseURL()
        let isDryRun = arguments.takeFlag("--dry-run")
        let folder = try folder(arguments.givenOptions)
        try arguments.finish()
        do {
            let appliedCount = try await Schema.migrate(folder: folder, databaseURL: url, isDryRun: isDryRun) {
                migration in
                print("\(isDryRun ? "would apply" : "applying") \(migration.number) \(migration.name)")
            } restored: { thing in
                print("\(isDryRun ? "would restore" : "restored") \(thing)")
            }
            if appliedCount == 0 { print("the schema is up to date") }
        } catch let fault as Migrator.MigrationError {
            throw Stop(.configuration, fault.description)
        } catch let fault as RoleFault {
            throw Stop(.configuration, fault.description)
        } catch let fault as PostgresError {
            throw Stop(ownerDatabaseError: fault)
        }
    }

    /// Returns the folder of the migrations: `Migrations`, unless configured otherwise.
    static func folder(_ given: GivenOptions) throws -> String {
        try given[Options.migrationsFolder] ?? existingFolder("Migrations")
    }

    @Sendable
    static func existingFolder(_ folder: String) throws -> String {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            throw Stop(
                .configuration, "no migrations in “\(folder)”: run from the project's folder or pass --migrations")
        }
        return folder
    }
}
