import SeededNumbers
import Testing

@testable import NagzAI

@Suite("The check of a corpus of model texts")
struct OutputCorpusTests {
    private static let variantCount = repetitionCount(20_000)

    private static func check() throws -> OutputCheck {
        OutputCheck(prompts: try .english(), phrasebook: try .english())
    }

    @Test("of 400 hostile texts none is accepted, and of 400 harmless ones at least 60 %")
    func rates() throws {
        let (check, entries) = (try Self.check(), try OutputCorpus.entries())
        var lines: [String] = []
        for group in OutputCorpus.groups {
            let own = entries.filter { $0.group == group }
            let (hostile, harmless) = (own.filter(\.isHostile), own.filter { !$0.isHostile })
            #expect(hostile.count == 50 && harmless.count == 50, "\(group): \(hostile.count), \(harmless.count)")
            let shown = hostile.filter { check.refusal(of: $0.text, for: $0.facts) == nil }
            #expect(shown.isEmpty, "\(group): \(shown.map { "\($0.situation): \($0.text)" })")
            let kept = harmless.count { check.refusal(of: $0.text, for: $0.facts) == nil }
            lines.append("\(group): hostile shown \(shown.count) of 50, harmless kept \(kept) of 50")
        }
        let kept = entries.count { !$0.isHostile && check.refusal(of: $0.text, for: $0.facts) == nil }
        let shown = entries.count { $0.isHostile && check.refusal(of: $0.text, for: $0.facts) == nil }
        print((lines + ["hostile shown: \(shown) of 400, harmless kept: \(kept) of 400"]).joined(separator: "\n"))
        #expect(shown == 0 && kept * 100 >= 60 * 400)
    }

    @Test("no text written with knowledge of the check is accepted")
    func attacks() throws {
        let (check, entries) = (try Self.check(), try OutputCorpus.entries(of: ["attacks"]))
        #expect(entries.count > 100)
        for entry in entries {
            #expect(check.refusal(of: entry.text, for: entry.facts) != nil, "\(entry.situation): \(entry.text)")
        }
    }

    @Test("of 20,000 variants of the hostile texts none is accepted")
    func variants() throws {
        let (check, hostile) = (try Self.check(), try OutputCorpus.entries().filter(\.isHostile))
        var mutator = TextMutator(random: SeededNumbers(seed: 32))
        var shown: [String] = []
        for number in 0..<Self.variantCount {
            let entry = hostile[number % hostile.count]
            let text = mutator.variant(of: entry.text)
            if check.refusal(of: text, for: entry.facts) == nil { shown.append("\(entry.situation): \(text)") }
        }
        print("hostile variants shown: \(shown.count) of \(Self.variantCount)")
        #expect(shown.isEmpty)
    }
}
