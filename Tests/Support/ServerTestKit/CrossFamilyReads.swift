import JSON
import Postgres
import SQL

@testable import Server

/// A check that statements read the rows of one family. It uses their plans, which show the rows that they read
/// whatever the text looks like.
///
/// A scan of a table with `family_id` is *limited* if the plan compares that column, or a key of one person or one row,
/// with a value, or with a column of a scan that is limited. Statements that read rows of every family are named here
/// with a reason. Row-level security would check the same for each row while the server runs: THREATS.md says what that
/// costs.
enum CrossFamilyReads {
    /// The columns besides `family_id` that limit a scan, by table: keys of a person, or random keys that one person
    /// knows.
    private static let keys = [
        "abuse_reports": ["id", "reporter_id"],
        "ai_confirmations": ["digest"],
        "ai_sessions": ["digest"],
        "ai_session_turns": ["digest"],
        "audit_findings": ["id"],
        "consents": ["id", "user_id"],
        "deliveries": ["id"],
        "families": ["id", "invite_code", "child_code"],
        "memberships": ["user_id"],
        "nag_attachments": ["attachment_id"],
        "nags": ["creator_id", "recipient_id"],
        "relationships": ["party_a"],
    ]

    /// Tables of the log of all families. They have no texts of people.
    private static let log: Set = ["audit_entry", "audit_leaf", "audit_prune", "family_clock"]

    /// A table, a part of the text of a statement that reads its rows of every family, and the reason.
    private static let reasons: [(table: String, part: String, reason: String)] = [
        ("nags", "AND n.connection_id IS NOT NULL", "a nag of a connection is in no family, and found by its id"),
        ("nags", "next_step_at <= ", "the scheduler looks for what is due next"),
        ("nags", "WHERE (family_id, id) > (", "the scheduler plans the steps of all nags anew"),
        ("preferences", "next_digest_at <= ", "the scheduler looks whose daily digest is due next"),
        ("families", "next_digest_at <= ", "it reads their families' zones"),
        ("memberships", "next_digest_at <= ", "it reads whether they are still members"),
        ("nags", "count(*) FILTER (WHERE status = 'open')", "metrics count all nags"),
        ("families", "(SELECT count(*) FROM families)", "metrics count all families"),
        ("families", "(SELECT id FROM families WHERE id >", "the audit log of every family is verified"),
        ("deliveries", "count(*) AS total FROM deliveries", "administrators list messages"),
        ("nag_events", "count(*) AS total FROM deliveries", "they have the event that caused a message"),
        ("abuse_reports", "count(*) AS total FROM abuse_reports", "administrators list reports"),
        ("audit_findings", "count(*) AS total FROM audit_findings", "administrators list findings"),
        ("audit_findings", "count(*) AS count FROM audit_findings", "everybody is told that there are some"),
    ]

    /// Returns a message for each scan of these statements that is not limited, and has no reason.
    static func faults(of statements: [SQL]) async throws -> [String] {
        guard !statements.isEmpty else { return [] }
        return try await TestCluster.shared.planningDatabase().run { database in
            try await database.transaction { try await faults(of: statements, in: $0) }
        }
    }

    private static func faults(of statements: [SQL], in transaction: Transaction) async throws -> [String] {
        try await transaction.useSettingsOfSessions()
        let tables = Set(
            try await transaction.query(
                """
                SELECT c.relname::text AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
                WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
                    AND a.attname = 'family_id' AND NOT a.attisdropped
                """
            ).map { row throws(PostgresError) -> String in try row["name"] }
        ).subtracting(log).union(["families"])
        var faults: [String] = []
        for statement in statements where isPlanned(statement) {
            let plan = try Plan(
                await transaction.plan(
                    of: statement, with: statement.values.map { _ in "NULL" }, "FORMAT JSON, VERBOSE, COSTS OFF"))
            let text = statement.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            for table in plan.unlimitedTables(of: tables, keys: { ["family_id"] + keys[$0, default: []] })
            where !reasons.contains(where: { $0.table == table && text.contains($0.part) }) {
                faults.append("reads \(table) of every family: \(text)")
            }
        }
        return faults
    }

    /// Returns whether the statement has a plan, unlike `BEGIN` and `LISTEN`.
    private static func isPlanned(_ statement: SQL) -> Bool {
        let text = statement.text.drop(while: \.isWhitespace)
        return ["SELECT", "WITH", "INSERT", "UPDATE", "DELETE"].contains { text.hasPrefix($0) }
    }
}

/// The scans of a plan, and its conditions.
private struct Plan {
    private static let conditions = [
        "Index Cond", "Recheck Cond", "TID Cond", "Filter", "Join Filter", "Hash Cond", "Merge Cond",
    ]

    private var scans: [(table: String, alias: String)] = []
    private var conditions: [String] = []

    /// - Parameter explained: the answer of `EXPLAIN (FORMAT JSON, VERBOSE)`.
    init(_ explained: Rows) throws {
        visit(try JSONValue(parsing: Array((explained.onlyRow().text(0) ?? "").utf8).span))
    }

    private mutating func visit(_ json: JSONValue) {
        for element in json.arrayValue ?? [] { visit(element) }
        if let table = json["Relation Name"]?.stringValue, let alias = json["Alias"]?.stringValue,
            json["Node Type"] != "ModifyTable"
        {
            scans.append((table, alias))
        }
        // Several bitmaps may be combined by OR. Only the scan above them has the whole condition.
        if json["Node Type"] != "Bitmap Index Scan" {
            conditions += Self.conditions.compactMap { json[$0]?.stringValue }
        }
        for name in ["Plan", "Plans"] { if let inner = json[name] { visit(inner) } }
    }

    /// Returns those of the tables that a scan of the plan reads without a limit.
    func unlimitedTables(of tables: Set<String>, keys: (_ table: String) -> [String]) -> [String] {
        var pending = scans.filter { tables.contains($0.table) }
        while let next = pending.firstIndex(where: { scan in
            let names = keys(scan.table).map { "\(scan.alias).\($0)" }
            return conditions.contains { Self.limits($0[...], names, pending.map(\.alias)) }
        }) { pending.remove(at: next) }
        return pending.map(\.table)
    }

    /// Returns whether the condition compares one of these columns with anything but a column of a pending scan.
    private static func limits(_ condition: Substring, _ columns: [String], _ pending: [String]) -> Bool {
        let condition = withoutParentheses(condition)
        let alternatives = parts(of: condition, between: " OR ")
        if alternatives.count > 1 { return alternatives.allSatisfy { limits($0, columns, pending) } }
        let conjuncts = parts(of: condition, between: " AND ")
        if conjuncts.count > 1 { return conjuncts.contains { limits($0, columns, pending) } }
        let sides = parts(of: condition, between: " = ").map(String.init)
        guard sides.count == 2 else { return false }
        return [(sides[0], sides[1]), (sides[1], sides[0])].contains { column, value in
            columns.contains(column) && !pending.contains { value.hasPrefix("\($0).") }
        }
    }

    private static func withoutParentheses(_ text: Substring) -> Substring {
        var text = text
        while text.first == "(", closing(of: text) == text.indices.last { text = text.dropFirst().dropLast() }
        return text
    }

    /// Returns the index of the parenthesis that closes the first one of the text.
    private static func closing(of text: Substring) -> Substring.Index? {
        var depth = 0
        return text.indices.first { index in
            depth += text[index] == "(" ? 1 : text[index] == ")" ? -1 : 0
            return depth == 0
        }
    }

    private static func parts(of text: Substring, between separator: String) -> [Substring] {
        var (parts, depth, start) = ([Substring](), 0, text.startIndex)
        for index in text.indices {
            depth += text[index] == "(" ? 1 : text[index] == ")" ? -1 : 0
            if depth == 0, text[index...].hasPrefix(separator) {
                parts.append(text[start..<index])
                start = text.index(index, offsetBy: separator.count)
            }
        }
        return parts + [text[start...]]
    }
}
