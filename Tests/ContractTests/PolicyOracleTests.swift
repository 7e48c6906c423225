import Contract
import Domain
import Foundation
import JSON
import SeededNumbers
import Testing

@testable import NagzAI

/// Writes cases and our answers where `deploy/test` holds `Tests/PolicyOracle/verify.py` to them.
@Suite("Policy engine and router for the oracle")
struct PolicyOracleTests {
    /// Texts whose comparison is easy to get wrong: case mappings of several characters, and several normal forms.
    private static let texts = [
        "", "a", "SSN", "ssn 12", "Credit Card", "straße", "STRASSE", "ſtraſſe", "ΣΊΣΥΦΟΣ", "σίσυφος", "σίσυφοσ",
        "İstanbul",
        "i\u{307}stanbul", "ıstanbul", "caf\u{E9}", "cafe\u{301}", "CAFE\u{301}", "ﬁn", "FIN", "ŉ", "ʼn", "ǰ",
        "J\u{30C}", "K",
        "k", "Å", "a\u{30A}", "ＳＳＮ", "𝐬𝐬𝐧", "ⓢⓢⓝ", "\u{455}\u{455}n", "s\u{AD}s\u{200B}n",
        "\u{441}redit\u{A0}\u{2003}card", "11",
        "ll", "s\u{FE0F}tra\u{34F}sse", "ᾳ", "ΑΙ", "😀 and 👨‍👩‍👧", "  b  ", "\u{A0}nbsp", "|", "한글",
        "\u{1112}\u{1161}\u{11AB}글",
    ]
    private static let actions: [ConstraintAction] = [
        .block(reason: "because"), .forceLocal, .forceCloud, .requireConfirmation(prompt: "Sure?"),
        .requireConfirmation(prompt: "Really?"), .warn(message: "long"), .warn(message: "costly"),
    ]

    private static func condition(_ numbers: inout SeededNumbers) throws -> ConstraintCondition {
        guard let field = ConstraintField.allCases.randomElement(using: &numbers),
            let comparison = field.operators.randomElement(using: &numbers)
        else { preconditionFailure("no list is empty") }
        func text() -> String {
            texts.filter { !trimmed($0).isEmpty && $0 != "|" }.randomElement(using: &numbers) ?? "a"
        }
        let value =
            switch field {
            case .content where comparison == .contains || comparison == .notContains:
                (0...Int.random(in: 0...2, using: &numbers)).map { _ in text() }.joined(separator: " | ")
            case .content: text()
            case .tokenCount: String(Int.random(in: 0...12, using: &numbers))
            case .intent: QuestionIntent.allCases.randomElement(using: &numbers)?.rawValue ?? ""
            case .privacyLevel: PrivacyLevel.allCases.randomElement(using: &numbers)?.rawValue ?? ""
            }
        return try ConstraintCondition(field: field.rawValue, operator: comparison.rawValue, value: value)
    }

    private static func constraint(_ numbers: inout SeededNumbers) throws -> SimulatedConstraint {
        var conditions: [ConstraintCondition] = []
        for _ in 0...Int.random(in: 0...2, using: &numbers) { conditions.append(try condition(&numbers)) }
        let terms = ConstraintTerms(
            scope: Bool.random(using: &numbers) ? .family : .own, name: "n", type: .cost,
            isEnabled: Int.random(in: 0...7, using: &numbers) > 0, priority: Int.random(in: 1...3, using: &numbers),
            conditions: conditions, action: actions.randomElement(using: &numbers) ?? .forceLocal)
        return SimulatedConstraint(
            id: ConstraintID(high: numbers.next(), low: numbers.next()), terms: terms)
    }

    private static func item(_ numbers: inout SeededNumbers) -> SimulatedCase {
        func flag() -> Bool { Bool.random(using: &numbers) }
        func rarely() -> Bool { Int.random(in: 0...7, using: &numbers) == 0 }
        let words = (0...Int.random(in: 0...3, using: &numbers)).map { _ in texts.randomElement(using: &numbers) ?? "" }
        let question = SimulatedQuestion(
            content: words.joined(separator: flag() ? " " : ""),
            tokenCount: flag() ? nil : Int.random(in: 0...12, using: &numbers),
            intent: flag() ? nil : QuestionIntent.allCases.randomElement(using: &numbers),
            privacyLevel: PrivacyLevel.allCases.randomElement(using: &numbers) ?? .auto, requiresOffline: rarely())
        let local = LocalCapability(
            model: flag() ? nil : LocalModel(isOfSystem: flag(), name: "local"),
            maxQuestionTokens: Int.random(in: 0...20, using: &numbers),
            intents: Set(QuestionIntent.allCases.filter { _ in flag() }), isAvailable: !rarely())
        let state = RuntimeState(
            local: local, network: flag() ? .online : NetworkState.allCases.randomElement(using: &numbers) ?? .online,
            tokenThreshold: Int.random(in: 0...20, using: &numbers),
            mode: AIMode.allCases.randomElement(using: &numbers) ?? .auto, ownProviderModel: flag() ? "own" : nil,
            gatewayModel: flag() ? "gateway" : nil, isThirdPartyAllowed: flag())
        return SimulatedCase(question: question, state: state)
    }

    private static func answer(_ item: SimulatedCase, _ constraints: [SimulatedConstraint]) throws -> SimulationResult {
        let now = Timestamp.epoch
        let question = Question(
            id: QuestionID(high: 0, low: 0), operation: .operation(.summarizeExcuse), content: item.question.content,
            tokenCount: item.question.tokenCount, privacyLevel: item.question.privacyLevel,
            intent: item.question.intent, requiresOffline: item.question.requiresOffline, askedAt: now)
        let policy = try PolicyEngine(
            constraints.map { try $0.terms.constraint($0.id ?? ConstraintID(high: 0, low: 0)) }
        ).evaluate(question)
        let state = item.state ?? RuntimeState(local: LocalCapability(), network: .online)
        return SimulationResult(
            policy, Router.route(question, state, policy, at: now, trace: TraceID(high: 0, low: 1)))
    }

    /// What the characters of the texts look like, as a line of the file.
    private static func prototypes() -> [UInt8] {
        let folded = texts.map { String(decoding: MatchedText($0).foldedBytes, as: UTF8.self) }
        let scalars = Set(folded.joined().decomposedStringWithCanonicalMapping.unicodeScalars)
        return JSONWriter.document { json in
            json.object { json in
                json.key("prototypes")
                json.object { json in
                    for scalar in scalars.sorted() {
                        json.key(escaping: String(scalar))
                        json.string(UnicodeText.skeleton(String(scalar)))
                    }
                }
            }
        } + [UInt8(ascii: "\n")]
    }

    @Test("20,000 cases for the oracle have every rule, action and failure among them")
    func cases() throws {
        var numbers = SeededNumbers(seed: 20_260)
        var lines = Self.prototypes()
        var seen: Set<String> = []
        for _ in 0..<20_000 {
            var constraints: [SimulatedConstraint] = []
            for _ in 0..<Int.random(in: 0...5, using: &numbers) { constraints.append(try Self.constraint(&numbers)) }
            let item = Self.item(&numbers)
            let answer = try Self.answer(item, constraints)
            seen.formUnion(
                [answer.policy.effectiveAction, answer.decision?.rule, answer.decision?.provider, answer.failure?.code]
                    .compactMap(\.self))
            lines += JSONWriter.document { json in
                json.object { json in
                    json.field("constraints", constraints)
                    json.field("question", item.question)
                    json.field("state", item.state)
                    json.field("answer", answer)
                }
            }
            lines.append(UInt8(ascii: "\n"))
        }
        let rules = Set(RoutingRule.allCases.map(\.rawValue))
            .subtracting(["POLICY_BLOCK", "NETWORK_UNAVAILABLE", "LOCAL_FAILURE_FALLBACK"])
        #expect(seen.isSuperset(of: rules))
        #expect(seen.isSuperset(of: ConstraintAction.Kind.allCases.map(\.rawValue)))
        #expect(seen.isSuperset(of: ProviderName.allCases.map(\.rawValue)))
        #expect(seen.isSuperset(of: ["E-POLICY-001", "E-NET-001", "E-LOCAL-001", "E-CLOUD-001"]))
        guard let folder = ProcessInfo.processInfo.environment["NAGZ_TEST_EXPORTS"] else { return }
        let place = URL(filePath: folder).appending(path: "policy")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        try Data(lines).write(to: place.appending(path: "cases.ndjson"))
    }
}
