import Contract
import Device
import Domain
import LocalAI
import LoopbackClient
import NagzAI
import TestHTTPServer
import Testing

/// A model that answers as the test says, and remembers what it was asked.
private final class ScriptedModel: ModelProvider {
    let name: ProviderName
    let reach: Reach
    let capabilities: ProviderCapabilities
    private let answer: (ModelRequest) throws(ModelFault) -> String
    var availability = Availability.available
    private(set) var requests: [ModelRequest] = []

    init(
        _ capabilities: ProviderCapabilities = .localStandard, name: ProviderName = .localGateway,
        reach: Reach = .device,
        _ answer: @escaping (ModelRequest) throws(ModelFault) -> String
    ) {
        (self.capabilities, self.name, self.reach, self.answer) = (capabilities, name, reach, answer)
    }

    func generate(_ request: ModelRequest) async throws(ModelFault) -> ModelResult {
        requests.append(request)
        return ModelResult(
            text: try answer(request), provider: name, model: "small", latency: .milliseconds(3), tokenCount: 42)
    }

    func availability() async -> Availability { availability }
}

@Suite("A model on the device", .timeLimit(.minutes(5)))
struct LocalModelTests {
    /// The rules' text with thanks, or what the child says: what the check of a model's text lets through.
    private static func kind(_ request: ModelRequest) -> String {
        for line in request.userPrompt.split(separator: "\n") {
            let parts = line.split(separator: ": ", maxSplits: 1)
            if parts.count == 2, ["Reason", "Tip", "Text"].contains(parts[0]) { return parts[1] + ending }
            if parts.count == 2, parts[0] == "The child's words" {
                return "The child says \(parts[1].dropFirst().dropLast())."
            }
        }
        return "Start with one small step."
    }

    private static let ending = " Thank you."
    private static let nag = NagID(high: 1, low: 1)

    private func synced(
        _ folder: String, _ mode: AIMode = .auto, level: PrivacyLevel = .auto, model: (any ModelProvider)?,
        system: (any ModelProvider)? = nil, chosen: String? = nil
    ) throws -> Bench {
        let bench = try Bench(folder)
        (bench.model, bench.system) = (model, system)
        var facts = facts()
        facts.choices = AIChoices(mode: mode, privacyLevel: level, tokenThreshold: 4_096, localModel: chosen)
        try bench.sync(facts)
        return bench
    }

    @Test(
        "in auto and local_only the device's model writes each text once, and the answer says so",
        arguments: [
            AIMode.auto, .localOnly,
        ])
    func writes(mode: AIMode) async throws {
        try await withFolder { folder in
            let model = ScriptedModel { request throws(ModelFault) in Self.kind(request) }
            let bench = try synced(folder, mode, level: .auto, model: model)
            let tip = try await bench.local.coaching(nagID: Self.nag)
            #expect(tip.tip.hasSuffix(Self.ending) && tip.scenario == "streak_3", "the rest is the rules'")
            #expect(try await bench.local.selectTone(nagID: Self.nag).reason.hasSuffix(Self.ending))
            let summary = try await bench.local.summarizeExcuse("the bus was late", nagID: Self.nag).summary
            #expect(summary == "The child says the bus was late.")
            #expect(try await bench.local.digest(familyID: homeFamily).summaryText.hasSuffix(Self.ending))
            #expect(model.requests.map(\.task) == [.coaching, .selectTone, .summarizeExcuse, .digest])
            #expect(
                model.requests[2].userPrompt.contains("the bus was late")
                    && !model.requests[0].userPrompt.contains("Me"))
            for record in bench.executions {
                let report = record.execution
                #expect(report.provider == "local_model" && report.model == "small" && report.route == .local)
                #expect(
                    report.rule == .privacyLocal && report.taskType == .localModel
                        && report.confidence == (record.operation == .operation(.summarizeExcuse) ? 0.9 : 0.8))
                #expect(
                    !report.usedFallback && report.fallbackReason == "none"
                        && report.questionTokenCount == (record.operation == .operation(.summarizeExcuse) ? 4 : 0))
                #expect(report.asked == AskedModel(.localGateway, "small", .device, tokenCount: 42))
                #expect(report.stages.map(\.stage) == [.created, .routed, .executed, .completed])
                #expect(record.errorCode == nil && record.userID == me && record.questionID != nil)
            }
            let traces = model.requests.map(\.traceparent)
            #expect(Set(traces).count == 4 && traces.allSatisfy { $0?.utf8.count == 55 })
            #expect(bench.far.asked.isEmpty)
        }
    }

    @Test("patterns and predictions are computed by the rules, and no model is asked")
    func figures() async throws {
        try await withFolder { folder in
            let model = ScriptedModel { request throws(ModelFault) in Self.kind(request) }
            let bench = try synced(folder, model: model)
            _ = try await bench.local.patterns(userID: me, familyID: homeFamily)
            _ = try await bench.local.predictCompletion(nagID: Self.nag)
            #expect(model.requests.isEmpty)
            for record in bench.executions {
                #expect(record.execution.provider == "heuristic" && !record.execution.usedFallback)
            }
            #expect(bench.executions.count == 2)
        }
    }

    @Test("in the mode heuristic no model is asked")
    func rulesAlone() async throws {
        try await withFolder { folder in
            let model = ScriptedModel { request throws(ModelFault) in Self.kind(request) }
            let bench = try synced(folder, .heuristic, model: model, system: model)
            #expect(try await bench.local.coaching(nagID: Self.nag).tip.hasSuffix(Self.ending) == false)
            #expect(model.requests.isEmpty && bench.executions.map(\.execution.provider) == ["heuristic"])
        }
    }

    @Test("on_device_only without an available system model fails with E-LOCAL-001, and the rules do not answer")
    func onDeviceOnlyWithout() async throws {
        try await withFolder { folder in
            let gateway = ScriptedModel { request throws(ModelFault) in Self.kind(request) }
            let system = ScriptedModel(.appleIntelligence, name: .foundationModels) { request throws(ModelFault) in
                Self.kind(request)
            }
            system.availability = .unavailable(.notConfigured)
            let bench = try synced(folder, .onDeviceOnly, model: gateway)
            for system in [nil, system] {
                bench.system = system
                for operation in AIOperationID.allCases {
                    await #expect(throws: QuestionRefusal.noRoute(.unavailableInMode), "\(operation)") {
                        try await bench.ask(operation)
                    }
                }
            }
            #expect(gateway.requests.isEmpty && system.requests.isEmpty && bench.far.asked.isEmpty)
            #expect(Set(bench.executions.map(\.errorCode)) == ["E-LOCAL-001"])
        }
    }

    @Test("a system model that becomes unavailable after routing fails with E-LOCAL-001")
    func goesAway() async throws {
        try await withFolder { folder in
            let system = ScriptedModel(.appleIntelligence, name: .foundationModels) { request throws(ModelFault) in
                throw .unavailable(.notConfigured)
            }
            let bench = try synced(folder, .onDeviceOnly, model: nil, system: system)
            await #expect(throws: LocalRefusal.modelUnavailable) { try await bench.ask(.coaching) }
            #expect(system.requests.count == 1 && bench.executions.map(\.errorCode) == ["E-LOCAL-001"])
        }
    }

    @Test("the system model writes in on_device_only, and first in auto, but computes no figures")
    func system() async throws {
        for mode in [AIMode.onDeviceOnly, .auto] {
            try await withFolder { folder in
                let gateway = ScriptedModel { _ throws(ModelFault) in "Begin now." }
                let system = ScriptedModel(.appleIntelligence, name: .foundationModels) { request throws(ModelFault) in
                    Self.kind(request)
                }
                let bench = try synced(folder, mode, model: gateway, system: system)
                #expect(try await bench.local.coaching(nagID: Self.nag).tip.hasSuffix(Self.ending))
                let report = try #require(bench.executions.last?.execution)
                #expect(
                    report.provider == "foundation_models" && report.taskType == .localModel && !report.usedFallback)
                if mode == .onDeviceOnly {
                    #expect(try await bench.ask(.digest).place == .device)
                    for operation in [AIOperationID.patterns, .predictCompletion] {
                        await #expect(throws: QuestionRefusal.noRoute(.nothingToWrite)) {
                            try await bench.ask(operation)
                        }
                    }
                    #expect(bench.executions.last?.errorCode == "E-TASK-002")
                }
                #expect(gateway.requests.isEmpty && bench.far.asked.isEmpty)
            }
        }
    }

    @Test("ai_model_local chooses between the device's models, and a missing one is reported")
    func chosen() async throws {
        try await withFolder { folder in
            let gateway = ScriptedModel { request throws(ModelFault) in Self.kind(request) }
            let system = ScriptedModel(.appleIntelligence, name: .foundationModels) { request throws(ModelFault) in
                Self.kind(request)
            }
            let bench = try synced(folder, model: gateway, system: system, chosen: "local_model")
            _ = try await bench.local.coaching(nagID: Self.nag)
            #expect(gateway.requests.count == 1 && system.requests.isEmpty && bench.shown.isEmpty)
            bench.model = nil
            _ = try await bench.local.coaching(nagID: Self.nag)
            #expect(system.requests.isEmpty, "another model is never asked in its place")
            let report = try #require(bench.executions.last?.execution)
            #expect(report.provider == "heuristic" && report.warnings.count == 1)
            #expect(report.warnings[0].contains("ai_model_local") && bench.shown == ["warning: \(report.warnings[0])"])
        }
    }

    @Test("local_only answers the digest as long as the device's facts suffice")
    func localDigest() async throws {
        try await withFolder { folder in
            let bench = try synced(folder, .localOnly, model: nil)
            #expect(try await bench.ask(.digest).place == .device)
            #expect(bench.far.asked.isEmpty && bench.executions.map(\.errorCode) == [nil])
            bench.now = bench.now + .days(2)
            await #expect(throws: QuestionRefusal.noRoute(.unavailableInMode)) { try await bench.ask(.digest) }
        }
    }

    @Test(
        "after a fault or a text that may not be shown the rules answer and give the reason",
        arguments: [
            (.failure(.unreachable), "unavailable"), (.failure(.unavailable(.unknownModel)), "unavailable"),
            (.failure(.timedOut), "latency_budget"), (.failure(.failed(status: 500)), "error"),
            (.failure(.limited(seconds: 1)), "error"), (.failure(.unreadable), "error"), (.failure(.tooLong), "error"),
            (.success("You are lazy."), "output_rejected:disrespect"),
            (.success("Do 25 things."), "output_rejected:number"),
            (.success(String(repeating: "a", count: 281)), "output_rejected:length"),
        ] as [(Result<String, ModelFault>, String)])
    func falls(answer: Result<String, ModelFault>, reason: String) async throws {
        try await withFolder { folder in
            let model = ScriptedModel { _ throws(ModelFault) in try answer.get() }
            let bench = try synced(folder, model: model)
            let rules = try await withFolder { other in
                try await synced(other, model: nil).local.coaching(nagID: Self.nag)
            }
            #expect(try await bench.local.coaching(nagID: Self.nag) == rules)
            #expect(try await bench.ask(.coaching).place == .device)
            #expect(model.requests.count == 2, "once a question")
            for report in bench.executions.map(\.execution) {
                #expect(report.provider == "heuristic" && report.model == nil && report.usedFallback)
                #expect(report.fallbackReason == reason && report.confidence == 0.5 && report.taskType == .localModel)
                #expect(report.isModelReplaced == (answer != .failure(.unavailable(.unknownModel))))
            }
        }
    }

    @Test("a small model is asked only for what it can do, and not for a question routed elsewhere")
    func capability() async throws {
        try await withFolder { folder in
            let lite = ScriptedModel(.localLite) { request throws(ModelFault) in Self.kind(request) }
            let bench = try synced(folder, model: lite)
            _ = try await bench.local.coaching(nagID: Self.nag)
            _ = try await bench.local.summarizeExcuse("the bus was late", nagID: Self.nag)
            #expect(lite.requests.map(\.task) == [.summarizeExcuse])
            #expect(bench.executions.map(\.execution.provider) == ["heuristic", "local_model"])
            // The small model does not word tips, and the answer says so; it was not asked.
            #expect(bench.executions.map(\.execution.fallbackReason) == ["task_not_covered", "none"])
            #expect(bench.executions[0].execution.asked == nil && !bench.executions[0].execution.isModelReplaced)
            _ = try await bench.ask(.digest)
            #expect(lite.requests.count == 1 && bench.far.asked == [.digest])
            // In place of the server the rules answer.
            bench.far.isDown = true
            _ = try await bench.ask(.digest)
            let report = try #require(bench.executions.last?.execution)
            #expect(lite.requests.count == 1 && report.usedFallback && report.fallbackReason == "unavailable")
            #expect(!report.isModelReplaced && report.route == .cloud, "the server was to answer, and no model")
        }
    }

    @Test("a text is not given out if the consent is revoked while the model writes")
    func withdrawn() async throws {
        try await withFolder { folder in
            let other = try Bench(folder)
            let model = ScriptedModel { request throws(ModelFault) in
                _ = try? other.cache.apply(
                    page(cursor: "b", facts: facts(allowsMediation: false)), of: homeFamily,
                    requestedFrom: .cursor("a"),
                    at: other.now)
                return Self.kind(request)
            }
            let bench = try synced(folder, model: model)
            await #expect(throws: LocalRefusal.consentMissing) { try await bench.local.coaching(nagID: Self.nag) }
            #expect(model.requests.count == 1 && bench.executions.map(\.errorCode) == ["AUTHZ_DENIED"])
        }
    }

    // MARK: The gateway

    private func ask(_ word: String, model: String = "test-model") async throws -> (
        text: String, report: ExecutionReport
    ) {
        try await withFolder { folder in
            try await TestHTTPServer.with { server in
                let url = try #require(LoopbackURL(server.url() + "/model/\(word)"))
                let bench = try synced(folder, model: try LocalGateway(url, model: model))
                let tip = try await bench.local.coaching(nagID: Self.nag).tip
                return (tip, try #require(bench.executions.last?.execution))
            }
        }
    }

    @Test("a gateway on this machine is asked over a real connection")
    func gateway() async throws {
        let answer = try await ask("good")
        #expect(answer.text.hasSuffix(Self.ending) && answer.report.provider == "local_model")
        #expect(answer.report.model == "test-model" && answer.report.asked?.tokenCount == 42)
    }

    @Test(
        "when a gateway on this machine fails, the rules answer",
        arguments: [
            ("500", "test-model", "error"), ("cut", "test-model", "error"), ("garbage", "test-model", "error"),
            ("good", "another-model", "unavailable"), ("list-500", "test-model", "unavailable"),
            ("redirect", "test-model", "error"), ("401", "test-model", "error"),
        ])
    func gatewayFaults(word: String, model: String, reason: String) async throws {
        let answer = try await ask(word, model: model)
        #expect(!answer.text.hasSuffix(Self.ending) && answer.report.provider == "heuristic")
        #expect(answer.report.usedFallback && answer.report.fallbackReason == reason)
    }

    @Test("a cancelled question to a gateway ends at once")
    func gatewayCancelled() async throws {
        try await TestHTTPServer.with { server in
            let url = try #require(LoopbackURL(server.url() + "/model/hold-cancelled"))
            let gateway = try LocalGateway(url, model: "test-model")
            let task = Task {
                try await gateway.generate(ModelRequest(task: .coaching, systemPrompt: "s", userPrompt: "u"))
            }
            let transport = try HTTPTransport(try #require(ServerAddress(server.url())))
            _ = try await transport.send(
                TransportRequest(method: .get, target: "/model/arrived-cancelled/", token: nil, body: []))
            task.cancel()
            await #expect(throws: ModelFault.cancelled) { try await task.value }
        }
    }
}
