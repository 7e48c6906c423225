import Audit
import ChildProcesses
import Foundation
import JSON
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

/// What deploy/README.md tells operators to do after a restore, with the real program: a backup is made between two runs of
/// a server, and takes its database's place.
@Suite("A server after a restore")
struct AfterRestoreTests {
    @Test("restore-check names what is lost, accept and resync resolve it, and the server goes on")
    func restore() async throws {
        try await OperatorScene.run { scene in
            try await Self.served(scene) { try await Self.makeFamily(named: "Before", at: $0) }
            let name = "nagz_restored_\(UUID().uuidString.lowercased().replacing("-", with: ""))"
            let original: [String] = try await Self.rows(scene.url, "SELECT current_database()::text AS value")
            try await Self.onCluster(
                scene, "CREATE DATABASE \(name) TEMPLATE \(original[0]) OWNER \(TestLogin.owner.name)")
            let outcome: Result<Void, any Error>
            do {
                try await Self.served(scene) { try await Self.makeFamily(named: "Lost", at: $0) }
                try await Self.checkRestored(OperatorScene(folder: scene.folder, url: scene.url + "&dbname=\(name)"))
                outcome = .success(())
            } catch {
                outcome = .failure(error)
            }
            try await Self.onCluster(scene, "DROP DATABASE \(name) WITH (FORCE)")
            try outcome.get()
        }
    }

    @Test("before the schema is complete restore-check says that it does not look further")
    func incomplete() async throws {
        try await OperatorScene.run { scene in
            try await scene.sql("DELETE FROM schema_migrations WHERE number > 50")
            let run = try scene.check("restore-check", ["--json"])
            #expect(run.status == 78)
            #expect(try run.result("schema")?.advice == "run nagz migrate first", "\(run.output)")
            #expect(try run.result("content")?.status == "warning" && run.result("feed") == nil)
        }
    }

    private static func checkRestored(_ scene: OperatorScene) async throws {
        let owner = ["NAGZ_OWNER_DATABASE_URL": TestLogin.owner.url(scene.url)]
        var run = try scene.check("restore-check", ["--json"])
        #expect(run.status == 78)
        #expect(try run.result("role")?.text.contains("TEMPORARY on the database") == true, "\(run.output)")
        #expect(try scene.check("migrate", [], owner).status == 0)

        run = try scene.check("restore-check", ["--json"])
        let log = try #require(try run.result("audit log"))
        #expect(
            run.status == 78 && log.status == "failed" && log.text.contains(/[1-9][0-9]* of [0-9]+ entries are lost/))
        #expect(
            try run.result("feed")?.status == "failed" && run.result("newest entries")?.status == "ok", "\(run.output)")
        let root = try #require(log.advice.firstMatch(of: /nagz audit accept --root ([A-Za-z0-9+\/=]+)/)?.output.1)
        #expect(try scene.check("audit", ["accept", "--root", String(root)], owner).status == 0)
        let resync = try scene.check("admin", ["resync"], owner)
        #expect(resync.status == 0 && resync.output.contains("reset 1 feed:"), "\(resync)")

        run = try scene.check("restore-check")
        #expect(run.status == 0 && run.complaints.isEmpty && run.output.hasSuffix("all checks passed\n"), "\(run)")
        try await served(scene) { port in
            let families: [String] = try await rows(scene.url, "SELECT name AS value FROM families")
            #expect(families == ["Before"])
            try await makeFamily(named: "After", at: port)
        }
        #expect(try scene.check("doctor").status == 0)
    }

    // MARK: The service

    /// Runs `body` while the program serves, and waits until the checkpoint file covers every entry before it is stopped.
    private static func served(_ scene: OperatorScene, _ body: (_ port: UInt16) async throws -> Void) async throws {
        let process = try ChildProcess(
            #require(NagzProgram.url), ["serve", "--port", "0", "--loops", "1", "--metrics", "off", "--log", "off"],
            in: repository, environment: scene.environment)
        defer { process.send(SIGKILL) }
        var greeting = ""
        while !greeting.contains(/http:.*\n/) {
            let piece = process.output.availableData
            guard !piece.isEmpty else { break }
            greeting += String(decoding: piece, as: UTF8.self)
        }
        let port = try #require(greeting.firstMatch(of: /http:.*:([0-9]+)\n/).flatMap { UInt16($0.1) }, "\(greeting)")
        try await body(port)
        let (file, database) = (
            CheckpointFile(path: scene.folder + "/audit.checkpoint"), try await TestDatabase(url: scene.url)
        )
        let deadline = ContinuousClock.now + .seconds(300)
        while ContinuousClock.now < deadline {
            let counts: [Int64] = try await database.rows("SELECT count(*) AS entries FROM audit_entry") {
                try $0["entries"]
            }
            if try file.read()?.checkpoint.size == counts.first { break }
            try await Task.sleep(for: .milliseconds(20))
        }
        await database.close()
        try #require(ContinuousClock.now < deadline, "the sequencer did not come to an end")
        process.send(SIGTERM)
        #expect(process.wait() == 0)
    }

    private static func makeFamily(named name: String, at port: UInt16) async throws {
        let account = try await post(
            "/api/v1/auth/signup",
            #"{"email": "\#(name)@example.com", "password": "a long passphrase", "display_name": "Ada"}"#, "", port)
        let token = try #require(account.json?["access_token"]?.stringValue, "\(account.text)")
        let family = try await post(
            "/api/v1/families", #"{"name": "\#(name)"}"#, "Authorization: Bearer \(token)\r\n", port)
        #expect(family.json?["family_id"]?.stringValue != nil, "\(family.text)")
    }

    private static func post(_ path: String, _ body: String, _ fields: String, _ port: UInt16) async throws -> Reply {
        let head =
            "POST \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n\(fields)"
            + "Content-Length: \(body.utf8.count)\r\n\r\n"
        return try await RawClient.send(Array((head + body).utf8), to: port)
    }

    // MARK: The database

    private static func rows(_ url: String, _ statement: SQL) async throws -> [String] {
        let database = try await TestDatabase(url: url)
        let values: [String] = try await database.rows(statement) { try $0["value"] }
        await database.close()
        return values
    }

    /// Runs a statement that no session may be connected to the copied database for.
    private static func onCluster(_ scene: OperatorScene, _ statement: String) async throws {
        let cluster = OperatorScene(folder: scene.folder, url: scene.url + "&dbname=postgres")
        try await cluster.sql(statement)
    }
}
