import Contract
import Domain
import JSON
import NagzAI
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Permissions of questions to models")
struct ModelRightsTests {
    /// One way of asking. Its expectation is written apart from the server's code.
    private struct Case: CustomStringConvertible {
        var mode = "auto"
        var level = PrivacyLevel.auto
        var action: String?
        var isOwnKey = false
        var hasWords = false
        var isGuardian = true
        var allowsThirdParties = true

        var isAsked: Bool {
            if level == .local || mode == "off" || action == "block" || action == "confirm" { return false }
            if isOwnKey {
                return ["auto", "byo_only"].contains(mode) && isGuardian && allowsThirdParties
                    && action != "force_local"
            }
            return mode == "auto" && !(action == "force_local" && hasWords)
        }

        var constraint: ConstraintAction? {
            switch action {
            case "block": .block(reason: "no")
            case "confirm": .requireConfirmation(prompt: "Really?")
            case "force_local": .forceLocal
            case "force_cloud": .forceCloud
            case "warn": .warn(message: "Mind")
            default: nil
            }
        }

        var description: String {
            "\(mode) \(level) \(action ?? "-") own:\(isOwnKey) words:\(hasWords) guardian:\(isGuardian) third:\(allowsThirdParties)"
        }
    }

    private static let modes = ["heuristic", "auto", "on_device_only", "local_only", "byo_only", "off"]

    @Test("a question goes to a model only where mode, level, constraints, role and policy all allow it")
    func matrix() async throws {
        try await ModelScene.run { scene in
            var (expected, index): ([Int: Case], Int) = ([:], 0)
            for allowsThirdParties in [true, false] {
                try await scene.allowThirdParties(allowsThirdParties)
                for action in [nil, "block", "confirm", "force_local", "force_cloud", "warn"] as [String?] {
                    var constraint: ConstraintID?
                    if let action = Case(action: action).constraint {
                        constraint = try await scene.ai.constrain(action)
                    }
                    for mode in Self.modes {
                        for isGuardian in [true, false] {
                            let person = isGuardian ? scene.ai.home.guardian : scene.ai.home.child
                            try await scene.ai.prefer(#"{"ai_mode": "\#(mode)"}"#, person)
                            for level in PrivacyLevel.allCases {
                                for isOwnKey in [true, false] where isOwnKey || allowsThirdParties {
                                    for hasWords in [true, false] {
                                        let one = Case(
                                            mode: mode, level: level, action: action, isOwnKey: isOwnKey,
                                            hasWords: hasWords, isGuardian: isGuardian,
                                            allowsThirdParties: allowsThirdParties)
                                        index += 1
                                        expected[index] = one
                                        await scene.ask(one.isOwnKey, level, one.hasWords, index, person)
                                    }
                                }
                            }
                        }
                    }
                    if let constraint {
                        _ = try await scene.ai.server.call(
                            API.deleteConstraint, ConstraintPath(constraintID: constraint), as: scene.ai.home.guardian)
                    }
                }
            }
            try await scene.expectQuestions(expected.filter(\.value.isAsked).map(\.key)) { expected[$0]?.description }
            #expect(expected.count == 1_296)
        }
    }

    @Test("no question goes to a model without the family's consent, or with the caller's preference off")
    func gates() async throws {
        try await ModelScene.run { scene in
            let home = scene.ai.home
            try await scene.ai.prefer(#"{"ai_mode": "auto", "ai_server_enabled": false}"#, home.guardian)
            for isOwnKey in [true, false] { await scene.ask(isOwnKey, .auto, true, 1, home.guardian) }
            try await scene.ai.prefer(#"{"ai_mode": "auto"}"#, home.guardian)
            try await scene.ai.revokeConsent()
            for isOwnKey in [true, false] { await scene.ask(isOwnKey, .auto, true, 2, home.guardian) }
            // Somebody else's nag, and nobody's.
            let other = try await scene.ai.server.family(consents: [.aiMediation])
            await scene.ask(false, .auto, true, 3, other.guardian)
            #expect(try await scene.questions().isEmpty)
        }
    }

    @Test("when the consent is revoked while a model works, nothing of its answer is kept")
    func revoked() async throws {
        try await ModelScene.run("hold-revoked") { scene in
            let answer = try await scene.whileHeld("revoked", { try await scene.ai.tone(ModelScene.gateway) }) {
                try await scene.ai.revokeConsent()
            }
            #expect(throws: APIError.self) { try answer.get() }
            #expect(try await scene.ai.server.rows("SELECT 1 FROM ai_mediation_events").isEmpty)
            let row = try #require(
                try await scene.ai.server.rows("SELECT error_code, report::text AS report FROM ai_executions").first)
            #expect(row["error_code"] == .string("AUTHZ_DENIED"))
            #expect(row["report"]?.stringValue?.contains(ModelScene.ending) == false)
            #expect(try await scene.ai.server.audit(scene.ai.home.id).last?.kind == "ai_execution.refused")
        }
    }

    @Test("a constraint, a removal and a policy that begin while a model works take effect")
    func forbidden() async throws {
        try await ModelScene.run("hold-blocked") { scene in
            let answer = try await scene.whileHeld("blocked", { try await scene.ai.tone(ModelScene.gateway) }) {
                _ = try await scene.ai.constrain(.block(reason: "no"))
            }
            #expect(scene.code(answer) == "E-POLICY-001")
            #expect(try await scene.ai.server.rows("SELECT 1 FROM ai_mediation_events").isEmpty)
        }
        try await ModelScene.run("hold-policy") { scene in
            let guardian = scene.ai.home.guardian
            let answer = try await scene.whileHeld(
                "policy", { try await scene.ai.tone(ModelScene.ownKey, as: guardian) }
            ) {
                try await scene.allowThirdParties(false)
            }
            #expect(scene.code(answer) == "E-POLICY-001")
            #expect(try await scene.ai.server.rows("SELECT 1 FROM ai_mediation_events").isEmpty)
        }
    }

    @Test("a model's text about facts that have changed is not used")
    func changedFacts() async throws {
        try await ModelScene.run("hold-facts") { scene in
            let answer = try await scene.whileHeld("facts", { try await scene.ai.tone(ModelScene.gateway) }) {
                try await scene.ai.addMisses([scene.ai.now], of: scene.ai.home.child)
            }
            let report = try #require(try answer.get().execution)
            #expect(try answer.get().response.missCount7d == 1)
            #expect(report.usedFallback && report.fallbackReason == "facts_changed" && report.provider == "heuristic")
        }
    }

    @Test("of twenty questions with one confirmation, one goes to the model and is answered")
    func confirmed() async throws {
        try await ModelScene.run { scene in
            _ = try await scene.ai.constrain(.requireConfirmation(prompt: "Really?"))
            let fault = try await scene.ai.expectRefusal(.confirmationNeeded, 409) {
                try await scene.ai.summarize("the bus was late", ModelScene.gateway)
            }
            var options = ModelScene.gateway
            let token: Secret = try #require(fault.confirmation)
            options.confirmation = token
            let asked = options
            let statuses = try await together(20) { _ in
                do {
                    let report = try await scene.ai.summarize("the bus was late", asked).execution
                    return report?.provider == "server_gateway" ? 201 : 0
                } catch let refusal as APIError {
                    return refusal.status
                }
            }
            #expect(statuses.count { $0 == 201 } == 1 && statuses.count { $0 == 409 } == 19)
            #expect(try await scene.questions().count == 1)
            #expect(try await scene.ai.server.rows("SELECT 1 FROM ai_mediation_events").count == 1)
        }
    }

    @Test("words that leave the device because it failed need a confirmation, and records alone do not")
    func widened() async throws {
        try await ModelScene.run { scene in
            for options in [ModelScene.gateway, ExecutionOptions(taskType: .heuristic)] {
                var widened = options
                widened.rule = .localFailureFallback
                let before = try await scene.questions().count
                let asked = widened
                let fault = try await scene.ai.expectRefusal(.fallbackNeedsConfirmation, 409) {
                    try await scene.ai.summarize("the bus was late", asked)
                }
                #expect(try await scene.questions().count == before)
                let token: Secret = try #require(fault.confirmation)
                widened.confirmation = token
                let report = try #require(try await scene.ai.summarize("the bus was late", widened).execution)
                #expect(report.rule == .localFailureFallback && report.claimedRule == .localFailureFallback)
                #expect(report.fallbackConfirmed == .yes && !report.isFallbackAllowed)
                var records = options
                records.rule = .localFailureFallback
                let tone = try #require(try await scene.ai.tone(records).execution)
                #expect(tone.fallbackConfirmed == .none && tone.claimedRule == .localFailureFallback)
                #expect(tone.rule == .autoCloud)
            }
            var own = ModelScene.ownKey
            own.rule = .localFailureFallback
            let asked = own
            _ = try await scene.ai.expectRefusal(.fallbackNeedsConfirmation, 409) {
                try await scene.ai.tone(asked, as: scene.ai.home.guardian)
            }
        }
    }
}

extension ModelScene {
    /// Asks for one of two answers, whatever becomes of it. The number is the question's trace.
    fileprivate func ask(_ isOwnKey: Bool, _ level: PrivacyLevel, _ hasWords: Bool, _ number: Int, _ person: TestPerson)
        async
    {
        var options = isOwnKey ? Self.ownKey : Self.gateway
        (options.privacyLevel, options.traceID) = (level, TraceID(high: 1, low: UInt64(number)))
        if hasWords {
            _ = try? await ai.summarize("the bus was late", options, as: person)
        } else {
            _ = try? await ai.tone(options, as: person)
        }
    }

    /// Expects that questions with these numbers came, each once.
    fileprivate func expectQuestions(_ numbers: [Int], _ describe: (Int) -> String?) async throws {
        let came = try await questions().map { question -> Int in
            let header = question["headers"]?["traceparent"]?.stringValue ?? ""
            return Int(header.dropFirst(19).prefix(16), radix: 16) ?? 0
        }
        #expect(Set(came).count == came.count, "asked twice")
        for number in Set(came).symmetricDifference(numbers).sorted() {
            Issue.record("\(came.contains(number) ? "asked" : "not asked"): \(describe(number) ?? "?")")
        }
    }

    fileprivate func code<Answer>(_ answer: Result<Answer, any Error>) -> String? {
        guard case .failure(let error) = answer else { return nil }
        return (error as? APIError)?.execution?.code
    }
}
