import Audit
import ChildProcesses
import Foundation
import Testing

@testable import Server
@testable import ServerTestKit

/// `nagz serve` as its surroundings meet it: the real program, with a database of its own.
@Suite("nagz serve")
struct ServeCommandTests {
    @Test("nagz serve goes on when nobody reads its log, and stops cleanly when nobody reads its output")
    func readersLeave() async throws {
        try await withServe("--log", "info") { serve in
            try serve.process.errors.close()
            for _ in 0..<20 {
                #expect(try await RawClient.send(Self.request, to: serve.port).status == 200)
            }
            try serve.process.output.close()
        }
    }

    @Test("with few descriptors nagz serve accepts as many connections as it can, and refuses others with an answer")
    func fewDescriptors() async throws {
        // 64, a session and four for the loop are kept; an eighth of the rest is for refusals.
        let connections = (200 - 69) - (200 - 69) / 8
        try await withServe("--connections", "1", shell: "ulimit -Sn 100; ulimit -Hn 200; ") { serve in
            #expect(serve.greeting.contains("at most \(connections) connections"))
            for _ in 0..<2 {
                // They are accepted in their order, so all of these before the request.
                let idle = (0..<connections).map { Self.connection(to: serve.port, from: UInt8($0 + 2)) }
                let refused = try await RawClient.send(Self.request, to: serve.port)
                #expect(refused.status == 503)
                for descriptor in idle { close(descriptor) }
                // It may be accepted before their ends are noticed.
                var (status, tries) = (503, 0)
                while status == 503, tries < 1_000 {
                    status = try await RawClient.send(Self.request, to: serve.port).status
                    tries += 1
                }
                #expect(status == 200)
            }
        }
    }

    @Test(
        "nagz serve does not start with a key that others may read or guess, or a file too large for keys, and says why",
        arguments: [
            ("token", key, 0o644, "chmod 600"), ("token", key, 0o640, "chmod 600"), ("audit", key, 0o604, "chmod 600"),
            ("token", String(repeating: "00", count: 32), 0o600, "openssl rand -hex 32"),
            ("token", String(repeating: "a7", count: 48), 0o600, "openssl rand -hex 32"),
            ("audit", String(repeating: "ff", count: 32), 0o600, "openssl rand -hex 32"),
            ("token", key + String(repeating: "\n", count: 65_536), 0o600, "larger than 64 KB"),
        ])
    func worthlessKeys(file: String, key: String, mode: Int, advice: String) async throws {
        let program = try #require(NagzProgram.url)
        try await withTemporaryFolder { folder in
            try Self.writeKeys(in: folder)
            let path = folder + "/" + file
            let text = try String(contentsOfFile: path, encoding: .utf8).replacing(Self.key, with: key)
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            let process = try ChildProcess(
                program, ["serve", "--port", "0"], in: repository,
                environment: [
                    "DATABASE_URL": "host=/nowhere", "NAGZ_TOKEN_KEY_FILE": folder + "/token",
                    "NAGZ_AUDIT_KEY_FILE": folder + "/audit",
                ])
            let line = ChildProcess.text(process.errors)
            #expect(process.wait() == 78)
            #expect(line.contains(path) && line.contains(advice) && line.split(separator: "\n").count == 1, "\(line)")
            #expect(!line.contains(key))
        }
    }

    @Test(
        "nagz serve does not start with a model that is nameless, remote or misconfigured, and says why",
        arguments: [
            (
                ["NAGZ_MODEL_URL": "https://models.example.org/v1", "NAGZ_MODEL_NAME": "m"],
                "MODEL_URL takes a URL on this machine"
            ),
            (
                ["NAGZ_MODEL_URL": "http://localhost:8081", "NAGZ_MODEL_NAME": "m"],
                "MODEL_URL takes a URL on this machine"
            ),
            (
                ["NAGZ_MODEL_URL": "http://10.0.0.1:8081", "NAGZ_MODEL_NAME": "m"],
                "MODEL_URL takes a URL on this machine"
            ),
            (["NAGZ_MODEL_URL": "http://127.0.0.1:8081"], "MODEL_URL needs NAGZ_MODEL_NAME"),
            (["NAGZ_MODEL_PROMPTS": "/nowhere"], "no file “/nowhere”"),
            (["NAGZ_MODEL_PROMPTS": "README.md"], "“README.md”: line "),
            (["NAGZ_MODEL_NAME": "m"], "need NAGZ_MODEL_URL"),
            (
                [
                    "NAGZ_MODEL_URL": "http://127.0.0.1:8081", "NAGZ_MODEL_NAME": "m",
                    "NAGZ_MODEL_KEY_FILE": repository.appending(path: "README.md").path,
                ], "chmod 600"
            ),
        ])
    func models(environment: [String: String], advice: String) async throws {
        let program = try #require(NagzProgram.url)
        try await withTemporaryFolder { folder in
            try Self.writeKeys(in: folder)
            let own = [
                "DATABASE_URL": "host=/nowhere", "NAGZ_TOKEN_KEY_FILE": folder + "/token",
                "NAGZ_AUDIT_KEY_FILE": folder + "/audit",
            ]
            let process = try ChildProcess(
                program, ["serve", "--port", "0"], in: repository,
                environment: own.merging(environment) { _, given in given })
            let line = ChildProcess.text(process.errors)
            #expect(process.wait() == 78)
            #expect(line.contains(advice) && line.split(separator: "\n").count == 1, "\(line)")
        }
    }

    @Test("with a model on this machine nagz serve goes on to its database")
    func rightModel() async throws {
        try await withTemporaryFolder { folder in
            try Self.writeKeys(in: folder)
            let process = try ChildProcess(
                #require(NagzProgram.url), ["serve", "--port", "0"], in: repository,
                environment: [
                    "DATABASE_URL": "host=/nowhere", "NAGZ_TOKEN_KEY_FILE": folder + "/token",
                    "NAGZ_AUDIT_KEY_FILE": folder + "/audit", "NAGZ_MODEL_URL": "http://127.0.0.1:8081",
                    "NAGZ_MODEL_NAME": "m", "NAGZ_MODEL_KEY_FILE": folder + "/token",
                ])
            let line = ChildProcess.text(process.errors)
            #expect(process.wait() == 69 && !line.contains("MODEL"), "\(line)")
        }
    }

    @Test(
        "nagz serve refuses a login with too many rights and an unwritable checkpoint file, in one line",
        arguments: [
            (TestLogin.owner, "which owns", ""), (nil, "a superuser", ""),
            (TestLogin.server, "cannot be written", "/nowhere/checkpoint"),
        ])
    func refuses(login: TestLogin?, reason: String, checkpointFile: String) async throws {
        let program = try #require(NagzProgram.url)
        try await TestCluster.shared.withDatabase { url in
            try await withTemporaryFolder { folder in
                try Self.writeKeys(in: folder)
                let process = try ChildProcess(
                    program, ["serve", "--port", "0", "--loops", "1", "--metrics", "off"], in: repository,
                    environment: [
                        "DATABASE_URL": login.map { $0.url(url) } ?? url, "NAGZ_TOKEN_KEY_FILE": folder + "/token",
                        "NAGZ_AUDIT_KEY_FILE": folder + "/audit",
                        "NAGZ_AUDIT_CHECKPOINT_FILE": checkpointFile.isEmpty ? folder + "/checkpoint" : checkpointFile,
                    ])
                let line = ChildProcess.text(process.errors)
                #expect(process.wait() == 78)
                #expect(line.contains(reason) && line.split(separator: "\n").count == 1, "\(line)")
            }
        }
    }

    private static let key = hexadecimal((0..<32).map { 7 * $0 + 1 })

    /// The files `token` and `audit`, as `deploy/run` makes them.
    private static func writeKeys(in folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let audit = "origin nagz.test/log\nsign \(key)\nseal \(key)\n"
        for (name, text) in [("token", "\(key)\n"), ("audit", audit)] {
            try text.write(toFile: folder + "/" + name, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder + "/" + name)
        }
    }

    @Test("nagz serve has metrics on loopback, elsewhere or nowhere, and reports a used port in one line")
    func metrics() async throws {
        try await withServe("--metrics", "127.0.0.1:0") { serve in
            let said = Self.read(serve.process.output, from: serve.greeting, until: /metrics at .*\n/)
            let port = try #require(said.firstMatch(of: /127\.0\.0\.1:([0-9]+)\/metrics/).flatMap { UInt16($0.1) })
            let request = Array("GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".utf8)
            let text = try await RawClient.send(request, to: port).text
            #expect(text.contains("nagz_http_connections"))
            #expect(try await RawClient.send(request, to: serve.port).status == 404)
            // Asked for by name the port must be free.
            let second = try serve.again("--metrics", "127.0.0.1:\(port)")
            let line = ChildProcess.text(second.errors)
            #expect(second.wait() == 73)
            #expect(line.hasSuffix("nagz: port \(port) is in use: pass another to --metrics, or --metrics off\n"))
        }
        try await withServe("--metrics", "off") { serve in
            #expect(
                Self.read(serve.process.output, from: serve.greeting, until: /metrics.*\n/).contains(
                    "metrics are off\n"))
        }
    }

    @Test("nagz serve warns of a webhook in the own network that --delivery-networks does not allow, and of no other")
    func refusedProviders() async throws {
        try await withTemporaryFolder { folder in
            try Self.writeKeys(in: folder)
            let push = ["--push", "http://127.0.0.1:9/push", "--webhook-secret-file", folder + "/token"]
            for (networks, isRefused) in [
                (["--delivery-networks", "10.0.0.0/8"], true), (["--delivery-networks", "127.0.0.0/8"], false),
            ] {
                try await withServe(push + networks + ["--sms", "http://10.1.2.3/sms"]) { serve in
                    #expect(serve.greeting.contains("WARNING: --push names an address in a private") == isRefused)
                    #expect(serve.greeting.contains("WARNING: --sms") == !isRefused)
                }
            }
        }
    }

    @Test("after SIGTERM with a drain delay nagz serve is not ready but answers, and a second signal ends the delay")
    func drainDelay() async throws {
        try await withServe("--drain-delay", "300") { serve in
            let ready = Array("GET /health/ready HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".utf8)
            let before = try await RawClient.send(ready, to: serve.port).status
            serve.process.send(SIGTERM)
            _ = Self.read(serve.process.output, from: serve.greeting, until: /answers 503.*\n/)
            let during = try await RawClient.send(ready, to: serve.port).status
            let request = try await RawClient.send(Self.request, to: serve.port).status
            #expect(before == 200 && during == 503 && request == 200)
        }
    }

    private static func read(_ stream: FileHandle, from start: String, until pattern: Regex<Substring>) -> String {
        var text = start
        while !text.contains(pattern) {
            let piece = stream.availableData
            guard !piece.isEmpty else { break }
            text += String(decoding: piece, as: UTF8.self)
        }
        return text
    }

    /// A connection from 127.0.0.`host`: one address alone cannot have them all.
    private static func connection(to port: UInt16, from host: UInt8) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var own = address
        own.sin_port = 0
        own.sin_addr.s_addr = (UInt32(0x7F00_0000) | UInt32(host)).bigEndian
        let bound = withUnsafePointer(to: &own) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        precondition(bound == 0, "bind: \(errno)")
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        precondition(connected == 0, "connect: \(errno)")
        return descriptor
    }

    private static let request = Array("GET /api/v1/version HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".utf8)

    /// A server that listens.
    private struct Serve {
        let process: ChildProcess
        let greeting: String
        let port: UInt16
        /// Starts one more with the same environment.
        let again: (_ options: String...) throws -> ChildProcess
    }

    /// Runs `body` with a server that was just started; it MUST end with 0 when it is told to stop.
    private func withServe(
        _ options: String..., shell: String = "", body: @Sendable (Serve) async throws -> Void
    ) async throws { try await withServe(options, shell: shell, body: body) }

    private func withServe(
        _ options: [String], shell: String = "", body: @Sendable (Serve) async throws -> Void
    ) async throws {
        let program = try #require(NagzProgram.url)
        try await TestCluster.shared.withDatabase { url in
            try await withTemporaryFolder { folder in
                try Self.writeKeys(in: folder)
                func start(_ options: [String]) throws -> ChildProcess {
                    let command = shell + #"exec "$0" serve --port 0 --loops 1 "$@""#
                    return try ChildProcess(
                        URL(filePath: "/bin/sh"), ["-c", command, program.path()] + options, in: repository,
                        environment: [
                            "PATH": "/usr/bin:/bin", "DATABASE_URL": TestLogin.server.url(url),
                            "NAGZ_TOKEN_KEY_FILE": folder + "/token", "NAGZ_AUDIT_KEY_FILE": folder + "/audit",
                        ])
                }
                let process = try start(options)
                defer { process.send(SIGKILL) }
                let greeting = Self.read(process.output, from: "", until: /http:.*\n/)
                let port = greeting.firstMatch(of: /http:.*:([0-9]+)\n/).flatMap { UInt16($0.1) }
                try await body(
                    Serve(
                        process: process, greeting: greeting,
                        port: try #require(port, "it ended at once: \(greeting)"), again: { try start($0) }))
                process.send(SIGTERM)
                #expect(process.wait() == 0)
            }
        }
    }
}
