import Postgres

/// The indexes and foreign keys that the migrations create, read from their statements. A restore may omit them without
/// an error.
struct MigratedObjects: Sendable {
    /// The names of indexes, without those of constraints.
    private(set) var indexes: Set<String> = []
    private(set) var foreignKeyCount = 0

    init(_ migrations: [Migrator.Migration]) {
        let index =
            /\b(?:CREATE (?:UNIQUE )?INDEX (?:IF NOT EXISTS )?([a-z_0-9]+)\s+ON\b|DROP INDEX (?:IF EXISTS )?([a-z_0-9]+))/
        for migration in migrations.sorted(by: { $0.number < $1.number }) {
            let code = migration.sql.split(separator: "\n")
                .map { $0.split(separator: "--", maxSplits: 1, omittingEmptySubsequences: false).first ?? "" }
                .joined(separator: "\n")
            for match in code.matches(of: index) {
                if let name = match.output.1 { indexes.insert(String(name)) }
                if let name = match.output.2 { indexes.remove(String(name)) }
            }
            foreignKeyCount += code.matches(of: /\bREFERENCES\b/).count
            foreignKeyCount -= code.matches(of: /\bDROP CONSTRAINT [a-z_0-9]+_fkey\b/).count
        }
    }
}
