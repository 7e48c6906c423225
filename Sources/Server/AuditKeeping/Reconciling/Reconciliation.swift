import Audit
import Domain
import Postgres
import SQL

/// Replays the audit log, and reports each row that it does not explain and each entry that lacks its row.
///
/// Families are read one after another, each as of one moment. Nothing is written.
public struct Reconciliation: Sendable {
    /// The progress of a run: the numbers of families and entries that were checked so far, and of findings.
    public struct Progress: Sendable {
        public var families: Int64
        public var entries: Int64
        public var findings: Int64
    }

    private let family: FamilyID?

    /// - Parameter family: the family to check; nil for all families, the accounts and the schema.
    public init(of family: FamilyID?) { self.family = family }

    /// Runs the check.
    /// - Parameter progress: called after each family; never if only one family is checked.
    public func run(
        databaseURL: String, keys: AuditKeyring, clock: any WallClock = SystemClock(),
        progress: @escaping @Sendable (Progress) -> Void = { _ in }
    ) async throws -> StateReport {
        let family = family
        return try await Schema.withDatabase(databaseURL) { database in
            try await Self.run(family, database, keys, clock, progress)
        }
    }

    private static func run(
        _ family: FamilyID?, _ database: Database, _ keys: AuditKeyring, _ clock: any WallClock,
        _ progress: (Progress) -> Void
    ) async throws -> StateReport {
        let check = FamilyCheck(database, keys, Sealing(keys, random: SystemRandomness()), clock: clock)
        if let family { return try await check.run(family) }
        var report = try await SchemaCheck(database).run()
        var last: FamilyID?
        while true {
            let families = try await Self.chainIDs(after: last, database)
            for family in families {
                report.merge(try await check.run(family))
                progress(
                    Progress(families: report.chainCount, entries: report.entryCount, findings: report.findingCount))
                last = family
            }
            if families.isEmpty { break }
        }
        report.merge(try await AccountCheck(database, keys).run())
        return report
    }

    /// Returns a page of the IDs of families and connections, and the nil ID of the chain outside families.
    static func chainIDs(after last: FamilyID?, _ database: any Queries) async throws -> [FamilyID] {
        try await database.query(ReconcileStatements.chainIDs(after: last)).map { row throws(PostgresError) in
            try row["family_id"]
        }
    }
}
