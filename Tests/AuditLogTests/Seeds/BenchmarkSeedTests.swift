import Contract
import Foundation
import JSON
import SQL
import Testing

@testable import Seeds
@testable import Server
@testable import ServerTestKit

@Suite("Benchmark data")
struct BenchmarkSeedTests {
    @Test("the benchmark seed makes families of the announced shape, with working targets and scripts")
    func seed() async throws {
        try await TestServer.run(isOfActs: false) { server in
            let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            try await BenchmarkSeed.run(
                databaseURL: server.database.url, tokens: server.tokens,
                auditKeyring: try #require(TestServer.auditKeyring), families: 3, folder: folder.path()
            ) { _ in }
            server.clock.set(to: SystemClock().now())

            let counts = try await server.rows(
                """
                SELECT (SELECT count(*) FROM families) AS families, (SELECT count(*) FROM memberships) AS members,
                       (SELECT count(*) FROM nags) AS nags
                """)
            #expect(counts.first?["families"] == 3 && counts.first?["members"] == 12 && counts.first?["nags"] == 750)

            func text(_ file: String) throws -> String {
                try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            }
            let since = try text("since.txt")
            let targets = try text("targets.txt").split(separator: "\n").map { $0.split(separator: " ") }
            #expect(targets.count == 6)
            for target in targets {
                let (token, family) = (String(target[0]), target[1])
                let nag = try #require(target[2].split(separator: ",").first)
                let path = "/api/v1/sync/events?family_id=\(family)"
                let recent = try await server.call("GET", "\(path)&since=\(since)", token: token)
                let full = try await server.call("GET", path, token: token, isDocumented: false)
                #expect(recent.status == 200 && full.status == 200 && recent.body.count < full.body.count / 10)
                let tone = try await server.call(
                    "POST", "/api/v1/ai/select-tone", token: token, body: ["nag_id": .string(String(nag))])
                #expect(tone.status == 201)
            }
            // Everybody had a key before: the acts found theirs and made none.
            #expect(try await server.rows("SELECT count(*) AS n FROM audit_subject_key") == [["n": 12]])
            // What pgbench runs: each of its variables is set, and the statements are whole.
            for name in ["w2.pgb", "w3.pgb", "w4.pgb"] {
                let script = try text(name)
                #expect(script.contains("\\set f random(0, 2)") && script.hasSuffix(";\n"))
                // On one line a comment would end the statement.
                #expect(!script.contains("--"))
            }
        }
    }
}
