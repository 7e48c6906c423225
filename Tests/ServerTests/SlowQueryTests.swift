import Domain
import Foundation
import HTTP
import JSON
import Postgres
import Reactor
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("The log of slow queries")
struct SlowQueryTests {
    private static let canary = "canary-4711"

    /// Runs `body` with a pool that reports statements, and returns the log's lines and how many batches were slow.
    private static func lines(
        from threshold: Duration, _ limits: Database.Limits = Database.Limits(),
        settings: [(name: String, value: String)] = [],
        _ body: @escaping @Sendable (Database) async throws -> Void
    ) async throws -> (entries: [JSONValue], text: String, count: Int) {
        let (recorder, counter) = (LogRecorder(), Counter())
        let log = Log(.warning, descriptor: recorder.descriptor)
        let slow = SlowQueryLog(log, counting: counter).observer(from: threshold)
        try await TestCluster.shared.withDatabase { url in
            let loop = try EventLoop(name: "test")
            try loop.start()
            defer { loop.stop() }
            try await loop.runTask { poller in
                let options = try ConnectionOptions(url: TestLogin.server.url(url), settings: settings)
                let database = Database(options, limits: limits, slowStatements: slow, poller: poller)
                defer { database.close() }
                database.open()
                try await body(database)
            }
        }
        log.stop()
        let lines = recorder.close()
        return (try lines.map { try JSONValue(parsing: Array($0.utf8).span) }, lines.joined(), counter.value)
    }

    @Test("a slow statement is logged with its text, time, rows and request, and without a value")
    func canaries() async throws {
        let trace = try #require(TraceContext(traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
        let request = HTTP.RequestID(high: 1, low: 2)
        let (entries, text, count) = try await Self.lines(from: .milliseconds(100)) { database in
            let canary = Self.canary
            let scope = RequestScope(request: request, trace: trace)
            try await RequestScope.$current.withValue(scope) {
                _ = try await database.query("SELECT pg_sleep(\(0.2)),\n    \(canary) AS word")
            }
            _ = try await database.query(SQL(unsafeSQL: "SELECT pg_sleep(0.2), '\(canary)'"))
        }
        #expect(entries.count == 2 && count == 2)
        #expect(!text.contains(Self.canary))
        let first = try #require(entries.first)
        #expect(first["event"] == "slow_query" && first["level"] == "warning")
        #expect(first["statements"]?.arrayValue == ["SELECT pg_sleep($1), $2 AS word"])
        #expect(first["count"] == 1 && first["rows"] == 1)
        #expect(try #require(first["ms"]?.doubleValue) >= 200)
        #expect(first["request_id"]?.stringValue == request.description)
        #expect(first["trace_id"]?.stringValue == trace.traceID)
        #expect(entries.last?["statements"]?.arrayValue == ["(made at run time)"])
        #expect(entries.last?["request_id"] == nil)
    }

    @Test("a slow batch is one line with each text once, also if it failed, and a long text is shortened")
    func batches() async throws {
        let (entries, text, _) = try await Self.lines(
            from: .milliseconds(100), settings: [(name: "statement_timeout", value: "1500")]
        ) { database in
            let canary = Self.canary
            _ = try await database.pipeline((0..<3).map { _ in "SELECT pg_sleep(\(0.1)), \(canary)" })
            _ = try? await database.query("SELECT pg_sleep(\(600.0)), \(canary)")
            let lengths = SQL.joined((0..<40).map { _ in "length(\(canary))" }, separator: ", ")
            _ = try await database.query("SELECT pg_sleep(\(0.2)), \(lengths)")
        }
        #expect(!text.contains(Self.canary))
        #expect(entries.map { $0["count"] } == [3, 1, 1])
        #expect(entries.map { $0["rows"] } == [3, nil, 1])
        #expect(entries.map { $0["failed"] } == [nil, true, nil])
        #expect(entries.map { $0["statements"]?.arrayValue?.count } == [1, 1, 1])
        let long = try #require(entries.last?["statements"]?.arrayValue?.first?.stringValue)
        #expect(long.count == 301 && long.hasSuffix("…"))
    }

    @Test("a batch that waits for another one on its session is logged with its own time")
    func queued() async throws {
        var limits = Database.Limits()
        limits.connections = 1
        let (entries, _, _) = try await Self.lines(from: .seconds(2), limits) { database in
            await withCheckedContinuation { done in
                database.poller.spawn {
                    database.poller.spawn {
                        _ = try? await database.query("SELECT 1 AS second")
                        done.resume()
                    }
                    _ = try? await database.query("SELECT pg_sleep(\(2.1)) AS first")
                }
            }
        }
        #expect(entries.map { $0["statements"]?.arrayValue } == [["SELECT pg_sleep($1) AS first"]])
    }

    @Test("a request's statements are logged under its id and trace")
    func ofRequest() async throws {
        try await TestServer.run(configure: { $0.slowQueryThreshold = .zero }) { server in
            // Others may have used up this second's lines.
            for _ in 0..<500 {
                let reply = try await server.call(
                    "POST", "/api/v1/auth/login", body: ["email": "canary@example.com", "password": "canary-password"])
                let id = try #require(reply.header("x-request-id"))
                let lines = try await server.logged { lines in lines.contains { $0.contains(id) } }
                guard let line = lines.first(where: { $0.contains(id) }) else { continue }
                let entry = try JSONValue(parsing: Array(line.utf8).span)
                #expect(entry["event"] == "slow_query" && entry["trace_id"]?.stringValue?.count == 32)
                #expect(!lines.joined().contains("canary"))
                return
            }
            Issue.record("no line with the request's id")
        }
    }

    @Test("ten slow queries a second are logged, and the next line has the number of suppressed ones")
    func lineLimit() {
        let start = MonotonicTime(nanoseconds: 5_000_000_000)
        var limit = LineLimit()
        let first = (0..<13).map { _ in limit.admit(at: start + .milliseconds(999)) }
        #expect(first == [Int?](repeating: 0, count: 10) + [nil, nil, nil])
        #expect(limit.admit(at: start + .milliseconds(1_998)) == nil)
        #expect(limit.admit(at: start + .milliseconds(1_999)) == 4)
        #expect(limit.admit(at: start + .milliseconds(2_000)) == 0)
    }
}
