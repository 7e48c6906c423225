import Contract
import Device
import Domain
import LocalAI
import NagzAI
import Testing

@Suite("A device and its network")
struct DeviceNetworkTests {
    private static let nag = NagID(high: 1, low: 1)

    private func synced(_ folder: String, _ mode: AIMode = .heuristic, cloudModel: String? = nil) throws -> Bench {
        let bench = try Bench(folder)
        var facts = facts()
        facts.choices = AIChoices(mode: mode, privacyLevel: .auto, tokenThreshold: 4_096, cloudModel: cloudModel)
        try bench.sync(facts)
        return bench
    }

    private func provider(
        _ name: String, _ reach: Reach, _ model: String?, reason: String? = nil, isActive: Bool = true
    ) -> ModelProviderItem {
        ModelProviderItem(
            name: name, reach: reach, worksOffline: false, model: model, contextTokens: 4_096,
            tasks: TaskKind.requestedKinds, reason: reason, isActive: isActive)
    }

    // MARK: Network

    @Test("a server that was not reached is not tried for ten seconds, and the device answers and says so")
    func standsIn() async throws {
        try await withFolder { folder in
            let bench = try synced(folder)
            bench.far.isDown = true
            #expect(try await bench.ask(.digest).reason == .serverUnreachable)
            #expect(try bench.far.attempts == 1 && bench.local.network == .offline)
            let record = try await bench.ask(.digest)
            #expect(record.place == .device && record.reason == .serverUnreachable && bench.far.attempts == 1)
            let report = try #require(bench.executions.last?.execution)
            #expect(report.rule == .autoLocal && report.usedFallback && report.fallbackReason == "unavailable")
            bench.far.isDown = false
            bench.now = bench.now + .seconds(10)
            #expect(try await bench.ask(.digest).place == .server)
            #expect(try bench.local.network == .online && bench.far.attempts == 2)
        }
    }

    @Test("a cancelled question neither counts as an answer of the server nor as a fault")
    func cancelled() async throws {
        try await withFolder { folder in
            let bench = try synced(folder)
            bench.far.isDown = true
            _ = try await bench.ask(.digest)
            let faults = try bench.cache.networkWatch().faults
            (bench.far.isDown, bench.far.isCancelled, bench.now) = (false, true, bench.now + .seconds(10))
            await #expect(throws: CancellationError.self) { try await bench.ask(.digest) }
            #expect(try faults.count == 1 && bench.cache.networkWatch().faults == faults)
            let source = ScriptedSource { _, _ in throw ClientError.transport(.cancelled) }
            let now = bench.now
            let sync = SyncService(cache: bench.cache, outbox: nil, source: source, now: { now })
            await #expect(throws: ClientError.transport(.cancelled)) { try await sync.run(homeFamily) }
            #expect(try bench.cache.networkWatch().faults == faults)
        }
    }

    @Test("an operation for the server alone fails offline with E-NET-001 and its rule, without another attempt")
    func unreachable() async throws {
        try await withFolder { folder in
            let bench = try synced(folder)
            bench.far.isDown = true
            for attempt in 1...2 {
                await #expect(throws: QuestionRefusal.noRoute(.networkUnavailable)) { try await bench.ask(.pushBack) }
                let record = try #require(bench.executions.last)
                #expect(record.errorCode == "E-NET-001" && record.execution.rule == .networkUnavailable)
                #expect(bench.far.attempts == 1 && bench.executions.count == attempt)
            }
            // A nag that this device does not know is the server's too.
            await #expect(throws: QuestionRefusal.noRoute(.networkUnavailable)) {
                try await bench.ask(.coaching, nag: 77)
            }
            #expect(bench.far.attempts == 1 && bench.executions.last?.errorCode == "E-NET-001")
        }
    }

    // MARK: Providers

    @Test("in auto the server's gateway and the own key are asked, with the task, the rule and the trace")
    func providers() async throws {
        try await withFolder { folder in
            let bench = try synced(folder, .auto)
            _ = try await bench.ask(.digest)
            #expect(bench.far.options.last?.taskType == .heuristic, "nothing is known of the server's models yet")
            let gateway = provider("server_gateway", .server, "big")
            let own = provider("openai", .thirdParty, "gpt")
            for (items, task) in [([gateway], TaskType.localModel), ([gateway, own], .cloudModel)] {
                try bench.cache.store(ModelProviderList(items: items), of: homeFamily)
                _ = try await bench.ask(.digest)
                let options = try #require(bench.far.options.last)
                #expect(options.taskType == task && options.rule == .autoCloud)
                #expect(options.traceID != nil && options.questionID != nil && options.privacyLevel == nil)
            }
            // Figures are no model's.
            try bench.cache.store(ModelProviderList(items: [gateway]), of: homeFamily)
            bench.now = bench.now + .days(2)
            _ = try await bench.ask(.patterns)
            #expect(bench.far.options.last?.taskType == .heuristic)
        }
    }

    @Test("byo_only asks the own provider through the server, and without a key fails with E-CLOUD-001")
    func ownProvider() async throws {
        try await withFolder { folder in
            let bench = try synced(folder, .byoOnly)
            let none = provider("openai", .thirdParty, nil, reason: "not_configured", isActive: false)
            let two = [
                provider("openai", .thirdParty, "gpt", isActive: false),
                provider("anthropic", .thirdParty, "claude", isActive: false),
            ]
            for items in [[none], two] {
                try bench.cache.store(ModelProviderList(items: items), of: homeFamily)
                await #expect(throws: QuestionRefusal.noRoute(.ownProviderMissing)) { try await bench.ask(.coaching) }
            }
            let off = provider("openai", .thirdParty, "gpt", reason: "third_party_models_off", isActive: false)
            try bench.cache.store(ModelProviderList(items: [off]), of: homeFamily)
            await #expect(throws: QuestionRefusal.noRoute(.thirdPartyForbidden)) { try await bench.ask(.coaching) }
            try bench.cache.store(ModelProviderList(items: [provider("openai", .thirdParty, "gpt")]), of: homeFamily)
            let record = try await bench.ask(.coaching)
            #expect(record.place == .server && record.reason == .cloud)
            #expect(bench.far.options.map(\.taskType) == [.cloudModel] && bench.far.asked == [.coaching])
            for operation in [AIOperationID.patterns, .predictCompletion] {
                await #expect(throws: QuestionRefusal.noRoute(.nothingToWrite)) { try await bench.ask(operation) }
            }
            bench.far.isDown = true
            await #expect(throws: QuestionRefusal.noRoute(.networkUnavailable)) { try await bench.ask(.coaching) }
        }
    }

    @Test("a provider that the person names is asked, and no other in its place")
    func wanted() async throws {
        try await withFolder { folder in
            let bench = try synced(folder, .auto)
            let wanted = RequestedProvider(taskType: .cloudModel, model: "openai")
            #expect(try await bench.ask(.coaching, requested: wanted).place == .server)
            #expect(bench.far.options.last?.taskType == .cloudModel && bench.far.options.last?.model == "openai")
            bench.far.isDown = true
            await #expect(throws: QuestionRefusal.noRoute(.networkUnavailable)) {
                try await bench.ask(.coaching, requested: wanted)
            }
        }
    }

    @Test("a preview names the route and provider of an answer without asking anybody")
    func preview() async throws {
        try await withFolder { folder in
            let bench = try synced(folder, .auto)
            try bench.cache.store(
                ModelProviderList(items: [provider("server_gateway", .server, "big")]), of: homeFamily)
            let local = bench.local
            #expect(try await local.preview(.coaching).get().route == .local)
            let digest = try await local.preview(.digest).get()
            #expect(digest.route == .cloud && digest.provider == .serverGateway && digest.model == "big")
            #expect(bench.executions.isEmpty && bench.far.attempts == 0 && bench.shown.isEmpty)
        }
    }

    @Test("the person's token limit decides where the coach's question is answered; an excuse's words stay local")
    func threshold() async throws {
        try await withFolder { folder in
            let bench = try Bench(folder)
            var facts = facts()
            facts.choices = AIChoices(mode: .heuristic, privacyLevel: .auto, tokenThreshold: 256)
            try bench.sync(facts)
            for (bytes, place, reason) in [(1_024, .device, .fresh), (1_025, .server, .tooLong)]
                as [(Int, AnswerPlace, AnswerReason)]
            {
                let question = "What is due?" + String(repeating: "?", count: bytes - 12)
                _ = try await bench.service().askCoach(question, of: me, familyID: homeFamily)
                #expect(bench.records.last?.place == place && bench.records.last?.reason == reason, "\(bytes)")
            }
            #expect(bench.far.options.map(\.rule) == [.autoCloud])
            let excuse = String(repeating: "late ", count: 400)
            _ = try await bench.service().summarizeExcuse(excuse, nagID: Self.nag)
            #expect(bench.records.last?.place == .device && bench.far.attempts == 1)
        }
    }

    // MARK: Consent

    @Test("the sync after a revoked consent ends answers, and marks those since the sync before")
    func withdrawn() async throws {
        try await withFolder { folder in
            let bench = try synced(folder)
            bench.keepsHistory = true
            _ = try await bench.ask(.coaching)
            bench.now = bench.now + .minutes(1)
            let again = page(cursor: "b", facts: facts())
            _ = try bench.cache.apply(again, of: homeFamily, requestedFrom: .cursor("a"), at: bench.now)
            bench.now = bench.now + .minutes(1)
            _ = try await bench.ask(.coaching)
            let last = page(cursor: "c", facts: facts(allowsMediation: false))
            _ = try bench.cache.apply(last, of: homeFamily, requestedFrom: .cursor("b"), at: bench.now)
            await #expect(throws: LocalRefusal.consentMissing) { try await bench.ask(.coaching) }
            let answers = try bench.cache.deviceExecutions(of: homeFamily, limit: 10, at: bench.now)
                .filter { $0.errorCode == nil }
            #expect(answers.map { $0.execution.warnings.count } == [1, 0], "newest first")
            #expect(answers[0].execution.warnings[0].contains("ai_mediation"))
        }
    }

    @Test("a device learns of a revoked consent from any refusal of the server")
    func refused() async throws {
        try await withFolder { folder in
            let bench = try synced(folder)
            bench.keepsHistory = true
            bench.now = bench.now + .minutes(1)
            _ = try await bench.ask(.coaching)
            bench.far.refuses = true
            await #expect(throws: FarAway.Refused.self) { try await bench.ask(.digest) }
            await #expect(throws: LocalRefusal.consentMissing) { try await bench.ask(.coaching) }
            let answers = try bench.cache.deviceExecutions(of: homeFamily, limit: 10, at: bench.now)
                .filter { $0.errorCode == nil }
            #expect(answers.map { $0.execution.warnings.count } == [1])
            #expect(try bench.cache.recordConsentWithdrawal(of: homeFamily) == nil, "known already")
        }
    }
}
