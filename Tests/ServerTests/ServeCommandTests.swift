import Foundation
import Testing

@testable import Server

/// `nagz serve` as its surroundings meet it: the real program, with a database of its own.
@Suite("nagz serve", .timeLimit(.minutes(1)))
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

    private static let request = Array("GET /api/v1/version HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".utf8)

    private struct Serve {
        let process = Process()
        let output = Pipe()
        let errors = Pipe()
        var port: UInt16 = 0
    }

    /// Runs `body` with a server that was just started; it MUST end with 0 when it is told to stop.
    private func withServe(
        _ options: String..., body: @Sendable (Serve) async throws -> Void
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
                serve.process.executableURL = URL(filePath: "/usr/bin/env")
                // As a shell would start it, whatever the tests themselves do with that signal.
                serve.process.arguments =
                    ["--default-signal=PIPE", program.path(), "serve", "--port", "0", "--loops", "1"] + options
                serve.process.currentDirectoryURL = repository
                serve.process.environment = [
                    "DATABASE_URL": url, "NAGZ_TOKEN_KEY_FILE": folder + "/token",
                    "NAGZ_AUDIT_KEY_FILE": folder + "/audit",
                ]
                (serve.process.standardOutput, serve.process.standardError) = (serve.output, serve.errors)
                try serve.process.run()
                defer { if serve.process.isRunning { kill(serve.process.processIdentifier, SIGKILL) } }
                var lines = ""
                while !lines.contains(/http:.*\n/) {
                    let piece = serve.output.fileHandleForReading.availableData
                    try #require(!piece.isEmpty, "it ended at once: \(lines)")
                    lines += String(decoding: piece, as: UTF8.self)
                }
                serve.port = try #require(lines.firstMatch(of: /:([0-9]+)\n/).flatMap { UInt16($0.1) })
                try await body(serve)
                serve.process.terminate()
                serve.process.waitUntilExit()
                #expect(serve.process.terminationReason == .exit && serve.process.terminationStatus == 0)
            }
        }
    }
}
