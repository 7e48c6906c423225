import Domain
import Postgres
import SQL

@testable import Server

/// Runs statements, and records the plans that a session of the server has for them: one plan for all values.
final class PlannedQueries: Queries {
    private let transaction: Transaction
    private let analyzes: Bool
    /// The plans, and the number of pages of tables and indexes that each plan read.
    private(set) var plans: [(text: String, pages: Int)] = []

    /// - Parameter analyzes: whether statements are run; if not, they return no rows.
    init(_ transaction: Transaction, analyzes: Bool = true) {
        self.transaction = transaction
        self.analyzes = analyzes
    }

    func query(_ statement: SQL) async throws(PostgresError) -> Rows {
        try await transaction.useSettingsOfSessions()
        let lines = try await transaction.plan(
            of: statement, with: statement.values.map(\.literal),
            "COSTS OFF\(analyzes ? ", ANALYZE, BUFFERS, TIMING OFF" : "")"
        ).map { row throws(PostgresError) -> String in try row["QUERY PLAN"] }
        let buffers = lines.first { $0.contains("Buffers:") } ?? ""
        let pages = buffers.matches(of: /(?:hit|read)=(\d+)/).reduce(0) { $0 + (Int($1.output.1) ?? 0) }
        plans.append((lines.joined(separator: "\n"), pages))
        return try await transaction.query(analyzes ? statement : "SELECT 0 WHERE false")
    }
}

extension Transaction {
    /// Plans and runs statements as the server's sessions do, until the transaction ends.
    func useSettingsOfSessions() async throws(PostgresError) {
        for (name, value) in Configuration.databaseSessionSettings {
            _ = try await query(SQL(unsafeSQL: "SET LOCAL \(name) = '\(value)'"))
        }
    }

    /// Returns the rows of `EXPLAIN` with these options for the statement, which is prepared first.
    func plan(of statement: SQL, with values: [String], _ options: String) async throws(PostgresError) -> Rows {
        let types = statement.values.map(\.typeName)
        func list(_ elements: [String]) -> String { elements.isEmpty ? "" : "(\(elements.joined(separator: ", ")))" }
        _ = try await query(SQL(unsafeSQL: "PREPARE planned \(list(types)) AS \(statement.text)"))
        let plan = try await query(SQL(unsafeSQL: "EXPLAIN (\(options)) EXECUTE planned \(list(values))"))
        _ = try await query("DEALLOCATE planned")
        return plan
    }
}

extension SQLValue {
    var typeName: String {
        switch type {
        case .boolean: "boolean"
        case .integer: "bigint"
        case .double: "float8"
        case .text: "text"
        case .bytes: "bytea"
        case .uuid: "uuid"
        case .timestamp: "timestamptz"
        case .json: "jsonb"
        case .uuids: "uuid[]"
        case .texts: "text[]"
        case .booleans: "boolean[]"
        case .integers: "bigint[]"
        case .doubles: "float8[]"
        case .byteStrings: "bytea[]"
        case .timestamps: "timestamptz[]"
        case .jsons: "jsonb[]"
        }
    }

    /// The value as SQL text, for the types that searches of the audit log have; `NULL` for others.
    var literal: String {
        switch self {
        case .integer(let number): "\(number)"
        case .text(let text): "'\(text)'"
        case .uuid(let high, let low): "'\(UserID(high: high, low: low))'"
        case .timestamp(let microseconds): "'\(Timestamp(microseconds: microseconds).rfc3339)'"
        case .array(_, let values): "ARRAY[\(values.map(\.literal).joined(separator: ", "))]::\(typeName)"
        default: "NULL"
        }
    }
}
