import Audit
import ChildProcesses
import Contract
import Domain
import Foundation
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

/// The real program over the database of a test, killed between the steps of a draft.
@Suite("Drafts across kills of the server")
struct DraftRestartTests {
    /// Of tokens and of the audit log: one that the program takes.
    private static let key = (0..<32).map { UInt8(7 * $0 + 1) }
    private static let audit = "origin nagz.test/log\nsign \(hexadecimal(key))\nseal \(hexadecimal(key))\n"

    /// A running program, and the people's tokens that it accepts.
    private struct Program {
        let port: UInt16
        let process: ChildProcess

        /// As `TestServer.call`, with a token that lasts by the real clock.
        func call(_ method: String, _ path: String, as person: TestPerson, _ body: JSONValue?) async throws -> Reply {
            try await RawClient.send(Self.request(method, path, as: person, body), to: port)
        }

        static func request(_ method: String, _ path: String, as person: TestPerson, _ body: JSONValue?) -> [UInt8] {
            let claims = Tokens.Claims(user: person.id, session: person.session)
            let now = Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000))
            let content = body?.bytes ?? []
            var head = "\(method) \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
            head += "Authorization: Bearer \(Tokens(keys: [key]).accessToken(claims, at: now))\r\n"
            if body != nil { head += "Content-Type: application/json\r\nContent-Length: \(content.count)\r\n" }
            return Array("\(head)\r\n".utf8) + content
        }
    }

    /// Runs `body` with a program that has just started, and kills it.
    private static func killed<Value>(
        after body: (Program) async throws -> Value, _ server: TestServer, _ folder: String
    ) async throws -> Value {
        let process = try ChildProcess(
            try #require(NagzProgram.url), ["serve", "--port", "0", "--loops", "1", "--metrics", "off"], in: repository,
            environment: [
                "PATH": "/usr/bin:/bin", "DATABASE_URL": TestLogin.server.url(server.database.url),
                "NAGZ_TOKEN_KEY_FILE": folder + "/token", "NAGZ_AUDIT_KEY_FILE": folder + "/audit",
            ])
        defer {
            process.send(SIGKILL)
            _ = process.wait()
        }
        var greeting = ""
        while !greeting.contains(/http:.*\n/) {
            let piece = process.output.availableData
            guard !piece.isEmpty else { break }
            greeting += String(decoding: piece, as: UTF8.self)
        }
        let port = greeting.firstMatch(of: /http:.*:([0-9]+)\n/).flatMap { UInt16($0.1) }
        return try await body(
            Program(port: try #require(port, "it ended at once: \(greeting)"), process: process))
    }

    private static func writeKeys(in folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (name, text) in [("token", "\(hexadecimal(key))\n"), ("audit", audit)] {
            try text.write(toFile: folder + "/" + name, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder + "/" + name)
        }
    }

    private static func count(_ table: SQL, _ server: TestServer) async throws -> Int {
        try await server.rows("SELECT 1 FROM \(table)").count
    }

    private static let approval: JSONValue = [
        "version": 1, "acknowledged_side_effects": ["create_nag", "notify_recipient"],
    ]

    private static func order(in family: Household) -> JSONValue {
        ["family_id": .string("\(family.id)"), "kind": "suggested_nag", "text": "the dishes"]
    }

    @Test("when the server is killed after each step, the draft keeps its state and key, and has its effect once")
    func steps() async throws {
        let keyring = try AuditKeyring(text: Self.audit)
        try await TestServer.run(configure: { $0.auditKeyring = keyring }) { server in
            try await withTemporaryFolder { folder in
                try Self.writeKeys(in: folder)
                let family = try await server.family()
                let guardian = family.guardian
                var path = "/api/v1/ai/drafts"
                func step(_ name: String?, _ body: JSONValue, _ state: String) async throws -> Reply {
                    let target = path + (name.map { "/\($0)" } ?? "")
                    let reply = try await Self.killed(
                        after: { try await $0.call("POST", target, as: guardian, body) }, server, folder)
                    #expect(reply.status < 300, "\(target) \(reply.text)")
                    #expect(try await server.rows("SELECT state FROM drafts") == [["state": .string(state)]])
                    #expect(try await Self.count("nags", server) == (state == "executed" ? 1 : 0))
                    return reply
                }
                let created = try await step(nil, Self.order(in: family), "draft")
                path += "/\(try #require(created.json?["id"]?.stringValue))"
                _ = try await step("approve", Self.approval, "approved")
                let confirmed = try await step("confirm", ["version": 1], "confirmed")
                let key = try #require(confirmed.json?["confirmation"])
                let execution: JSONValue = ["version": 1, "confirmation": key]
                let executed = try await step("execute", execution, "executed")
                let again = try await step("execute", execution, "executed")
                #expect(again.json == executed.json)
                let kinds = try await server.audit(family.id).map(\.kind)
                #expect(kinds == ["draft.created", "draft.approved", "draft.confirmed", "nag.created"])
            }
        }
    }

    @Test("an execution that was killed before its answer has one effect when it is repeated")
    func execution() async throws {
        let keyring = try AuditKeyring(text: Self.audit)
        try await TestServer.run(configure: { $0.auditKeyring = keyring }) { server in
            try await withTemporaryFolder { folder in
                try Self.writeKeys(in: folder)
                let family = try await server.family()
                // How many drafts are executed in the database when the kill comes: none, or this one.
                for (round, waits) in [false, true, false, true].enumerated() {
                    var path = "/api/v1/ai/drafts"
                    let execution: JSONValue = try await Self.killed(
                        after: { program in
                            func step(_ name: String, _ body: JSONValue) async throws -> JSONValue {
                                let reply = try await program.call("POST", path + name, as: family.guardian, body)
                                return try #require(reply.status < 300 ? reply.json : nil, "\(reply.text)")
                            }
                            let order = Self.order(in: family)
                            path += "/\(try #require(try await step("", order)["id"]?.stringValue))"
                            _ = try await step("/approve", Self.approval)
                            let key = try #require(try await step("/confirm", ["version": 1])["confirmation"])
                            let execution: JSONValue = ["version": 1, "confirmation": key]
                            let request = Program.request("POST", "\(path)/execute", as: family.guardian, execution)
                            let port = program.port
                            let answer = Task { try? await RawClient.exchange(request, port) }
                            for _ in 0..<10_000 {
                                guard waits, try await Self.count("nags", server) == round else { break }
                            }
                            program.process.send(SIGKILL)
                            _ = await answer.value
                            return execution
                        }, server, folder)
                    // In one snapshot: the database may still be committing what the program has sent.
                    let last = try await server.rows(
                        """
                        SELECT state, (SELECT count(*) FROM nags) = \(Int64(round + 1)) AS is_done
                        FROM drafts ORDER BY id DESC LIMIT 1
                        """)
                    let done: JSONValue = ["state": "executed", "is_done": true]
                    #expect(last == [done] || !waits && last == [["state": "confirmed", "is_done": false]])
                    let target = "\(path)/execute"
                    let reply = try await Self.killed(
                        after: { try await $0.call("POST", target, as: family.guardian, execution) }, server, folder)
                    #expect(reply.status == 200 && reply.json?["state"] == "executed", "\(reply.text)")
                    #expect(try await Self.count("nags", server) == round + 1)
                }
                let kinds = try await server.audit(family.id).map(\.kind)
                #expect(kinds.count { $0 == "nag.created" } == 4)
            }
        }
    }
}
