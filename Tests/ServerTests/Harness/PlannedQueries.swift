import Domain
import Postgres
import SQL

@testable import Server

/// Statements with the plans that a session of the server has for them: made once for all values.
final class PlannedQueries: Queries {
    private let transaction: Transaction
    private let analyzes: Bool
    /// What PostgreSQL did, and how many pages of tables and indexes it looked at.
    private(set) var plans: [(text: String, pages: Int)] = []

    /// - Parameter analyzes: whether statements are run for it, and answer.
    init(_ transaction: Transaction, analyzes: Bool = true) {
        self.transaction = transaction
        self.analyzes = analyzes
    }

    func query(_ statement: SQL) async throws(PostgresError) -> Rows {
        for (name, value) in Configuration.sessionSettings {
            _ = try await transaction.query(SQL(unsafeSQL: "SET LOCAL \(name) = '\(value)'"))
        }
        let (types, values) = (statement.values.map(\.typeName), statement.values.map(\.literal))
        let name = "planned_\(plans.count)"
        let list = types.isEmpty ? "" : "(\(types.joined(separator: ", ")))"
        let arguments = values.isEmpty ? "" : "(\(values.joined(separator: ", ")))"
        _ = try await transaction.query(SQL(unsafeSQL: "PREPARE \(name) \(list) AS \(statement.text)"))
        let lines = try await transaction.query(
            SQL(
                unsafeSQL:
                    "EXPLAIN (COSTS OFF\(analyzes ? ", ANALYZE, BUFFERS, TIMING OFF" : "")) EXECUTE \(name) \(arguments)"
            )
        ).map { row throws(PostgresError) -> String in try row["QUERY PLAN"] }
        _ = try await transaction.query(SQL(unsafeSQL: "DEALLOCATE \(name)"))
        let buffers = lines.first { $0.contains("Buffers:") } ?? ""
        let pages = buffers.matches(of: /(?:hit|read)=(\d+)/).reduce(0) { $0 + (Int($1.output.1) ?? 0) }
        plans.append((lines.joined(separator: "\n"), pages))
        return try await transaction.query(analyzes ? statement : "SELECT 0 WHERE false")
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

    /// As a search of the audit log needs it.
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
