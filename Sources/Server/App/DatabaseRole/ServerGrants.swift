import Postgres

/// The grants of the migrations to the role `nagz_server`, read from their `GRANT` and `REVOKE` statements.
struct ServerGrants: Sendable {
    /// The role that holds the grants. It cannot sign in; the server's login is a member of it.
    static let role = "nagz_server"

    /// One privilege on a table, or on one column of it.
    struct Privilege: Hashable, Sendable, CustomStringConvertible {
        /// The privilege, such as `SELECT`.
        let name: String
        let table: String
        /// The column; nil for a privilege on the whole table.
        let column: String?

        /// The privilege with that name on the whole table.
        var onWholeTable: Self { Self(name: name, table: table, column: nil) }

        /// The privilege as `GRANT` and `REVOKE` take it, such as `UPDATE (name) on users`.
        var description: String { "\(name)\(column.map { " (\($0))" } ?? "") on \(table)" }
    }

    /// The privileges on tables and columns; other grants are in `statements` only.
    private(set) var privileges: Set<Privilege> = []
    /// The statements in the order of the migrations, without tables that were dropped later.
    private var grants: [Statement] = []

    /// The texts of the `GRANT` and `REVOKE` statements, in order. They may be run repeatedly.
    var statements: [String] { grants.map(\.text) }

    init(_ migrations: [Migrator.Migration]) {
        for migration in migrations.sorted(by: { $0.number < $1.number }) {
            for words in Self.statements(of: migration.sql) { apply(words) }
        }
    }

    /// Applies a statement, given by its words; ignores one that grants to another role or revokes from it.
    private mutating func apply(_ words: [Substring]) {
        if words.starts(with: ["DROP", "TABLE"]), words.count == 3 { return removeTable(String(words[2])) }
        guard let statement = Statement(words) else { return }
        grants.append(statement)
        if statement.verb == "GRANT" {
            privileges.formUnion(statement.privileges)
        } else {
            privileges.subtract(statement.privileges)
        }
    }

    /// Removes a dropped table from the grants, also from statements that grant on several tables.
    private mutating func removeTable(_ table: String) {
        privileges = privileges.filter { $0.table != table }
        for index in grants.indices { grants[index].objects.removeAll { $0 == table } }
        grants.removeAll(where: \.objects.isEmpty)
    }

    /// Returns the words of the `GRANT`, `REVOKE` and `DROP TABLE` statements, without comments. Every server reads all
    /// migrations when it starts, so other statements are not even decoded.
    private static func statements(of script: String) -> [[Substring]] {
        var (statements, isComment, previous): ([[UInt8]], Bool, UInt8) = ([[]], false, 0)
        for byte in script.utf8 {
            let last = statements.count - 1
            if byte == UInt8(ascii: "\n") { isComment = false }
            if !isComment, byte == UInt8(ascii: "-"), previous == byte {
                isComment = true
                statements[last].removeLast()
            }
            previous = byte
            if isComment { continue }
            if byte == UInt8(ascii: ";") { statements.append([]) } else { statements[last].append(byte) }
        }
        // No semicolon ends the last part.
        return statements.dropLast().compactMap { bytes in
            let code = bytes.drop { $0 <= UInt8(ascii: " ") }
            guard ["GRANT", "REVOKE", "DROP TABLE"].contains(where: { code.starts(with: $0.utf8) }) else { return nil }
            return String(decoding: code, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        }
    }
}

/// A `GRANT` to the role or a `REVOKE` from it, such as `GRANT SELECT, UPDATE (name, status) ON users, sessions TO
/// nagz_server`.
private struct Statement {
    let verb: String
    /// The list of privileges between the verb and `ON`.
    private let privilegeList: String
    /// The objects between `ON` and the last two words, such as `users` or `FUNCTION replication_status()`.
    var objects: [String]
    /// The last two words: `TO nagz_server` or `FROM nagz_server`.
    private let ending: String

    var text: String { "\(verb) \(privilegeList) ON \(objects.joined(separator: ", ")) \(ending)" }

    init?(_ words: [Substring]) {
        let ending = words.suffix(2)
        guard ["TO", "FROM"].contains(ending.first), ending.last == ServerGrants.role[...],
            let verb = words.first, verb == "GRANT" || verb == "REVOKE", let on = words.firstIndex(of: "ON")
        else { return nil }
        self.verb = String(verb)
        privilegeList = words[..<on].dropFirst().joined(separator: " ")
        objects = Self.splitList(words[on...].dropFirst().dropLast(2).joined(separator: " "))
        self.ending = ending.joined(separator: " ")
    }

    /// The privileges on tables; empty for objects that are not tables.
    var privileges: [ServerGrants.Privilege] {
        let kind = objects.first?.split(separator: " ").dropLast().first
        guard kind == nil || kind == "TABLE" else { return [] }
        let tables = objects.map { $0.split(separator: " ").last.map(String.init) ?? $0 }
        // Columns in parentheses belong to the last name before them.
        return privilegeList.split(separator: ")").flatMap { part in
            let halves = part.split(separator: "(").map { Self.splitList(String($0)) }
            let names = halves.first ?? []
            return names.enumerated().flatMap { index, name in
                let hasColumns = halves.count == 2 && index == names.count - 1
                let columns: [String?] = hasColumns ? halves[1] : [nil]
                return tables.flatMap { table in
                    columns.map { ServerGrants.Privilege(name: name, table: table, column: $0) }
                }
            }
        }
    }

    private static func splitList(_ text: String) -> [String] {
        text.split(separator: ",").map { $0.split(separator: " ").joined(separator: " ") }.filter { !$0.isEmpty }
    }
}
