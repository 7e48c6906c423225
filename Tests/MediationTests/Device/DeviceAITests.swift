import ChildProcesses
import Contract
import Device
import Domain
import Foundation
import JSON
import LocalAI
import ModelProviders
import NagzAI
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("nagz device ai", .timeLimit(.minutes(10)))
struct DeviceAITests {
    /// A guardian's device at the command line.
    private struct CommandLine {
        let home: String

        func run(_ arguments: [String]) throws -> (code: Int32?, output: String, complaint: String) {
            let program = try #require(NagzProgram.url)
            let process = try ChildProcess(program, ["device"] + arguments + ["--home", home], in: repository)
            try process.input.close()
            let (output, complaint) = (ChildProcess.text(process.output), ChildProcess.text(process.errors))
            return (process.wait(), output, complaint)
        }

        /// Asks, and tells who answered where.
        func ask(_ arguments: [String]) throws -> String {
            let ended = try run(arguments + ["--json"])
            guard ended.code == 0 else { return "\(ended.code ?? -1) \(ended.complaint)" }
            let answer = try JSONValue(parsing: ended.output)
            return [answer["place"], answer["execution"]?["provider"]].compactMap { $0?.stringValue }
                .joined(separator: " ")
        }

        func set(_ name: String, _ value: String) throws -> String {
            let ended = try run(["ai", "set", name, value])
            return ended.code == 0 ? ended.output : "\(ended.code ?? -1) \(ended.complaint)"
        }
    }

    private static func withDevice(_ body: @Sendable (CommandLine, ModelScene, String) async throws -> Void)
        async throws
    {
        try await ModelScene.run { scene in
            try await withTemporaryFolder { folder in
                scene.ai.server.clock.set(to: SystemClock().now())
                _ = try TestDevice(scene.ai.server, scene.ai.home.guardian, in: folder)
                let device = CommandLine(home: folder)
                #expect(try device.run(["sync"]).code == 0)
                try await body(device, scene, String(scene.ai.nag.description.suffix(8)))
            }
        }
    }

    @Test("in all six modes the provider that nagz device ai shows is the one that answers")
    func modes() async throws {
        try await Self.withDevice { device, scene, nag in
            var shown = try device.set("mode", "auto")
            #expect(shown.contains("digest             your own provider (test-model), at the server"), "\(shown)")
            #expect(shown.contains("coaching           the rules, at this device"))
            #expect(try device.ask(["digest"]) == "server byo" && device.ask(["coach", nag]) == "device heuristic")

            shown = try device.set("mode", "byo_only")
            #expect(shown.contains("coaching           your own provider (test-model), at the server"))
            #expect(shown.contains("patterns           none: E-TASK-002"))
            #expect(try device.ask(["coach", nag]) == "server byo")
            #expect(try device.ask(["predict", nag]).hasPrefix("65 ") && device.ask(["tone", nag]) == "server byo")

            shown = try device.set("mode", "on_device_only")
            #expect(shown.contains("coaching           none: E-LOCAL-001"))
            for command in [["coach", nag], ["digest"], ["coach", nag, "--local"], ["predict", nag]] {
                #expect(try device.ask(command).contains("E-LOCAL-001"), "\(command)")
            }

            shown = try device.set("mode", "local_only")
            #expect(shown.contains("digest             the rules, at this device"))
            #expect(try device.ask(["digest"]) == "device heuristic")

            shown = try device.set("mode", "heuristic")
            #expect(shown.contains("digest             the rules, at the server"))
            #expect(try device.ask(["digest"]) == "server heuristic")

            shown = try device.set("mode", "off")
            #expect(shown.contains("coaching           none: The AI is switched off"))
            #expect(try device.ask(["coach", nag]).hasPrefix("77 "))
            #expect(try await scene.questions().count == 3)
        }
    }

    @Test("nagz device asks the named provider, and shows the server's list with a refused setting")
    func settings() async throws {
        try await Self.withDevice { device, scene, nag in
            _ = try device.set("mode", "auto")
            for (name, answered) in [
                ("server_gateway", "server server_gateway"), ("custom", "server byo"),
                ("heuristic", "server heuristic"),
            ] {
                #expect(try device.ask(["coach", nag, "--provider", name]) == answered)
            }
            #expect(try device.ask(["coach", nag, "--provider", "nobody"]).hasPrefix("64 "))
            #expect(try device.set("mode", "sometimes").hasPrefix("65 "))
            #expect(try device.set("cloud-model", "gpt").contains("custom/test-model"))
            #expect(try device.set("cloud-model", "custom/test-model").contains("custom/test-model"))
            #expect(try device.set("retention-days", "6").hasPrefix("65 "))
            #expect(try device.set("volume", "11").hasPrefix("64 "))

            let off = try device.set("server", "off")
            #expect(off.contains("digest             none: the server's AI is off"))
            #expect(off.contains("coaching           the rules, at this device"))
            #expect(try device.run(["digest"]).code == 77)
            #expect(try device.set("server", "on").contains("digest             your own provider"))

            #expect(try device.set("on-device", "off").contains("on-device        off"))
            for command in [["coach", nag, "--local"], ["excuse", nag, "I forgot", "--offline"]] {
                #expect(try device.run(command).code == 77, "\(command)")
            }
            // The server answers, by the model that the mode has it ask.
            #expect(try device.ask(["coach", nag]) == "server byo")
        }
    }

    @Test("after a consent was revoked the next sync says so, and the device stops answering")
    func withdrawn() async throws {
        try await Self.withDevice { device, scene, nag in
            #expect(try device.ask(["coach", nag]) == "device heuristic")
            try await scene.ai.revokeConsent()
            let sync = try device.run(["sync"])
            #expect(sync.code == 0 && sync.output.contains("the consent ai_mediation was withdrawn"))
            #expect(try device.run(["coach", nag]).code == 77)
            let history = try device.run(["history", "--local", "--json"])
            #expect(history.output.contains("ai_mediation was withdrawn"))
        }
    }

    @Test("a device's own constraint is added, obeyed, listed and deleted, and the server does not know of it")
    func ownConstraint() async throws {
        try await Self.withDevice { device, scene, nag in
            let block = ["--if", "content contains passport", "--then", "block It names a document."]
            let made = try device.run(["constraint", "add", "No documents"] + block)
            #expect(
                made.code == 0 && made.output.contains("this device") && made.output.contains("No documents"), "\(made)"
            )
            let refused = try device.run(["excuse", nag, "I lost my passport"])
            #expect(refused.code == 77 && refused.complaint.contains("It names a document."), "\(refused)")
            #expect(try await scene.ai.server.rows("SELECT FROM ai_constraints").isEmpty)
            let listed = try JSONValue(parsing: try device.run(["constraint", "--json"]).output)
            let id = try #require(listed.arrayValue?.first?["id"]?.stringValue)
            #expect(listed.arrayValue?.first?["is_of_device"] == true)
            for (words, complaint) in [
                (["add", "x"] + ["--if", "colour is red", "--then", "warn Mind"], "field"),
                (["add", "x"] + ["--if", "content contains", "--then", "warn Mind"], "an operator and a value"),
                (["add", "x", "--then", "shout"], "not a known action"), (["add", "x"], "nagz device constraint"),
            ] {
                let wrong = try device.run(["constraint"] + words)
                #expect(wrong.code == 64 && wrong.complaint.contains(complaint), "\(words) \(wrong)")
            }
            #expect(try device.run(["constraint", "delete", "ffffffff"]).code == 66)
            #expect(try device.run(["constraint", "delete", String(id.suffix(8))]).output.contains("no constraints"))
            #expect(try device.run(["excuse", nag, "I lost my passport", "--offline"]).code == 0)
        }
    }

    @Test("a device learns of a revoked consent from any command that reaches the server")
    func heard() async throws {
        try await Self.withDevice { device, scene, nag in
            try await scene.ai.revokeConsent()
            let note = try device.run(["note", nag, "soon"])
            #expect(note.code == 0 && note.complaint.contains("the consent ai_mediation was withdrawn"), "\(note)")
            #expect(try device.run(["coach", nag, "--local"]).code == 77)
        }
    }

    /// What an operating system's model would be, on a system that has none.
    private final class SystemModel: ModelProvider {
        let name = ProviderName.foundationModels
        let reach = Reach.device
        let capabilities = ProviderCapabilities.appleIntelligence

        func generate(_ request: ModelRequest) async throws(ModelFault) -> ModelResult {
            let tip = request.userPrompt.split(separator: "\n").first { $0.hasPrefix("Tip: ") }?.dropFirst(5) ?? ""
            return ModelResult(
                text: tip + ModelScene.ending, provider: name, model: "system", latency: .milliseconds(1),
                tokenCount: nil)
        }

        func availability() async -> Availability { .available }
    }

    @Test(
        "in on_device_only a device with a system model answers from synced facts, and one without refuses")
    func systemModel() async throws {
        try await TestServer.run { server in
            try await withTemporaryFolder { folder in
                let scene = try await AIScene(server)
                try await scene.prefer(#"{"ai_mode": "on_device_only"}"#, scene.home.child)
                let device = try TestDevice(server, scene.home.child, in: folder)
                try await device.sync()
                let clock = server.clock
                func local(_ models: DeviceModels) throws -> LocalAIService {
                    let phrasebook = try Phrasebook.english()
                    return LocalAIService(
                        facts: CacheFacts(device.cache, family: device.family, now: { clock.now() }),
                        heuristics: Heuristics(phrasebook: phrasebook),
                        models: models.makeLocalModels(prompts: try .english(), phrasebook: phrasebook),
                        log: ExecutionLog(
                            user: device.person.id, newID: { (1, UInt64.random(in: 1...UInt64.max)) },
                            stopwatch: { 0 }, store: { try? device.cache.store($0) }))
                }
                let tip = try await local(DeviceModels(system: SystemModel(), gateway: nil)).coaching(nagID: scene.nag)
                #expect(tip.tip.hasSuffix(ModelScene.ending))
                let record = try #require(
                    try device.cache.deviceExecutions(of: device.family, limit: 1, at: clock.now()).first)
                #expect(record.execution.provider == "foundation_models" && record.execution.model == "system")
                await #expect(throws: QuestionRefusal.noRoute(.unavailableInMode)) {
                    try await local(DeviceModels(gateway: nil)).coaching(nagID: scene.nag)
                }
            }
        }
    }
}
