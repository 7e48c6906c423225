import Domain
import NagzAI
import SeededNumbers
import Testing

@Suite struct PolicyTests {
    private static let permutations = repetitionCount(100_000)

    static func constraint(
        _ number: UInt64, priority: Int = 1, _ action: ConstraintAction, isEnabled: Bool = true,
        _ conditions: [(String, String, String)] = [("token_count", "exceeds", "0")]
    ) throws -> Constraint {
        try Constraint(
            id: ConstraintID(high: 0, low: number), scope: .family, name: "A rule", type: .privacy,
            isEnabled: isEnabled, priority: priority,
            conditions: conditions.enumerated().map {
                try ConstraintCondition(field: $1.0, operator: $1.1, value: $1.2, at: $0)
            },
            action: action)
    }

    static func question(
        _ content: String = "words", tokens: Int? = nil, _ level: PrivacyLevel = .auto, _ intent: QuestionIntent? = nil,
        offline: Bool = false
    ) -> Question {
        Question(
            id: QuestionID(high: 1, low: 1), operation: .operation(.summarizeExcuse), content: content,
            tokenCount: tokens,
            privacyLevel: level, intent: intent, requiresOffline: offline, askedAt: noon)
    }

    private func numbers(_ ids: [ConstraintID]) -> [UInt64] { ids.map(\.low) }

    @Test func aBlockIsStrongestAndEndsApplied() throws {
        let result = PolicyEngine([
            try Self.constraint(3, priority: 3, .warn(message: "W")),
            try Self.constraint(2, priority: 2, .forceLocal),
            try Self.constraint(1, priority: 1, .block(reason: "Contains SSN")),
        ]).evaluate(Self.question())
        #expect(!result.isAllowed && result.effectiveAction == .block && result.violation?.reason == "Contains SSN")
        #expect(numbers(result.evaluated) == [1, 2, 3] && numbers(result.appliedUntilBlock) == [1])
        #expect(result.warnings == ["W"], "warnings are listed beside a block")
    }

    @Test func forceLocalIsStrongerThanForceCloud() throws {
        for priorities in [(1, 2), (2, 1)] {
            let result = PolicyEngine([
                try Self.constraint(1, priority: priorities.0, .forceLocal),
                try Self.constraint(2, priority: priorities.1, .forceCloud),
            ]).evaluate(Self.question())
            #expect(result.effectiveAction == .forceLocal && result.appliedUntilBlock.count == 2)
        }
    }

    @Test func promptsAndWarningsAreListedInOrder() throws {
        let result = PolicyEngine([
            try Self.constraint(4, .requireConfirmation(prompt: "Sure?")), try Self.constraint(1, .warn(message: "A")),
            try Self.constraint(2, .requireConfirmation(prompt: "Proceed?")),
            try Self.constraint(3, .warn(message: "B")),
            try Self.constraint(5, .forceLocal, isEnabled: false),
        ]).evaluate(Self.question())
        #expect(result.warnings == ["A", "B"] && result.confirmationPrompt == "Proceed?\n\nSure?")
        #expect(numbers(result.appliedUntilBlock) == [1, 2, 3, 4], "a tie is broken by the identifier")
        #expect(result.effectiveAction == .requireConfirmation)
    }

    static let matches: [(String, String, String, Bool)] = [
        ("my ssn is", "contains", "SSN|credit card", true), ("CREDIT CARD", "contains", "SSN | credit card", true),
        ("credit  card", "contains", "SSN|credit card", true),
        ("my\tcredit\u{A0}\u{2003}\n card", "contains", "credit card", true), ("  a|b ", "equals", "A|B", true),
        ("a\u{AD} se\u{200B}cr\u{2060}et", "contains", "secret", true), ("se\u{FE0F}cret", "contains", "secret", true),
        ("ＳＥＣＲＥＴ", "contains", "secret", true), ("𝐬𝐞𝐜𝐫𝐞𝐭", "contains", "secret", true),
        ("ⓢecret", "contains", "secret", true),
        ("s\u{E0065}ecret", "contains", "secret", true), ("\u{455}\u{435}cr\u{435}t", "contains", "secret", true),
        ("\u{455}\u{435}cr\u{435}t", "notContains", "secret", false), ("ѕесrеt", "equals", "secret", true),
        ("секрет", "contains", "secret", false), ("секрет", "contains", "СЕКРЕТ", true),
        ("secret", "contains", "\u{455}ecret", true), ("hello", "contains", "11", false),
        ("modern", "contains", "modem", false), ("caf\u{E9} secret", "contains", "secret", true),
        ("nothing", "notContains", "SSN|card", true),
        ("a card", "notContains", "SSN|card", false), ("CAFE\u{301}", "contains", "caf\u{E9}", true),
        ("stra\u{DF}e", "contains", "STRASSE", true), ("\u{39F}\u{394}\u{39F}\u{3A3}", "contains", "οδος", true),
        ("a|b", "equals", "A|B", true), ("a|b", "equals", "a", false), ("a", "notEquals", "b", true),
        ("aaaaab", "contains", "aaab", true), ("ababac", "contains", "abac", true), ("", "contains", "x", false),
    ]

    @Test("an invisible character changes no verdict, wherever it stands")
    func ignorable() throws {
        let ignorable = (0..<0x11_0000 as Range<UInt32>).compactMap(Unicode.Scalar.init)
            .filter(\.properties.isDefaultIgnorableCodePoint)
        #expect(ignorable.count > 4_000)
        let texts = [
            "my secret word", "straße", "cafe\u{301} noir", "Å\u{323} x", "ѕесrеt", "한글 secret", "q\u{307}\u{323}q",
            "a\u{A0} b", "",
        ]
        let values = ["secret", "STRASSE", "café noir", "a b", "글 s", "x", "q\u{323}\u{307}q"]
        let rules = try values.enumerated().map { number, value in
            try Self.constraint(
                UInt64(number), .forceLocal, [("content", number % 2 == 0 ? "contains" : "equals", value)])
        }
        let engine = PolicyEngine(rules)
        var random = SeededNumbers(seed: 51)
        for scalar in ignorable {
            for text in texts {
                var scalars = Array(text.unicodeScalars)
                scalars.insert(scalar, at: Int.random(in: 0...scalars.count, using: &random))
                var spelled = String.UnicodeScalarView()
                spelled.append(contentsOf: scalars)
                let (plain, with) = (
                    engine.evaluate(Self.question(text)), engine.evaluate(Self.question(String(spelled)))
                )
                #expect(plain.appliedUntilBlock == with.appliedUntilBlock, "\(text) with \(scalar.value)")
            }
        }
    }

    @Test("a condition on the content applies by its operator and value", arguments: matches)
    func content(_ content: String, _ comparison: String, _ value: String, _ expected: Bool) throws {
        let rule = try Self.constraint(1, .forceLocal, [("content", comparison, value)])
        #expect(PolicyEngine([rule]).evaluate(Self.question(content)).appliedUntilBlock.isEmpty != expected)
    }

    @Test func noIntentEqualsNothing() throws {
        let equal = try Self.constraint(1, .forceLocal, [("intent", "equals", "retrieval")])
        let other = try Self.constraint(2, .forceLocal, [("intent", "notEquals", "retrieval")])
        let result = PolicyEngine([equal, other]).evaluate(Self.question())
        #expect(numbers(result.appliedUntilBlock) == [2])
    }

    static let faults: [(String, String, String, String)] = [
        ("colour", "equals", "x", "conditions[1].field"), ("content", "exceeds", "x", "conditions[1].operator"),
        ("intent", "contains", "x", "conditions[1].operator"), ("intent", "equals", "x", "conditions[1].value"),
        ("privacy_level", "equals", "secret", "conditions[1].value"), ("content", "equals", "", "conditions[1].value"),
        ("content", "contains", "a| |b", "conditions[1].value"),
        ("content", "contains", String(repeating: "a", count: 501), "conditions[1].value"),
        ("token_count", "exceeds", "+5", "conditions[1].value"),
        ("token_count", "exceeds", "10000001", "conditions[1].value"),
    ]

    @Test("a faulty condition is refused by its field", arguments: faults)
    func fault(_ field: String, _ comparison: String, _ value: String, _ path: String) throws {
        let fault = #expect(throws: ConstraintFault.self) {
            try ConstraintCondition(field: field, operator: comparison, value: value, at: 1)
        }
        #expect(fault?.field == path)
    }

    @Test func faultyActionsAndLists() throws {
        let texts = [("block", "action.reason"), ("require_confirmation", "action.prompt"), ("warn", "action.message")]
        for (type, path) in texts {
            for text in [nil, " ", String(repeating: "a", count: 281)] {
                let fault = #expect(throws: ConstraintFault.self) { try ConstraintAction(type: type, text: text) }
                #expect(fault?.field == path)
            }
        }
        let none = #expect(throws: ConstraintFault.self) { try Self.constraint(1, .forceLocal, []) }
        #expect(none?.field == "conditions")
        let late = #expect(throws: ConstraintFault.self) { try Self.constraint(1, priority: 1_000, .forceLocal) }
        #expect(late?.field == "priority")
    }

    @Test func templates() throws {
        let texts = try ConstraintTemplate.all.map {
            for condition in $0.conditions {
                _ = try ConstraintCondition(
                    field: condition.field.rawValue, operator: condition.comparison.rawValue, value: condition.value)
            }
            let rule = try Constraint(
                id: ConstraintID(high: 0, low: 1), scope: .own, name: $0.name, type: $0.type, priority: 1,
                conditions: $0.conditions, action: $0.action)
            return "\(rule.name) (\(rule.type.rawValue)): \(rule.plainText)"
        }
        #expect(
            texts == [
                #"Protect Personal Information (privacy): If prompt contains "SSN" or "credit card" or "social security" or "passport", then block execution with reason: "This prompt may contain personal information""#,
                #"Warn on Large Queries (cost): If token count exceeds 5000, then warn with message: "This query is large and may incur cloud costs""#,
                "Always Use Local Model (privacy): If privacy level equals auto, then force local execution",
                #"Block Harmful Content (intent): If prompt contains "violence" or "illegal" or "harmful", then block execution with reason: "This prompt contains restricted keywords""#,
            ])
    }

    @Test("the order in which constraints are given changes nothing, 100,000 cases")
    func permutations() throws {
        var numbers = SeededNumbers(seed: 43)
        let pool = try (1...12).map { number in
            let actions: [ConstraintAction] = [
                .block(reason: "b"), .forceLocal, .forceCloud, .requireConfirmation(prompt: "p\(number)"),
                .warn(message: "w\(number)"),
            ]
            let conditions = [
                ("content", "contains", "a|b"), ("token_count", "lessThan", "6"), ("intent", "notEquals", "retrieval"),
            ]
            return try Self.constraint(
                UInt64(number), priority: number / 3 + 1, actions[number % 5], [conditions[number % 3]])
        }
        var differences = 0, blocked = 0
        for _ in 0..<Self.permutations {
            let chosen = pool.filter { _ in Bool.random(using: &numbers) }
            let text = ["", "a", "xyz", "B"].randomElement(using: &numbers) ?? ""
            let asked = Self.question(
                text, tokens: Int.random(in: 0...9, using: &numbers), .auto,
                QuestionIntent.allCases.randomElement(using: &numbers))
            let result = PolicyEngine(chosen).evaluate(asked)
            if result != PolicyEngine(chosen.shuffled(using: &numbers)).evaluate(asked) { differences += 1 }
            if !result.isAllowed { blocked += 1 }
        }
        #expect(differences == 0 && (1..<Self.permutations).contains(blocked))
    }
}
