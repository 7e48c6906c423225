import Foundation
import Testing

@testable import Server

/// `nagz serve` as its surroundings meet it: the real program, with a database of its own.
@Suite("nagz serve")
struct ServeCommandTests {
    @Test("goes on answering when nobody reads its log any more, and stops in order when nobody reads its output")
    func readersLeave() async throws {
        try await withServe("--log", "info") { serve in
            try serve.errors.fileHandleForReading.close()
            for _ in 0..<20 {
                #expect(try await RawClient.send(Self.request, to: serve.port).status == 200)
            }
            try serve.output.fileHandleForReading.close()
        }
    }

    @Test("with few descriptors it takes as many connections as it can, and refuses the others aloud")
    func fewDescriptors() async throws {
        // 64, a session and four for the loop are kept; an eighth of the rest is for refusals.
        let connections = (200 - 69) - (200 - 69) / 8
        try await withServe("--connections", "1", shell: "ulimit -Sn 100; ulimit -Hn 200; ") { serve in
            #expect(serve.greeting.contains("no more than \(connections) connections"))
            for _ in 0..<2 {
                // They are accepted in their order, so all of these before the request.
                let idle = (0..<connections).map { _ in Self.connection(to: serve.port) }
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

    private static func connection(to port: UInt16) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        precondition(connected == 0, "connect: \(errno)")
        return descriptor
    }

    private static let request = Array("GET /api/v1/version HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".utf8)

    private struct Serve {
        let process = Process()
        let output = Pipe()
        let errors = Pipe()
        var greeting = ""
        var port: UInt16 = 0
    }

    /// Runs `body` with a server that was just started; it MUST end with 0 when it is told to stop.
    private func withServe(
        _ options: String..., shell: String = "", body: @Sendable (Serve) async throws -> Void
    ) async throws {
        let program = try #require(NagzProgram.url)
        let key = String(repeating: "07", count: 32)
        try await TestCluster.shared.withDatabase { url in
            try await TestDevice.withFolder { folder in
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                try "\(key)\n".write(toFile: folder + "/token", atomically: true, encoding: .utf8)
                try "origin nagz.test/log\nsign \(key)\nseal \(key)\n"
                    .write(toFile: folder + "/audit", atomically: true, encoding: .utf8)
                var serve = Serve()
                serve.process.executableURL = URL(filePath: "/bin/sh")
                // As a shell would start it, whatever the tests themselves do with that signal.
                let command = #"exec env --default-signal=PIPE "$0" serve --port 0 --loops 1 "$@""#
                serve.process.arguments = ["-c", shell + command, program.path()] + options
                serve.process.currentDirectoryURL = repository
                serve.process.environment = [
                    "PATH": "/usr/bin:/bin", "DATABASE_URL": url, "NAGZ_TOKEN_KEY_FILE": folder + "/token",
                    "NAGZ_AUDIT_KEY_FILE": folder + "/audit",
                ]
                (serve.process.standardOutput, serve.process.standardError) = (serve.output, serve.errors)
                try serve.process.run()
                defer { if serve.process.isRunning { kill(serve.process.processIdentifier, SIGKILL) } }
                while !serve.greeting.contains(/http:.*\n/) {
                    let piece = serve.output.fileHandleForReading.availableData
                    try #require(!piece.isEmpty, "it ended at once: \(serve.greeting)")
                    serve.greeting += String(decoding: piece, as: UTF8.self)
                }
                serve.port = try #require(serve.greeting.firstMatch(of: /:([0-9]+)\n/).flatMap { UInt16($0.1) })
                try await body(serve)
                serve.process.terminate()
                serve.process.waitUntilExit()
                #expect(serve.process.terminationReason == .exit && serve.process.terminationStatus == 0)
            }
        }
    }
}
