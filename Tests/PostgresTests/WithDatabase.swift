import Foundation
import Postgres
import Reactor
import SQL
import Testing

/// A superuser's URL of the test cluster, with these of libpq's parameters instead of its own.
func testURL(_ parameters: [String: String] = [:]) throws -> String {
    let url = try #require(
        ProcessInfo.processInfo.environment["NAGZ_TEST_DATABASE_URL"],
        "set NAGZ_TEST_DATABASE_URL to a superuser's URL of a test cluster (deploy/test does)")
    // libpq takes the last word.
    return parameters.reduce(url) { url, parameter in
        let separator = url.contains("://") ? url.contains("?") ? "&" : "?" : " "
        return "\(url)\(separator)\(parameter.key)=\(parameter.value)"
    }
}

extension Database.Limits {
    /// The usual limits but for the timeouts, which a busy machine under the thread sanitizer must not reach.
    static var patient: Database.Limits {
        var limits = Database.Limits()
        (limits.requestTimeout, limits.batchTimeout) = (.seconds(600), .seconds(600))
        limits.connectTimeout = .seconds(600)
        return limits
    }
}

/// Runs `body` on a fresh loop with a fresh, empty database of the test cluster, and drops the database afterwards.
func withDatabase(
    _ limits: Database.Limits = .patient, settings: [(name: String, value: String)] = [],
    _ body: @escaping @Sendable (Database) async throws -> Void
) async throws {
    let url = try testURL()
    let name = "test_\(UUID().uuidString.lowercased().replacing("-", with: ""))"
    let loop = try EventLoop(name: "test")
    try loop.start()
    defer { loop.stop() }
    try await loop.runTask { poller in
        var single = Database.Limits.patient
        single.connections = 1
        let administration = Database(try ConnectionOptions(url: url), limits: single, poller: poller)
        administration.open()
        _ = try await administration.query(SQL(unsafeSQL: "CREATE DATABASE \(name)"))
        let database = Database(
            try ConnectionOptions(url: url, database: name, settings: settings), limits: limits, poller: poller)
        database.open()
        var failure: (any Error)?
        do { try await body(database) } catch { failure = error }
        database.close()
        _ = try await administration.query(SQL(unsafeSQL: "DROP DATABASE \(name) WITH (FORCE)"))
        administration.close()
        if let failure { throw failure }
    }
}

/// What each of `count` tasks of the loop came to, all begun in one turn, in the order in which they ended: an answer, or
/// the refusal's SQLSTATE, or any other error's description.
func together(
    _ count: Int, on database: Database, _ body: @escaping (Int) async throws -> String
) async -> [(number: Int, outcome: String)] {
    await withCheckedContinuation { done in
        var ended: [(Int, String)] = []
        for number in 1...count {
            database.poller.spawn {
                do { ended.append((number, try await body(number))) } catch {
                    ended.append((number, (error as? PostgresError)?.sqlState ?? "\(error)"))
                }
                if ended.count == count { done.resume(returning: ended) }
            }
        }
    }
}

extension [(number: Int, outcome: String)] {
    /// The outcomes in the order of the tasks' numbers.
    var inOrder: [String] { sorted { $0.number < $1.number }.map(\.outcome) }
}
