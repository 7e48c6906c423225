import Audit
import ChildProcesses
import Foundation
import JSON
import TestHTTPServer
import Testing

@testable import ServerTestKit

@Suite("Model files at the command line", .timeLimit(.minutes(5)))
struct DeviceModelTests {
    private static let size = 300_000

    /// Starts a command; with a catalogue of one model, which the test server has under that word.
    private func start(
        _ arguments: [String], _ home: String, _ server: TestHTTPServer, _ word: String
    ) throws -> ChildProcess {
        let content = (0..<Self.size).map { UInt8(truncatingIfNeeded: $0 * 31 + $0 >> 8) }
        let digest = sha256(content).map { String(format: "%02x", $0) }.joined()
        let catalogue = """
            {"models":[{"id":"small","variant":"lite","url":"\(server.url())/file/\(word)/small","bytes":\(Self.size),
            "sha256":"\(digest)","context":2048,"licence":"MIT"}]}
            """
        try catalogue.write(toFile: home + "/catalogue.json", atomically: false, encoding: .utf8)
        let other = arguments.contains("--catalogue") ? [] : ["--catalogue", home + "/catalogue.json"]
        return try ChildProcess(
            try #require(NagzProgram.url), ["device", "model"] + arguments + ["--home", home] + other, in: repository)
    }

    /// Runs a command to its end: exit code, output and complaint.
    private func run(
        _ arguments: [String], _ home: String, _ server: TestHTTPServer, _ word: String
    ) throws -> (code: Int32?, output: String, complaint: String) {
        let process = try start(arguments, home, server, word)
        let (output, complaint) = (ChildProcess.text(process.output), ChildProcess.text(process.errors))
        return (process.wait(), output, complaint)
    }

    private func withHome(_ body: @Sendable (String, TestHTTPServer) async throws -> Void) async throws {
        let home = FileManager.default.temporaryDirectory.appending(path: "nagz-home-\(UUID().uuidString)").path()
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: home) }
        try await TestHTTPServer.with { try await body(home, $0) }
    }

    @Test("the model commands list, download, status and delete have their exit codes")
    func commands() async throws {
        try await withHome { home, server in
            #expect(try run(["list"], home, server, "range").output.contains("not downloaded"))
            let missing = try run(["status", "small"], home, server, "range")
            #expect(missing.code == 66 && missing.complaint.contains("E-MODEL-001"))
            #expect(try run(["download", "other"], home, server, "range").code == 66)
            let wrong = try run(["download", "small"], home, server, "wrong")
            #expect(wrong.code == 76 && wrong.complaint.contains("E-MODEL-002"))
            let done = try run(["download", "small"], home, server, "range")
            #expect(done.code == 0 && done.complaint.contains("small 50 % of 0 MB\n"), "\(done.complaint)")
            let path = home + "/models/small.gguf"
            #expect(try run(["status", "small"], home, server, "range").output == path + "\n")
            #expect(try run(["delete", "small", "--dry-run"], home, server, "range").code == 0)
            #expect(try run(["delete", "small"], home, server, "range").code == 64, "nobody to ask")
            #expect(FileManager.default.fileExists(atPath: path))
            let json = try JSONValue(parsing: try run(["status", "--json"], home, server, "range").output)
            #expect(json.arrayValue?.first?["state"] == "downloaded")
            #expect(try run(["delete", "small", "--yes"], home, server, "range").code == 0)
            #expect(try run(["delete", "small", "--yes"], home, server, "range").code == 66)
            try "{}".write(toFile: home + "/empty.json", atomically: false, encoding: .utf8)
            #expect(try run(["list", "--catalogue", home + "/empty.json"], home, server, "range").code == 78)
        }
    }

    @Test("a download that was killed is resumed where it was")
    func killed() async throws {
        try await withHome { home, server in
            let process = try start(["download", "small"], home, server, "hold")
            // The server has sent half, and then nothing more.
            var told = ""
            while !told.contains("50 %") {
                let more = process.errors.availableData
                try #require(!more.isEmpty, "\(told)")
                told += String(decoding: more, as: UTF8.self)
            }
            process.send(SIGKILL)
            process.wait()
            let part = try FileManager.default.attributesOfItem(atPath: home + "/models/small.part")
            #expect(part[.size] as? Int == Self.size / 2)
            let again = try run(["download", "small"], home, server, "hold")
            #expect(again.code == 0 && again.complaint.hasPrefix("small 50 %"), "\(again.complaint)")
        }
    }
}
