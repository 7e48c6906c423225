import Contract
import Domain
import Postgres

/// An export of the trail straight from the database, for whoever operates it.
public enum TrailFile {
    /// Gives the lines of an export, page by page.
    /// - Parameters:
    ///   - family: nil for all.
    ///   - after: where an interrupted export goes on.
    public static func export(
        databaseURL: String, keys: TrailKeys, family: FamilyID?, after: Int64?, clock: any WallClock = SystemClock(),
        _ give: @escaping @Sendable ([AuditExportLine]) throws -> Void
    ) async throws {
        try await Schema.onDatabase(databaseURL) { database in
            let source = TrailExport(database, Sealing(keys, random: SystemRandomness()))
            try await source.run(of: family, after: after, origin: keys.origin, at: clock.now()) { try give($0) }
        }
    }
}
