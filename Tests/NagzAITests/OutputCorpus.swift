import Domain
import Foundation

@testable import NagzAI

/// What language models may write, harmless and hostile, in eight classes of questions. The files in `Corpus/` are the
/// texts; a line `case …` says what the rules' text before them is about.
struct OutputCorpus {
    struct Entry {
        let group: String
        /// The line of its case.
        let situation: String
        let facts: PromptFacts
        let text: String
        let isHostile: Bool
    }

    struct Fault: Error { let line: String }

    static let groups = ["tone", "tips", "homework", "upcoming", "overdue", "health", "digest", "excuse"]
    static let family = ["Ben", "Mary-Ann", "Ada"]

    /// The entries of some classes, from the files in `Corpus/`.
    static func entries(of groups: [String] = groups) throws -> [Entry] {
        try groups.flatMap { group in
            let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Corpus/\(group).corpus")
            var current: (line: String, facts: PromptFacts)?
            return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap { line -> Entry? in
                switch line.prefix(2) {
                case "# ": return nil
                case "ca":
                    current = (String(line), try facts(of: line.split(separator: " ").dropFirst().map(String.init)))
                    return nil
                case "+ ", "- ":
                    guard let current else { throw Fault(line: String(line)) }
                    return Entry(
                        group: group, situation: current.line, facts: current.facts, text: String(line.dropFirst(2)),
                        isHostile: line.hasPrefix("-"))
                default: throw Fault(line: String(line))
                }
            }
        }
    }

    // MARK: Cases

    private static func facts(of words: [String]) throws -> PromptFacts {
        let rules = try heuristics()
        switch words.first {
        case "tone" where words.count == 4:
            let facts = NagFacts(
                nag: nag(category: try value(words[3])), missCount7d: Int(words[1]) ?? 0, streak: Int(words[2]) ?? 0)
            return .selectTone(Snapshot(facts), rules, memberNames: family)
        case "tip" where words.count == 5: return try tip(words, rules)
        case "message" where words.count == 5: return try message(words, rules)
        case "digest":
            let member = DigestFacts.Member(userID: user(1), displayName: "Ben")
            let statuses = try words.dropFirst().filter { $0 != "none" }.map { try value($0) as NagStatus }
            let facts = DigestFacts(
                familyID: familyID, members: [member],
                nags: statuses.map {
                    .init(recipientID: user(1), status: $0, dueAt: noon - .days(1), closedAt: noon - .hours(1))
                })
            return .digest(Snapshot(facts), rules)
        case "excuse": return .summarizeExcuse(words.dropFirst().joined(separator: " "), memberNames: family)
        default: throw Fault(line: words.joined(separator: " "))
        }
    }

    /// Facts for which the rules give the tip with that number of its pool.
    private static func tip(_ words: [String], _ rules: Heuristics) throws -> PromptFacts {
        let (scenario, tone, category) = (
            try value(words[1]) as CoachingScenario, try value(words[2]) as AITone, try value(words[3]) as NagCategory
        )
        let wanted = rules.phrasebook.tip(
            UInt64(words[4]) ?? 0, scenario: scenario, tone: tone, category: category)
        return try first(words) { id in
            var facts = NagFacts(nag: nag(category: category, id: id), preferences: preferences(tone))
            switch scenario {
            case .repeatedTimeConflict: facts.timeConflictCount7d = 2
            case .oneRecentMiss: facts.missCount7d = 1
            case .streak3:
                facts.streak = 3
                // With a miss of an earlier time the tone is the preferred one.
                if tone != .supportive { facts.missCount7d = 2 }
            case .highCompletionHomework: facts.recentCategoryRecord = CompletionRecord(resolved: 3, completed: 3)
            case .general: break
            }
            let told = PromptFacts.coaching(Snapshot(facts), rules, memberNames: family)
            return told.values[.draft] == wanted ? told : nil
        }
    }

    /// Facts for which the rules give the message with that number of its pool.
    private static func message(_ words: [String], _ rules: Heuristics) throws -> PromptFacts {
        let (timing, tone, category) = (
            try value(words[1]) as PushBackTiming, try value(words[2]) as AITone, try value(words[3]) as NagCategory
        )
        let wanted = rules.phrasebook.pushBackMessage(UInt64(words[4]) ?? 0, timing, tone: tone, category: category)
        return try first(words) { id in
            let due = timing == .upcoming ? noon + .hours(5) : noon - .hours(1)
            let facts = NagFacts(nag: nag(category: category, dueAt: due, id: id), preferences: preferences(tone))
            let told = PromptFacts.pushBack(Snapshot(facts), rules, memberNames: family)
            return told?.values[.draft] == wanted ? told : nil
        }
    }

    private static func preferences(_ tone: AITone) -> Preferences {
        var preferences = Preferences()
        preferences.tone = PreferredTone.allCases.first { $0.aiTone == tone } ?? preferences.tone
        return preferences
    }

    private static func first(_ words: [String], _ facts: (NagID) -> PromptFacts?) throws -> PromptFacts {
        for low in 0..<200 as Range<UInt64> {
            if let found = facts(NagID(high: 7, low: low)) { return found }
        }
        throw Fault(line: words.joined(separator: " "))
    }

    private static func value<Value: RawRepresentable<String>>(_ word: String) throws -> Value {
        guard let value = Value(rawValue: word) else { throw Fault(line: word) }
        return value
    }
}
