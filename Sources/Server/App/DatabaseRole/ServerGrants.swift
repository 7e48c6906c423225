import Postgres

/// The grants of the migrations to the role `nagz_server`, read from their `GRANT` and `REVOKE` statements.
struct ServerGrants: Sendable {
    /// The role that holds the grants. It cannot sign in; the server's login is a member of it.
    static let role = "nagz_server"

    /// One privilege on a table, or on one column of it.
    struct Privilege: Hashable, Sendable {
        let name: String
        let table: String
        let column: String?
    }

    /// Privileges on tables and columns; other grants are in `statements` only.
    private(set) var privileges: Set<Privilege> = []
    /// The statements themselves, in order. They may be run again without effect.
    private(set) var statements: [String] = []

    init(_ migrations: [Migrator.Migration]) {
        for migration in migrations.sorted(by: { $0.number < $1.number }) { read(migration.sql) }
    }

    /// The names of all privileges on a table or on any of its columns.
    func names(on table: String) -> Set<String> {
        Set(privileges.filter { $0.table == table }.map(\.name))
    }

    private mutating func read(_ script: String) {
        let code = script.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.split(separator: "--", maxSplits: 1, omittingEmptySubsequences: false).first ?? "" }
            .joined(separator: "\n")
        let statement = /(?:^|;)\s*((GRANT|REVOKE)\s+([^;]+?)\s+ON\s+([^;]+?)\s+(?:TO|FROM)\s+nagz_server)\s*(?=;)/
        for match in code.matches(of: statement) {
            statements.append(String(match.output.1))
            let found = Self.privileges(String(match.output.3), on: String(match.output.4))
            if match.output.2 == "GRANT" { privileges.formUnion(found) } else { privileges.subtract(found) }
        }
    }

    /// Parses `SELECT, UPDATE (name, status)` on `users, sessions`; empty for objects that are not tables.
    private static func privileges(_ names: String, on objects: String) -> [Privilege] {
        guard objects.firstMatch(of: /^(?:SCHEMA|FUNCTION|SEQUENCE|ALL|LANGUAGE|TYPE)\s/) == nil else { return [] }
        let tables = list(objects.replacing(/^TABLE\s+/, with: ""))
        return names.matches(of: /([A-Z]+)(?:\s*\(([^)]*)\))?/).flatMap { match in
            let columns: [String?] = match.output.2.map { list(String($0)) } ?? [nil]
            return tables.flatMap { table in
                columns.map { Privilege(name: String(match.output.1), table: table, column: $0) }
            }
        }
    }

    private static func list(_ text: String) -> [String] {
        text.split(separator: ",").map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
    }
}
