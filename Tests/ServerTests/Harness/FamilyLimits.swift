import JSON
import Postgres
import SQL

@testable import Server

/// The second wall between families: the plan of a statement shows which rows it reads, whatever its text looks like.
///
/// A scan of a table with `family_id` is *limited* if the plan compares that column, or a key of one person or one row,
/// with a value. What reads rows of every family is named here with a reason. Row-level security would ask the same of
/// each row while the server runs: THREATS.md says what that costs.
enum FamilyLimits {
    /// Keys beside `family_id`: of a person, or random and known to one.
    private static let keys = [
        "abuse_reports": ["id", "reporter_id"],
        "ai_confirmations": ["digest"],
        "ai_sessions": ["digest"],
        "consents": ["id", "user_id"],
        "deliveries": ["id"],
        "memberships": ["user_id"],
        "nag_attachments": ["attachment_id"],
        "nags": ["creator_id", "recipient_id"],
        "relationships": ["party_a"],
    ]

    /// Tables with the log of all families, without anybody's words.
    private static let log: Set = ["audit_entry", "audit_leaf", "audit_prune", "family_clock"]

    /// A table, a part of the statements that read its rows of every family, and why they do.
    private static let reasons: [(table: String, part: String, reason: String)] = [
        ("nags", "AND n.connection_id IS NOT NULL", "a nag of a connection is in no family, and found by its id"),
        ("nags", "next_step_at <= ", "the scheduler looks for what is due next"),
        ("nags", "WHERE (family_id, id) > (", "the scheduler plans the steps of all nags anew"),
        ("nags", "count(*) FILTER (WHERE status = 'open')", "metrics count all nags"),
        ("deliveries", "count(*) AS total FROM deliveries", "administrators list messages"),
        ("abuse_reports", "count(*) AS total FROM abuse_reports", "administrators list reports"),
    ]

    /// The scans of these statements that are not limited, and have no reason.
    static func faults(of statements: [SQL], on database: Database) async throws -> [String] {
        try await database.transaction { try await faults(of: statements, in: $0) }
    }

    private static func faults(of statements: [SQL], in transaction: Transaction) async throws -> [String] {
        for (name, value) in Configuration.sessionSettings {
            _ = try await transaction.query(SQL(unsafeSQL: "SET LOCAL \(name) = '\(value)'"))
        }
        let tables = Set(
            try await transaction.query(
                """
                SELECT c.relname::text AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
                WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
                    AND a.attname = 'family_id' AND NOT a.attisdropped
                """
            ).map { row throws(PostgresError) -> String in try row["name"] }
        ).subtracting(log)
        var faults: [String] = []
        for statement in statements where isPlanned(statement) {
            let plan = Plan(try await transaction.plan(of: statement))
            let text = statement.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            for scan in plan.scans where tables.contains(scan.table) {
                let isLimited = plan.limits(scan.alias, by: ["family_id"] + keys[scan.table, default: []])
                if !isLimited, !reasons.contains(where: { $0.table == scan.table && text.contains($0.part) }) {
                    faults.append("reads \(scan.table) of every family: \(text)")
                }
            }
        }
        return faults
    }

    /// Whether it has a plan, unlike `BEGIN` and `LISTEN`.
    private static func isPlanned(_ statement: SQL) -> Bool {
        let text = statement.text.drop(while: \.isWhitespace)
        return ["SELECT", "WITH", "INSERT", "UPDATE", "DELETE"].contains { text.hasPrefix($0) }
    }
}

/// What a plan reads, and the conditions in it.
private struct Plan {
    private static let conditions = [
        "Index Cond", "Recheck Cond", "TID Cond", "Filter", "Join Filter", "Hash Cond", "Merge Cond",
    ]

    private(set) var scans: [(table: String, alias: String)] = []
    private var conditions: [String] = []

    init(_ json: JSONValue) { visit(json) }

    private mutating func visit(_ json: JSONValue) {
        for element in json.arrayValue ?? [] { visit(element) }
        if let table = json["Relation Name"]?.stringValue, let alias = json["Alias"]?.stringValue,
            json["Node Type"] != "ModifyTable"
        {
            scans.append((table, alias))
        }
        // What several bitmaps are joined by, only the scan above them tells.
        if json["Node Type"] != "Bitmap Index Scan" {
            conditions += Self.conditions.compactMap { json[$0]?.stringValue }
        }
        for name in ["Plan", "Plans"] { if let inner = json[name] { visit(inner) } }
    }

    /// Whether one of the conditions compares one of these columns with a value.
    func limits(_ alias: String, by columns: [String]) -> Bool {
        let names = columns.map { "\(alias).\($0)" }
        return conditions.contains { Self.limits($0[...], names) }
    }

    private static func limits(_ condition: Substring, _ names: [String]) -> Bool {
        let condition = withoutParentheses(condition)
        for (separator, all) in [(" OR ", true), (" AND ", false)] {
            let parts = parts(of: condition, between: separator)
            if parts.count > 1 {
                return all ? parts.allSatisfy { limits($0, names) } : parts.contains { limits($0, names) }
            }
        }
        return names.contains { condition.hasPrefix("\($0) = ") || condition.hasSuffix(" = \($0)") }
    }

    private static func withoutParentheses(_ text: Substring) -> Substring {
        var text = text
        while text.first == "(", closing(of: text) == text.indices.last { text = text.dropFirst().dropLast() }
        return text
    }

    /// Where the parenthesis ends that the text begins with.
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

extension Transaction {
    /// The plan of a statement that a session keeps for all values.
    fileprivate func plan(of statement: SQL) async throws -> JSONValue {
        let types = statement.values.map(\.typeName)
        let list = types.isEmpty ? "" : "(\(types.joined(separator: ", ")))"
        let values = types.isEmpty ? "" : "(\(types.map { _ in "NULL" }.joined(separator: ", ")))"
        _ = try await query(SQL(unsafeSQL: "PREPARE planned \(list) AS \(statement.text)"))
        let plan = try await query(
            SQL(unsafeSQL: "EXPLAIN (FORMAT JSON, VERBOSE, COSTS OFF) EXECUTE planned \(values)")
        ).one().text(0)
        _ = try await query("DEALLOCATE planned")
        return try JSONValue(parsing: Array((plan ?? "").utf8).span)
    }
}
