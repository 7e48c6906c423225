import Contract
import Domain
import Postgres

/// The export of the audit log straight from the database, without a server: `nagz audit export` writes its lines.
public enum AuditLogFile {
    /// Passes on the lines of an export, page by page.
    /// - Parameters:
    ///   - family: the family to export; nil for all.
    ///   - after: the number of the family's entry, or the position in the log, after which an interrupted export
    ///     continues; nil for the beginning.
    public static func export(
        databaseURL: String, keys: AuditKeyring, family: FamilyID?, after: Int64?, clock: any WallClock = SystemClock(),
        _ emit: @escaping @Sendable ([AuditExportLine]) throws -> Void
    ) async throws {
        try await Schema.withDatabase(databaseURL) { database in
            let source = AuditLogExport(
                database, Sealing(keys, random: SystemRandomness()), on: database.poller)
            try await source.run(of: family, after: after, origin: keys.origin, at: clock.now()) { try emit($0) }
        }
    }
}
