import Audit
import Domain
import Foundation
import Postgres
import SQL

/// Checks what a restore may have left out of a database, or damaged. It needs no more than the server's login, and
/// everything runs in read-only transactions.
public struct RestoreCheck: Sendable {
    private let databaseURL: String
    private let folder: String
    private let keys: AuditKeyring

    /// - Parameters:
    ///   - databaseURL: the URL of the server's login.
    ///   - folder: the folder of the migrations.
    public init(databaseURL: String, folder: String, keys: AuditKeyring) {
        (self.databaseURL, self.folder, self.keys) = (databaseURL, folder, keys)
    }

    public func run() async throws -> [CheckResult] {
        let (keys, migratedObjects) = (keys, MigratedObjects(try Schema.migrations(folder)))
        return try await Schema.withReadOnlyDatabase(databaseURL) {
            await Self.run($0, keys, migratedObjects)
        }
    }

    private static func run(
        _ database: Database, _ keys: AuditKeyring, _ migratedObjects: MigratedObjects
    ) async -> [CheckResult] {
        [
            await runCheck("sealed keys") { try await checkMasterKeys(keys, database) },
            await runCheck("newest entries") { try await checkNewestEntries(keys, database) },
            await runCheck("family clocks") { try await checkClocks(database) },
            await runCheck("schema objects") { try await checkObjects(migratedObjects, database) },
            await runCheck("indexes") { try await checkIndexes(migratedObjects, database) },
            await runCheck("feed") { try await checkFeed(database) },
        ]
    }

    /// Runs a check. A check that throws counts as failed.
    private static func runCheck(_ name: String, _ check: () async throws -> CheckResult) async -> CheckResult {
        do { return try await check() } catch {
            return .failed(
                name, "it cannot be checked: \(error)", advice: "a table or a row is damaged: restore the backup again")
        }
    }

    // MARK: Keys and entries

    /// Opens, for each master key, one of the people's keys and one of their keys for models that it wrapped.
    private static func checkMasterKeys(_ keys: AuditKeyring, _ queries: any Queries) async throws -> CheckResult {
        let name = "sealed keys"
        let sealing = Sealing(keys, random: SystemRandomness())
        let personKeys = try await queries.query(SubjectKeyStatements.oneKeyPerMaster)
            .map { row in
                (
                    id: try row["id"] as Pseudonym, master: try row["master"] as [UInt8],
                    wrapped: try row["wrapped"] as [UInt8]
                )
            }
        let modelKeys = try await queries.query(AIKeyStatements.oneKeyPerMaster).map(StoredAIKey.init)
        let usedMasters = Set(personKeys.map(\.master) + modelKeys.map(\.masterID))
        let unknown = usedMasters.subtracting(keys.masterKeys.map(\.id))
        guard unknown.isEmpty else {
            let names = unknown.map { hexadecimal($0) }.sorted().joined(separator: ", ")
            return .failed(
                name, "the audit key file lacks the master \(unknown.count == 1 ? "key" : "keys") \(names)",
                advice: "add the “seal” lines of the key file that was in use when the backup was made")
        }
        var damaged = personKeys.filter { sealing.unwrap($0.wrapped, of: $0.id, master: $0.master) == nil }
            .map { "the key of the person \($0.id)" }
        damaged += modelKeys.filter { $0.opened(keys) == nil }.map { "the key of \($0.user) for a model" }
        guard damaged.isEmpty else {
            return .failed(
                name, "the audit key file does not open \(damaged[0])",
                advice: "it was changed after it was written: restore another backup")
        }
        return .ok(
            name,
            usedMasters.isEmpty
                ? "there are none" : "the audit key file opens them (master keys: \(usedMasters.count))")
    }

    /// Verifies the newest entries of the log, with their bodies and leaves.
    private static func checkNewestEntries(_ keys: AuditKeyring, _ queries: any Queries) async throws -> CheckResult {
        let name = "newest entries"
        let advice = "restore the backup again, or another; nagz audit reconcile verifies all entries"
        let missing: Int64 = try await queries.query(RestoreStatements.missingNewestEntryCount).onlyRow()["missing"]
        guard missing == 0 else {
            return .failed(
                name, "the audit log lacks entries that the Merkle log has (\(missing))", advice: advice)
        }
        let sealing = Sealing(keys, random: SystemRandomness())
        let rows = try await queries.query(RestoreStatements.newestEntries)
        var chains: [FamilyID: ChainVerifier] = [:]
        for row in rows {
            let prepared = try PreparedEntry(row, sealing)
            let entry = prepared.entry
            let place = "entry \(entry.number) of \(entry.family)"
            if case .unreadable = prepared.payload {
                return .failed(
                    name, "the body of \(place) cannot be opened",
                    advice: "its key in audit_subject_key is missing or changed. " + advice)
            }
            var chain =
                chains[entry.family].flatMap { $0.lastNumber == entry.number - 1 ? $0 : nil }
                ?? ChainVerifier(family: entry.family, after: entry.number - 1, head: entry.previous)
            do throws(ChainVerifier.Fault) {
                try chain.check(prepared)
            } catch {
                return .failed(
                    name, "\(place) is not as it was written (\(AuditFinding(.chain(error)).code))", advice: advice)
            }
            chains[entry.family] = chain
            let leaf: [UInt8]? = try row["leaf"]
            guard leaf == LogLeaf(family: entry.family, number: entry.number, entryHash: entry.hash).hash else {
                return .failed(name, "\(place) is not the one in the Merkle log", advice: advice)
            }
        }
        return .ok(name, "\(rows.count) entries are unchanged, and their bodies can be read")
    }

    // MARK: Tables

    private static func checkClocks(_ queries: any Queries) async throws -> CheckResult {
        let row = try await queries.query(RestoreStatements.clockCounts).onlyRow()
        let (families, wrong): (Int64, Int64) = (try row["families"], try row["wrong"])
        guard let first: FamilyID = try row["first"] else {
            return .ok("family clocks", "\(families) clocks fit the newest entries")
        }
        return .failed(
            "family clocks",
            "\(wrong) of \(families) clocks do not fit the newest entries or nags of their family, such as \(first)'s",
            advice: "family_clock, audit_entry and nags are of different moments: restore them from one backup")
    }

    /// Compares triggers, functions, policies, constraints and grants with those that the migrations make, and looks
    /// for missing primary and foreign keys.
    private static func checkObjects(
        _ migratedObjects: MigratedObjects, _ queries: any Queries
    ) async throws -> CheckResult {
        let name = "schema objects"
        let report = try await SchemaCheck(queries).run()
        let withoutKey: [String] = try await queries.query(RestoreStatements.tablesWithoutKey)
            .map { row throws(PostgresError) in try row["name"] }
        let foreignKeys: Int = try await queries.query(RestoreStatements.foreignKeyCount).onlyRow()["keys"]
        let missing = report.findings.filter { $0.problem == .noRow }.map(\.id)
        let surplusOrChanged = report.findings.filter { $0.problem != .noRow }.map(\.id)
        let lines =
            missing.map { "missing: \($0)" } + surplusOrChanged.map { "not of the migrations: \($0)" }
            + withoutKey.map { "no primary key: \($0)" }
            + (foreignKeys == migratedObjects.foreignKeyCount
                ? [] : ["foreign keys: \(foreignKeys) instead of \(migratedObjects.foreignKeyCount)"])
        guard !lines.isEmpty else { return .ok(name, "\(report.comparedCount) are as the migrations make them") }
        let advice =
            "restore the backup again, with pg_restore --exit-on-error, which otherwise continues after errors"
        return .failed(
            name, "\(lines.count) differ from what the migrations make",
            advice: (lines.prefix(10) + (lines.count > 10 ? ["… and \(lines.count - 10) more"] : []) + [advice])
                .joined(separator: "\n"))
    }

    private static func checkIndexes(
        _ migratedObjects: MigratedObjects, _ queries: any Queries
    ) async throws -> CheckResult {
        var expected = migratedObjects.indexes
        var invalid: [String] = []
        for row in try await queries.query(RestoreStatements.indexes).map({ row throws(PostgresError) in
            (name: try row["name"] as String, isValid: try row["is_valid"] as Bool)
        }) {
            expected.remove(row.name)
            if !row.isValid { invalid.append(row.name) }
        }
        guard expected.isEmpty, invalid.isEmpty else {
            let missing = expected.sorted().map { "missing: \($0)" } + invalid.sorted().map { "invalid: \($0)" }
            return .failed(
                "indexes", "\(expected.count) are missing, \(invalid.count) are not valid",
                advice: (missing + [
                    "as the schema's owner: CREATE INDEX for what is missing, as in Migrations, and REINDEX INDEX for the rest"
                ]).joined(separator: "\n"))
        }
        return .ok("indexes", "all are present and valid")
    }

    // MARK: Feed

    /// Checks that no feed accepts cursors from before the restore any more.
    private static func checkFeed(_ queries: any Queries) async throws -> CheckResult {
        let row = try await queries.query(FeedEpoch.counts).onlyRow()
        let (families, older): (Int64, Int64) = (try row["families"], try row["older"])
        guard older == 0 else {
            return .failed(
                "feed", "\(older) of \(families) feeds still accept positions from before the restore",
                advice:
                    "run nagz admin resync before you start servers: devices then download their families again, "
                    + "and drop what is lost")
        }
        return .ok("feed", "devices download their families again")
    }
}
