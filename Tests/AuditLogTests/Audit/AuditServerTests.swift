import Audit
import ChildProcesses
import Domain
import Foundation
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
