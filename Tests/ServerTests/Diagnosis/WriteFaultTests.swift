import Contract
import Domain
import Foundation
import JSON
import NagzAI
import Postgres
import Reactor
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

/// Databases that answer and take no writes: what tells of them.
@Suite("Readiness with a database that refuses writes")
struct WriteFaultTests {
    /// A setting with which reads go on and writes fail.
    struct Setting: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let on: SQL
        let off: SQL
        let words: String
        /// The status of a write meanwhile.
        let status: Int
    }

    static let settings = [
        Setting(
            testDescription: "read-only",
            on: """
                DO $$ BEGIN
                EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$
                """,
            off: """
                DO $$ BEGIN
                EXECUTE format('ALTER DATABASE %I RESET default_transaction_read_only', current_database()); END $$
                """,
            words: "default_transaction_read_only is on", status: 503),
        Setting(
            testDescription: "without row security",
            on: """
                DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET row_security = off', current_database()); END $$
                """,
            off: """
                DO $$ BEGIN EXECUTE format('ALTER DATABASE %I RESET row_security', current_database()); END $$
                """,
            words: "row_security is off", status: 500),
    ]

    /// Of the server; new ones have the new settings.
    private static let endSessions: SQL = """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND usename = 'nagz_test_server'
        """

    @Test(
        "a server whose database refuses writes is not ready and says why, and recovers without a restart",
        arguments: settings)
    func readiness(setting: Setting) async throws {
        try await TestServer.run(configure: { $0.loops = 1 }, toleratesFaults: true) { server in
            server.clock.set(to: SystemClock().now())
            #expect(try await server.call(API.checkReadiness).status == "ok")
            let token = try await server.signUp("ada@example.org").accessToken.wireText

            try await server.sql(setting.on)
            try await server.sql(Self.endSessions)
            let refused = try await Self.readiness(of: server) { $0.text.contains(setting.words) }
            #expect(refused.status == 503 && refused.header("retry-after") == "5", "\(refused.text)")
            let family: JSONValue = ["name": "The Lovelaces"]
            let write = try await server.call("POST", "/api/v1/families", token: token, body: family)
            #expect(write.status == setting.status)

            try await server.sql(setting.off)
            try await server.sql(Self.endSessions)
            let ready = try await Self.readiness(of: server) { $0.status == 200 }
            #expect(ready.status == 200, "\(ready.text)")
            let repeated = try await server.call("POST", "/api/v1/families", token: token, body: family)
            #expect(repeated.status == 201, "\(repeated.text)")
        }
    }

    /// The first answer of readiness that fulfils the condition, or the last one within 30 seconds. Sessions that have ended
    /// are opened again meanwhile; the clock moves past the lifetime of each probe.
    private static func readiness(of server: TestServer, _ condition: (Reply) -> Bool) async throws -> Reply {
        let deadline = ContinuousClock.now + .seconds(30)
        while true {
            for skew: Int64 in [0, 6] {
                server.clock.set(to: SystemClock().now() + .seconds(skew))
                let reply = try await server.call("GET", "/health/ready")
                if condition(reply) || ContinuousClock.now > deadline { return reply }
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    @Test("writes are probed once in five seconds, and once a second while the database refuses them")
    func lifetime() async throws {
        try await TestServer.run { server in
            let (clock, random) = (server.clock, server.random)
            // One session, whose settings the test changes under the probe.
            try await server.withReadiness { readiness, _, database in
                func isReady(after span: Timestamp.Span) async throws -> Bool {
                    clock.advance(by: span)
                    do {
                        _ = try await readiness.check(.ofTest(at: clock.now(), random), Call(NoParameters(), NoBody()))
                        return true
                    } catch let error as APIError {
                        #expect(error.status == 503 && error.message.contains("row_security is off"), "\(error)")
                        return false
                    }
                }
                #expect(try await isReady(after: .seconds(0)))
                _ = try await database.query("SET row_security = off")
                #expect(try await isReady(after: .seconds(4)))
                #expect(try await !isReady(after: .seconds(1)))
                _ = try await database.query("SET row_security = on")
                #expect(try await !isReady(after: .milliseconds(900)))
                #expect(try await isReady(after: .milliseconds(100)))
            }
        }
    }

    @Test(
        "the check of writes fails for each reason and says what to do",
        arguments: [
            (WriteFault.readOnly, "default_transaction_read_only"), (.rowSecurityOff, "row_security"),
            (.diskFull, "its disk is full"), (.standby, "a standby"), (.refused(sqlState: "54000"), "54000"),
        ])
    func results(fault: WriteFault, words: String) {
        let result = DatabaseCheck.writesResult(fault)
        #expect(result.status == .failed && result.text.contains(words) && result.advice?.isEmpty == false)
        #expect(DatabaseCheck.writesResult(nil).status == .ok)
    }

    @Test("nagz doctor fails if the database refuses writes, and says what to do", arguments: settings)
    func doctor(setting: Setting) async throws {
        try await OperatorScene.run { scene in
            let database = try await TestDatabase(url: scene.url)
            try await database.run { _ = try await $0.query(setting.on) }
            let run = try scene.check("doctor", ["--json"])
            let result = try #require(try run.result("writes"), "\(run.output)")
            #expect(run.status == 78 && result.status == "failed", "\(run.output)")
            #expect(result.text.contains(setting.words) && result.advice.contains("reset it"), "\(result)")
            try await database.run { _ = try await $0.query(setting.off) }
            #expect(try scene.check("doctor", ["--json"]).result("writes")?.status == "ok")
            await database.close()
        }
    }
}
