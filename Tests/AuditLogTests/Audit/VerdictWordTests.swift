import Audit
import ChildProcesses
import Contract
import Foundation
import JSON
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Verdicts of `nagz audit verify` and of the second verifier")
struct VerdictWordTests {
    /// The verdict of a verifier: its exit status, and its line from SOUND, TAMPERED or INCOMPLETE on to the number of entries.
    private struct Verdict: Equatable {
        let status: Int32?
        let words: String
    }

    private static func verdict(_ program: URL, _ arguments: [String]) throws -> Verdict {
        let process = try ChildProcess(program, arguments, in: repository)
        let text = ChildProcess.text(process.output) + ChildProcess.text(process.errors)
        let words = text.firstMatch(of: /SOUND: [0-9]+ (entry|entries)\b|TAMPERED|INCOMPLETE/)?.output.0
        return Verdict(status: process.wait(), words: words.map(String.init) ?? text)
    }

    /// The verdicts of both on the same export.
    private static func verdicts(_ scene: AttackScene) async throws -> [Verdict] {
        let environment = ProcessInfo.processInfo.environment
        let python = try #require(
            environment["NAGZ_TEST_PYTHON"], "set NAGZ_TEST_PYTHON to a Python with cryptography (deploy/test does)")
        let lines = try await scene.server.export(scene.family.id, as: scene.family.guardian)
        let key = try #require(TestServer.auditKeyring).signingKeys[0].verifier.text
        return try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let file = folder + "/export.ndjson"
            let text = lines.map { String(decoding: $0.jsonBytes, as: UTF8.self) + "\n" }.joined()
            try text.write(toFile: file, atomically: true, encoding: .utf8)
            return [
                try verdict(#require(NagzProgram.url), ["audit", "verify", file, "--key", key]),
                try verdict(URL(filePath: python), ["Tests/AuditVerifier/verify.py", file, "--key", key]),
            ]
        }
    }

    @Test("entries that no signature covers are INCOMPLETE, and SOUND counts only entries that one covers")
    func words() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            let scene = try await AttackScene(server, rounds: 0)
            try await server.write([.nagCreated], by: scene.family.guardian, in: scene.family.id)
            let unsigned = Verdict(status: 2, words: "INCOMPLETE")
            #expect(try await Self.verdicts(scene) == [unsigned, unsigned])
            try await scene.writeExport("no entry is signed yet", expecting: 2)
            try await server.runRound()
            let one = Verdict(status: 0, words: "SOUND: 1 entry")
            #expect(try await Self.verdicts(scene) == [one, one])
            try await server.write([.nagCreated], by: scene.family.guardian, in: scene.family.id)
            #expect(try await Self.verdicts(scene) == [one, one], "the second entry is not signed yet")
            try await scene.writeExport("the newest entry is not signed yet", expecting: 0)
            try await server.runRound()
            let two = Verdict(status: 0, words: "SOUND: 2 entries")
            #expect(try await Self.verdicts(scene) == [two, two])
        }
    }
}
