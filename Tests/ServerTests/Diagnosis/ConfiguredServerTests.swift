import ChildProcesses
import Foundation
import JSON
import Testing

@testable import ServerTestKit

/// A server that a configuration file alone describes, from its start to its end, and what the checking verbs say of it.
@Suite("A server with a configuration file alone")
struct ConfiguredServerTests {
    @Test("nagz serve runs with a configuration file alone until SIGTERM, and nagz doctor finds no fault with it")
    func fromFile() async throws {
        try await OperatorScene.run { scene in
            let file = try scene.writeConfigurationFile()
            // Nothing but the file: no option and no variable of the configuration.
            let process = try ChildProcess(
                #require(NagzProgram.url), ["serve", "--config", file], in: URL(filePath: "/"),
                environment: ["PATH": "/usr/bin:/bin"])
            defer { process.send(SIGKILL) }
            var greeting = ""
            while !greeting.contains(/http:.*\n/) {
                let piece = process.output.availableData
                guard !piece.isEmpty else { break }
                greeting += String(decoding: piece, as: UTF8.self)
            }
            let match = greeting.firstMatch(of: /http:.*:([0-9]+)\n/)
            let port = try #require(match.flatMap { UInt16($0.1) }, "\(greeting)")
            #expect(try await Self.get("/health/live", port).status == 200)
            // Its first checkpoint takes a moment.
            let deadline = ContinuousClock.now + .seconds(30)
            var ready = try await Self.get("/health/ready", port)
            while ready.json?["audit_log"]?.stringValue != "current", ContinuousClock.now < deadline {
                ready = try await Self.get("/health/ready", port)
            }
            #expect(ready.status == 200 && ready.json?["audit_log"]?.stringValue == "current", "\(ready.text)")
            try Self.expectFine(scene, file)

            process.send(SIGTERM)
            #expect(process.wait() == 0)
            let before = try await scene.everything()
            try Self.expectFine(scene, file)
            let restored = try Self.check("restore-check", scene, file)
            #expect(restored.status == 0 && restored.complaints.isEmpty, "\(restored)")
            #expect(try await scene.everything() == before)
            #expect(before.keys.contains("checkpoint") && before.keys.contains("table audit_checkpoint"))
        }
    }

    private static func check(_ verb: String, _ scene: OperatorScene, _ file: String) throws -> CheckRun {
        let names = ["DATABASE_URL", "NAGZ_TOKEN_KEY_FILE", "NAGZ_AUDIT_KEY_FILE"]
        return try scene.check(verb, ["--config", file], Dictionary(uniqueKeysWithValues: names.map { ($0, "") }))
    }

    /// Only of the machine itself is there something to say: of its descriptors, or of its old package of time zones.
    private static func expectFine(_ scene: OperatorScene, _ file: String) throws {
        let run = try check("doctor", scene, file)
        let ofTheMachine = ["descriptors", "LimitNOFILE", "time zones", "package tzdata"]
        let complaints = run.complaints.filter { line in !ofTheMachine.contains { line.contains($0) } }
        #expect(run.status == 0 && run.errors.isEmpty && complaints.isEmpty, "\(run)")
        #expect(run.output.ranges(of: "\nok  ").count >= 9, "\(run.output)")
    }

    private static func get(_ path: String, _ port: UInt16) async throws -> Reply {
        try await RawClient.send(Array("GET \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".utf8), to: port)
    }
}
