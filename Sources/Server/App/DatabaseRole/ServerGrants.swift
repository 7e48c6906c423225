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
        let statement =
            /(?:^|;)\s*(?:((GRANT|REVOKE)\s+([^;]+?)\s+ON\s+([^;]+?)\s+(?:TO|FROM)\s+nagz_server)|DROP TABLE\s+([a-z_0-9]+))\s*(?=;)/
        for match in code.matches(of: statement) {
            if let table = match.output.5 {
                forget(String(table))
                continue
            }
            guard let text = match.output.1, let names = match.output.3, let objects = match.output.4 else { continue }
            statements.append(String(text))
            let found = Self.privileges(String(names), on: String(objects))
            if match.output.2 == "GRANT" { privileges.formUnion(found) } else { privileges.subtract(found) }
        }
    }

    /// Removes a dropped table from the grants, also from statements that grant on several tables.
    private mutating func forget(_ table: String) {
        privileges = privileges.filter { $0.table != table }
        statements = statements.compactMap { statement in
            guard
                let match = statement.firstMatch(
                    of: /^(.+?\sON\s+)(.+?)(\s+(?:TO|FROM)\s+nagz_server)$/.dotMatchesNewlines())
            else { return statement }
            let tables = Self.list(String(match.output.2))
            guard tables.contains(table) else { return statement }
            let left = tables.filter { $0 != table }
            return left.isEmpty ? nil : "\(match.output.1)\(left.joined(separator: ", "))\(match.output.3)"
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
