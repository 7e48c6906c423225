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
    let name = ProviderName.localModel
    let reach: Reach
    let capabilities: ProviderCapabilities
    private let answer: () throws(ModelFault) -> String
    private(set) var requests: [ModelRequest] = []

    init(
        _ capabilities: ProviderCapabilities = .localStandard, reach: Reach = .device,
        _ answer: @escaping () throws(ModelFault) -> String
    ) {
        (self.capabilities, self.reach, self.answer) = (capabilities, reach, answer)
    }

    func generate(_ request: ModelRequest) async throws(ModelFault) -> ModelResult {
        requests.append(request)
        return ModelResult(
            text: try answer(), provider: name, model: "small", latency: .milliseconds(3), tokenCount: 42)
    }

    func isAvailable() async -> Availability { .available }
}

@Suite("A model on the device", .timeLimit(.minutes(5)))
struct LocalModelTests {
    private static let kind = "Start with one small step."
    private static let nag = NagID(high: 1, low: 1)

    private func synced(
        _ folder: String, _ mode: AIMode = .auto, level: PrivacyLevel = .auto, model: (any ModelProvider)?
    ) throws -> Bench {
        let bench = try Bench(folder)
        bench.model = try model.map { ModelWriter($0, prompts: try .english(), phrasebook: try .english()) }
        var facts = facts()
        facts.choices = AIChoices(mode: mode, privacyLevel: level, tokenThreshold: 4_096)
        try bench.sync(facts)
        return bench
    }

    @Test(
        "in the modes auto and local_only it writes the texts, once each, and the answer says so",
        arguments: [
            AIMode.auto, .localOnly,
        ])
    func writes(mode: AIMode) async throws {
        try await withFolder { folder in
            let model = ScriptedModel { () throws(ModelFault) in Self.kind }
            let bench = try synced(folder, mode, level: .auto, model: model)
            let tip = try await bench.local.coaching(nagID: Self.nag)
            #expect(tip.tip == Self.kind && tip.scenario == "streak_3", "the rest is the rules'")
            #expect(try await bench.local.selectTone(nagID: Self.nag).reason == Self.kind)
            #expect(try await bench.local.summarizeExcuse("the bus was late", nagID: Self.nag).summary == Self.kind)
            #expect(try await bench.local.digest(familyID: homeFamily).summaryText == Self.kind)
            #expect(model.requests.map(\.task) == [.coaching, .selectTone, .summarizeExcuse, .digest])
            #expect(model.requests[2].user.contains("the bus was late") && !model.requests[0].user.contains("Me"))
            for record in bench.executions {
                let report = record.execution
                #expect(report.provider == "local_model" && report.model == "small" && report.route == "local")
                #expect(
                    report.rule == .privacyLocal && report.taskType == .localModel
                        && report.confidence == (record.operation == .operation(.summarizeExcuse) ? 0.9 : 0.8))
                #expect(!report.usedFallback && report.fallbackReason == "none" && report.tokenCount == 42)
                #expect(record.errorCode == nil && record.userID == me && record.questionID != nil)
            }
            let traces = model.requests.map(\.traceparent)
            #expect(Set(traces).count == 4 && traces.allSatisfy { $0?.utf8.count == 55 })
            #expect(bench.far.asked.isEmpty)
        }
    }

    @Test("figures are the rules' own: no model is asked for patterns and predictions")
    func figures() async throws {
        try await withFolder { folder in
            let model = ScriptedModel { () throws(ModelFault) in Self.kind }
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

    @Test("in every other mode no model is asked", arguments: [AIMode.heuristic, .onDeviceOnly])
    func otherModes(mode: AIMode) async throws {
        try await withFolder { folder in
            let model = ScriptedModel { () throws(ModelFault) in Self.kind }
            let bench = try synced(folder, mode, model: model)
            #expect(try await bench.local.coaching(nagID: Self.nag).tip != Self.kind)
            #expect(model.requests.isEmpty && bench.executions.map(\.execution.provider) == ["heuristic"])
        }
    }

    @Test(
        "a fault or a text that may not be shown: the rules answer, and the answer says why",
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
            let model = ScriptedModel { () throws(ModelFault) in try answer.get() }
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
            }
        }
    }

    @Test("a small model is asked only for what it can; a question that is not routed here never reaches it")
    func capability() async throws {
        try await withFolder { folder in
            let lite = ScriptedModel(.localLite) { () throws(ModelFault) in Self.kind }
            let bench = try synced(folder, model: lite)
            _ = try await bench.local.coaching(nagID: Self.nag)
            _ = try await bench.local.summarizeExcuse("the bus was late", nagID: Self.nag)
            #expect(lite.requests.map(\.task) == [.summarizeExcuse])
            #expect(bench.executions.map(\.execution.provider) == ["heuristic", "local_model"])
            _ = try await bench.ask(.digest)
            #expect(lite.requests.count == 1 && bench.far.asked == [.digest])
            // In place of the server the rules answer.
            bench.far.isDown = true
            _ = try await bench.ask(.digest)
            let report = try #require(bench.executions.last?.execution)
            #expect(lite.requests.count == 1 && report.usedFallback && report.fallbackReason == "unavailable")
        }
    }

    @Test("a consent that is withdrawn while the model writes: the text is not given out")
    func withdrawn() async throws {
        try await withFolder { folder in
            let other = try Bench(folder)
            let model = ScriptedModel { () throws(ModelFault) in
                _ = try? other.cache.apply(
                    page(cursor: "b", facts: facts(allowsMediation: false)), of: homeFamily, askedFrom: .cursor("a"),
                    at: other.now)
                return Self.kind
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
        #expect(answer.text == Self.kind && answer.report.provider == "local_model")
        #expect(answer.report.model == "test-model" && answer.report.tokenCount == 42)
    }

    @Test(
        "a gateway that fails: the rules answer",
        arguments: [
            ("500", "test-model", "error"), ("cut", "test-model", "error"), ("garbage", "test-model", "error"),
            ("good", "another-model", "unavailable"), ("list-500", "test-model", "unavailable"),
            ("redirect", "test-model", "error"), ("401", "test-model", "error"),
        ])
    func gatewayFaults(word: String, model: String, reason: String) async throws {
        let answer = try await ask(word, model: model)
        #expect(answer.text != Self.kind && answer.report.provider == "heuristic")
        #expect(answer.report.usedFallback && answer.report.fallbackReason == reason)
    }
}
