import Domain
import NagzAI
import Testing

@Suite struct RouterTests {
    /// The seven rows of the specification; the sixth and seventh differ in whether the device can answer.
    enum Row: CaseIterable { case block, local, forceLocal, forceCloud, cloud, autoLocal, autoCloud }

    private func route(
        _ row: Row, _ level: PrivacyLevel, _ mode: AIMode, _ network: NetworkState
    ) throws -> Result<RoutingDecision, RoutingFailure> {
        let action: ConstraintAction? =
            switch row {
            case .block: .block(reason: "no")
            case .forceLocal: .forceLocal
            case .forceCloud: .forceCloud
            case .local, .cloud, .autoLocal, .autoCloud: nil
            }
        let question = PolicyTests.question(
            "words", row == .cloud ? .cloud : level, offline: row == .local)
        let policy = PolicyEngine(try action.map { [try PolicyTests.constraint(1, $0)] } ?? []).evaluate(question)
        let state = RuntimeState(
            local: LocalCapability(isAvailable: row != .autoCloud), network: network, mode: mode,
            ownProviderModel: "m", isThirdPartyAllowed: true)
        return Router.route(question, state, policy, at: noon, trace: TraceID(high: 2, low: 3))
    }

    /// What the specification's table says, as the rule of a decision or the code of a failure.
    private func expected(_ row: Row, _ level: PrivacyLevel, _ mode: AIMode, _ network: NetworkState) -> String {
        if mode == .off { return "off" }
        if row == .block { return "E-POLICY-001" }
        if row == .local || (level == .local && row != .cloud) {
            return mode == .byoOnly || mode == .onDeviceOnly ? "E-LOCAL-001" : "PRIVACY_LOCAL"
        }
        if row == .forceLocal {
            return mode == .byoOnly || mode == .onDeviceOnly ? "E-LOCAL-001" : "POLICY_FORCE_LOCAL"
        }
        let rule: String
        switch row {
        case .forceCloud: rule = "POLICY_FORCE_CLOUD"
        case .cloud: rule = "PRIVACY_CLOUD"
        default:
            if level == .cloud {
                rule = "PRIVACY_CLOUD"
            } else if row == .autoLocal && mode != .byoOnly && mode != .onDeviceOnly {
                return "AUTO_LOCAL"
            } else {
                rule = "AUTO_CLOUD"
            }
        }
        if mode == .onDeviceOnly || mode == .localOnly { return "E-LOCAL-001" }
        return network == .online ? rule : "E-NET-001"
    }

    @Test("the server answers a local question without words, unless the mode stays on the device")
    func serversOwnRecords() throws {
        let question = PolicyTests.question("")
        let constraint = try PolicyTests.constraint(1, .forceLocal, [("privacy_level", "equals", "auto")])
        let policy = PolicyEngine([constraint]).evaluate(question)
        for (mode, isAnswered) in [(.heuristic, true), (.auto, true), (.localOnly, false), (.onDeviceOnly, false)]
            as [(AIMode, Bool)]
        {
            let state = RuntimeState(local: LocalCapability(), network: .online, mode: mode, isServer: true)
            let result = Router.route(question, state, policy, at: noon, trace: TraceID(high: 2, low: 3))
            #expect((try? result.get().route) == (isAnswered ? .cloud : nil), "\(mode)")
        }
    }

    @Test("the router decides by question, privacy level, mode and network as its table says", arguments: Row.allCases)
    func table(_ row: Row) throws {
        for level in PrivacyLevel.allCases {
            for mode in AIMode.allCases {
                for network in NetworkState.allCases {
                    let got =
                        switch try route(row, level, mode, network) {
                        case .success(let decision): decision.rule.rawValue
                        case .failure(let failure): failure.code?.rawValue ?? "off"
                        }
                    #expect(got == expected(row, level, mode, network), "\(row) \(level) \(mode) \(network)")
                }
            }
        }
    }

    @Test func onlyAnAutomaticLocalRouteMayFallBack() throws {
        for row in Row.allCases {
            for mode in AIMode.allCases {
                guard case .success(let decision) = try route(row, .auto, mode, .online) else { continue }
                let mayFallBack = decision.rule == .autoLocal && (mode == .auto || mode == .heuristic)
                #expect(decision.isFallbackAllowed == mayFallBack, "\(row) \(mode)")
            }
        }
    }

    @Test func aForcedCloudIsAWarningWhereThePersonSaidLocal() throws {
        let decision = try route(.forceCloud, .local, .auto, .online).get()
        #expect(decision.route == .local && decision.warnings == [Router.ignoredForceCloudWarning])
    }

    @Test func ownProviderAloneNeedsItsKeyAndTheFamilysPolicy() {
        var state = RuntimeState(local: LocalCapability(), network: .offline, mode: .byoOnly)
        func failure() -> RoutingFailure? {
            let question = PolicyTests.question()
            let result = Router.route(
                question, state, PolicyEngine([]).evaluate(question), at: noon, trace: TraceID(high: 0, low: 1))
            if case .failure(let failure) = result { return failure }
            return nil
        }
        #expect(failure() == .ownProviderMissing)
        state.ownProviderModel = "m"
        #expect(failure() == .thirdPartyForbidden)
        state.isThirdPartyAllowed = true
        #expect(failure() == .networkUnavailable)
        state.network = .online
        #expect(failure() == nil)
    }

    @Test("on_device_only is answered by the system's model alone, and figures by no model", arguments: [true, false])
    func systemModel(isOfSystem: Bool) {
        func route(_ operation: AIOperationID) -> Result<RoutingDecision, RoutingFailure> {
            var question = PolicyTests.question()
            question.operation = .operation(operation)
            let local = LocalCapability(model: LocalModel(isOfSystem: isOfSystem, name: "m"))
            let state = RuntimeState(local: local, network: .online, mode: .onDeviceOnly)
            return Router.route(
                question, state, PolicyEngine([]).evaluate(question), at: noon, trace: TraceID(high: 0, low: 1))
        }
        for operation in AIOperationID.allCases {
            switch route(operation) {
            case .success(let decision): #expect(isOfSystem && decision.provider == .foundationModels)
            case .failure(let failure):
                #expect(failure == (isOfSystem ? .nothingToWrite : .unavailableInMode))
                #expect(!isOfSystem || operation.modelTask == nil)
            }
        }
    }

    @Test func thresholdsAreInclusive() throws {
        func rule(_ tokens: Int) throws -> RoutingRule {
            let question = PolicyTests.question(tokens: tokens)
            let state = RuntimeState(
                local: LocalCapability(maxQuestionTokens: 500), network: .online, tokenThreshold: 256)
            return try Router.route(
                question, state, PolicyEngine([]).evaluate(question), at: noon, trace: TraceID(high: 0, low: 1)
            ).get().rule
        }
        #expect(try rule(256) == .autoLocal)
        #expect(try rule(257) == .autoCloud)
    }
}
