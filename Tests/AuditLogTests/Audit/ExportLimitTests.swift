import Audit
import Contract
import Domain
import HTTP
import JSON
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Exports under way")
struct ExportLimitTests {
    /// Runs `body` while nobody can read the audit log's entries: exports have begun then, and wait.
    private static func whileEntriesAreLocked<Value: Sendable>(
        _ server: TestServer, _ body: @Sendable @escaping (_ watcher: TestDatabase) async throws -> Value
    ) async throws -> Value {
        let (locker, watcher) = (try await TestDatabase(url: server.database.url), server.database)
        let outcome: Result<Value, any Error>
        do {
            outcome = .success(
                try await locker.run { database in
                    try await database.transaction { transaction in
                        _ = try await transaction.query("LOCK TABLE audit_entry IN ACCESS EXCLUSIVE MODE")
                        return try await body(watcher)
                    }
                })
        } catch { outcome = .failure(error) }
        await locker.close()
        return try outcome.get()
    }

    private static func waits(_ count: Int, _ database: TestDatabase) async throws {
        let deadline = ContinuousClock.now + .seconds(300)
        while ContinuousClock.now < deadline {
            let waiting: [Int] = try await database.rows(
                """
                SELECT count(*) AS n FROM pg_locks l JOIN pg_database d ON d.oid = l.database
                WHERE NOT l.granted AND d.datname = current_database()
                """
            ) { try $0["n"] }
            if waiting[0] >= count { return }
        }
        Issue.record("nothing waits for the entries")
    }

    @Test("a person, an address and all together have a limit of exports at a time, and regain what has ended")
    func counts() throws {
        var limits = Limits()
        (limits.maxAnswerMemoryBytes, limits.maxWriteBufferBytes) = (40 << 20, 1 << 20)
        let limiter = ExportLimiter(limits)
        func user(_ number: Int) -> UserID { UserID(high: 1, low: UInt64(number)) }
        func network(_ number: Int) -> RemoteAddress.Network {
            RemoteAddress(high: 0x2001_0db8_0000_0000 + UInt64(number), low: 1, port: 1).network
        }
        func status(_ person: Int, _ address: Int, _ kept: inout [RunningExport]) -> Int {
            do throws(APIError) {
                kept.append(try limiter.begin(user(person), from: network(address)))
                return 200
            } catch { return error.status }
        }
        var kept: [RunningExport] = []
        #expect([0, 1, 2].map { status(1, $0, &kept) } == [200, 200, 429])
        #expect([2, 3, 4, 5, 6].map { status($0, 9, &kept) } == [200, 200, 200, 200, 429])
        #expect((10..<16).map { status($0, $0, &kept) } == [200, 200, 200, 200, 503, 503])
        #expect(limiter.runningCount == 10)
        kept.removeAll()
        #expect(limiter.runningCount == 0)
        #expect(status(1, 9, &kept) == 200)
    }

    @Test("the third export of a person is refused while two are under way")
    func third() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.write([AuditKind](repeating: .blockCreated, count: 30), by: family.child, in: family.id)
            let path = API.exportAuditEvents.request(AuditEventsExportQuery(conditions: .init()), NoBody()).target
            let begun = try await Self.whileEntriesAreLocked(server) { database in
                let begun = (0..<2).map { _ in Task { try await server.call("GET", path, as: family.guardian) } }
                for _ in 0..<2_000 where server.exports?.runningCount != 2 { try await Self.waits(1, database) }
                #expect(server.exports?.runningCount == 2)
                for target in [path, "/api/v1/audit/export", "/api/v1/audit/verify"] {
                    let refused = try await server.call("GET", target, as: family.guardian)
                    #expect(refused.status == 429 && refused.errorCode == "RATE_LIMITED")
                    #expect(refused.header("retry-after") == "10")
                }
                return begun
            }
            for export in begun {
                let text = try await export.value.text
                #expect(text.split(separator: "\n").count == 30)
            }
            // A stream counts until it is let go of, a moment after its last byte.
            var statuses: Set<Int> = []
            for _ in 0..<200 where !statuses.contains(200) {
                statuses.insert(try await server.call("GET", path, as: family.guardian).status)
            }
            #expect(statuses.contains(200), "the first two count for ever")
        }
    }

    @Test(
        "an export ends when its reader's session or right ends",
        arguments: ["session", "role", "membership"], ["/api/v1/audit/export", "/api/v1/audit/events/export"])
    func ended(what: String, path: String) async throws {
        try await TestServer.run(
            configure: { $0.runsSequencer = false }, toleratesFaults: true, isOfActs: false
        ) { server in
            let family = try await server.family()
            try await server.write([AuditKind](repeating: .blockCreated, count: 30), by: family.child, in: family.id)
            let reader = family.secondGuardian
            let before = try await server.call("GET", path, as: reader)
            #expect(before.text.contains("block.created"))
            let export = try await Self.whileEntriesAreLocked(server) { database in
                let export = Task { try? await server.call("GET", path, as: reader) }
                try await Self.waits(1, database)
                let ending: SQL =
                    switch what {
                    case "session": "UPDATE sessions SET revoked_at = created_at WHERE id = \(reader.session)"
                    case "role": "UPDATE memberships SET role = 'participant' WHERE user_id = \(reader.id)"
                    default:
                        "UPDATE memberships SET status = 'removed', removed_at = now() WHERE user_id = \(reader.id)"
                    }
                try await server.sql(ending)
                return export
            }
            let text = await export.value?.text ?? ""
            #expect(!text.contains("block.created"), "\(text.prefix(500))")
        }
    }
}
