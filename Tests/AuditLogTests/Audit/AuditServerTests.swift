import Audit
import ChildProcesses
import Domain
import Foundation
import JSON
import TestHTTPServer
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("`nagz audit` and a server")
struct AuditServerTests {
    private static func audit(
        _ arguments: [String], token: String? = nil, proxy: String? = nil
    ) throws -> (status: Int32?, output: String, errors: String) {
        var environment = ["PATH": "/usr/bin:/bin"]
        environment["NAGZ_TOKEN"] = token
        environment["http_proxy"] = proxy
        let process = try ChildProcess(
            #require(NagzProgram.url), ["audit"] + arguments, in: repository, environment: environment)
        let (output, errors) = (ChildProcess.text(process.output), ChildProcess.text(process.errors))
        return (process.wait(), output, errors)
    }

    @Test("nagz audit verify, export and witness read a server's log with a token and repeat its refusal")
    func reads() async throws {
        try await TestServer.run(isOfActs: false) { server in
            let family = try await server.family()
            try await server.write([.nagCreated], by: family.guardian, in: family.id)
            try await server.waitUntilSequenced()
            let address = "http://127.0.0.1:\(server.port)"
            let key = try #require(TestServer.auditKeyring).signingKeys[0].verifier.text
            let log = ["--url", address, "--family", family.id.description]
            let verified = try Self.audit(["verify", "--key", key] + log, token: server.token(family.guardian))
            #expect(verified.status == 0 && verified.output.contains("SOUND"), "\(verified)")
            try await withTemporaryFolder { folder in
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                let (file, witness) = (folder + "/export.ndjson", folder + "/witness")
                let exported = try Self.audit(["export", "--output", file] + log, token: server.token(family.guardian))
                #expect(exported.status == 0, "\(exported)")
                #expect(try Self.audit(["verify", file, "--key", key]).output.contains("SOUND"))
                let seen = try Self.audit(["witness", "--url", address, "--key", key, "--file", witness])
                #expect(seen.status == 0 && seen.output.contains("entries at"), "\(seen)")
                for text in ["", "one checkpoint"] {
                    try text.write(toFile: witness, atomically: true, encoding: .utf8)
                    let unwritten = try Self.audit(["witness", "--url", address, "--key", key, "--file", witness])
                    #expect(unwritten.status == 78 && unwritten.errors.contains("name another file"), "\(unwritten)")
                    #expect(try String(contentsOfFile: witness, encoding: .utf8) == text)
                    #expect(try Self.audit(["verify", file, "--key", key, "--witness", witness]).status != 0)
                }
            }
            let refused = try Self.audit(["verify", "--key", key] + log, token: "none")
            #expect(refused.status == 69)
            #expect(refused.errors.contains("answered 401: The access token is not valid."), "\(refused.errors)")
            #expect(refused.errors.contains("NAGZ_TOKEN"))
            let hostile = try Self.audit(["verify", "--key", key] + log, token: "a\r\nHost: b")
            #expect(hostile.status == 69 && hostile.errors.contains("not valid"), "\(hostile)")
        }
    }

    @Test("an export that stopped between its last checkpoint and its end is continued with whole lines only")
    func continuesExport() async throws {
        try await TestServer.run(isOfActs: false) { server in
            let family = try await server.family()
            try await server.waitUntilSequenced()
            let token = try await server.token(server.admin())
            try await withTemporaryFolder { folder in
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                let (all, own) = (folder + "/all.ndjson", folder + "/family.ndjson")
                let address = ["--url", "http://127.0.0.1:\(server.port)"]
                #expect(try Self.audit(["export", "--output", all] + address, token: token).status == 0)
                let exported = ["export", "--output", own, "--family", family.id.description] + address
                #expect(try Self.audit(exported, token: server.token(family.guardian)).status == 0)
                // A clock is before the last checkpoint where a family has entries that are not in the log yet.
                let clock = try #require(try Self.lines(of: own).first { $0.hasPrefix(#"{"clock""#) })
                var lines = try Self.lines(of: all)
                #expect(lines.removeLast().hasPrefix(#"{"end""#) && lines.last?.hasPrefix(#"{"checkpoint""#) == true)
                lines.insert(clock, at: lines.count - 1)
                try (lines.joined(separator: "\n") + "\n").write(toFile: all, atomically: true, encoding: .utf8)
                #expect(try Self.audit(["export", "--output", all] + address, token: token).status == 0)
                let continued = try Self.lines(of: all)
                #expect(continued.allSatisfy { (try? JSONValue(parsing: Array($0.utf8).span)) != nil })
                #expect(continued.last?.hasPrefix(#"{"end""#) == true)
            }
        }
    }

    private static func lines(of file: String) throws -> [String] {
        try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    @Test("a rotated key file can be read by its owner only, whatever an interrupted rotation has left beside it")
    func keyFileMode() async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let path = folder + "/audit.key"
            #expect(try Self.audit(["keys", "new", path, "--origin", "nagz.test/1"]).status == 0)
            #expect(
                FileManager.default.createFile(
                    atPath: path + ".new", contents: Data(), attributes: [.posixPermissions: 0o644]))
            let rotated = try Self.audit(["keys", "rotate", "--audit-key-file", path])
            #expect(rotated.status == 0, "\(rotated)")
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test("requests of nagz audit go through the proxy of the environment")
    func proxy() async throws {
        try await TestHTTPServer.with { proxy in
            let key = try #require(TestServer.auditKeyring).signingKeys[0].verifier.text
            let arguments = ["witness", "--url", "http://nagz.invalid", "--key", key, "--file", "/nowhere/witness"]
            #expect(try Self.audit(arguments).errors.contains("cannot be resolved"))
            #expect(try Self.audit(arguments, proxy: proxy.url()).errors.contains("http://nagz.invalid answered"))
        }
    }
}
