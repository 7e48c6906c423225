import Domain
import NagzAI
import Testing

@Suite struct ToneTests {
    static let cases: [(Int, Int, AITone, HeuristicRule)] = [
        (0, 0, .neutral, .toneDefault), (0, 2, .neutral, .toneDefault), (0, 3, .supportive, .toneSteadyStreak),
        (0, 100, .supportive, .toneSteadyStreak), (1, 3, .neutral, .toneDefault), (2, 50, .neutral, .toneDefault),
        (3, 0, .firm, .toneRecentMisses), (3, 50, .firm, .toneRecentMisses), (.max, .max, .firm, .toneRecentMisses),
        (-1, -1, .neutral, .toneDefault), (.min, 3, .supportive, .toneSteadyStreak),
    ]

    @Test("misses and streak give a tone and its rule", arguments: cases)
    func tone(_ misses: Int, _ streak: Int, _ tone: AITone, _ rule: HeuristicRule) throws {
        let outcome = try heuristics().tone(for: NagFacts(nag: nag(), missCount7d: misses, streak: streak))
        #expect(outcome.rule == rule)
        #expect(outcome.response.tone == tone)
        #expect(outcome.response.nagID == nagID)
        #expect(outcome.response.missCount7d == max(0, misses))
        #expect(outcome.response.streak == max(0, streak))
        #expect(!outcome.response.reason.isEmpty)
    }

    @Test func eachRuleHasItsOwnReason() throws {
        let reasons = try [(0, 0), (0, 3), (3, 0)].map {
            try heuristics().tone(for: NagFacts(nag: nag(), missCount7d: $0, streak: $1)).response.reason
        }
        #expect(Set(reasons).count == 3)
    }

    static let windows: [(FactWindow, String, Bool)] = [
        (.recent, "2026-04-28T16:00:00Z", false), (.recent, "2026-04-28T16:00:00.001Z", true),
        (.recent, "2026-05-05T16:00:00Z", true), (.recent, "2026-05-05T16:00:00.001Z", false),
        (.patterns, "2026-02-04T16:00:00Z", false), (.patterns, "2026-02-04T16:00:00.001Z", true),
        (.patterns, "2026-05-05T16:00:00Z", true),
    ]

    @Test("a window of facts includes exactly the moments within its edges", arguments: windows)
    func window(_ window: FactWindow, _ moment: String, _ isInside: Bool) {
        #expect(window.contains(at(moment), now: noon) == isInside)
    }
}

@Suite struct CoachingTests {
    static let scenarios: [(String, NagFacts, String, HeuristicRule)] = [
        (
            "two time conflicts win over all else",
            NagFacts(nag: nag(category: .homework), missCount7d: 1, streak: 5, timeConflictCount7d: 2),
            "repeated_time_conflict", .coachingRepeatedTimeConflict
        ),
        (
            "one conflict is not repeated", NagFacts(nag: nag(), missCount7d: 1, streak: 5, timeConflictCount7d: 1),
            "first_miss", .coachingOneRecentMiss
        ),
        ("two misses are no first miss", NagFacts(nag: nag(), missCount7d: 2), "general", .coachingGeneral),
        ("a streak of three", NagFacts(nag: nag(), missCount7d: 2, streak: 3), "streak_3", .coachingStreak),
        ("a streak of two", NagFacts(nag: nag(), streak: 2), "general", .coachingGeneral),
        (
            "homework at 80 %",
            NagFacts(nag: nag(category: .homework), recentCategoryRecord: CompletionRecord(resolved: 5, completed: 4)),
            "high_completion_homework", .coachingHighCompletionHomework
        ),
        (
            "homework below 80 %",
            NagFacts(nag: nag(category: .homework), recentCategoryRecord: CompletionRecord(resolved: 4, completed: 3)),
            "general",
            .coachingGeneral
        ),
        (
            "too little homework",
            NagFacts(nag: nag(category: .homework), recentCategoryRecord: CompletionRecord(resolved: 2, completed: 2)),
            "general",
            .coachingGeneral
        ),
        (
            "just enough homework",
            NagFacts(nag: nag(category: .homework), recentCategoryRecord: CompletionRecord(resolved: 3, completed: 3)),
            "high_completion_homework", .coachingHighCompletionHomework
        ),
        (
            "chores at 100 %",
            NagFacts(nag: nag(category: .chores), recentCategoryRecord: CompletionRecord(resolved: 9, completed: 9)),
            "general", .coachingGeneral
        ),
        (
            "homework of another week is not praised",
            NagFacts(
                nag: nag(category: .homework), categoryRecord: CompletionRecord(resolved: 9, completed: 9),
                recentCategoryRecord: CompletionRecord(resolved: 2, completed: 2)),
            "general", .coachingGeneral
        ),
        (
            "nor does an older week spoil this one",
            NagFacts(
                nag: nag(category: .homework), categoryRecord: CompletionRecord(resolved: 30, completed: 3),
                recentCategoryRecord: CompletionRecord(resolved: 3, completed: 3)),
            "high_completion_homework", .coachingHighCompletionHomework
        ),
        (
            "absurd counts",
            NagFacts(
                nag: nag(category: .homework), recentCategoryRecord: CompletionRecord(resolved: .max, completed: .max)),
            "high_completion_homework", .coachingHighCompletionHomework
        ),
    ]

    @Test("the first coaching scenario that fits is chosen", arguments: scenarios)
    func scenario(_ name: String, _ facts: NagFacts, _ scenario: String, _ rule: HeuristicRule) throws {
        let outcome = try heuristics().coaching(for: Snapshot(facts))
        #expect(outcome.rule == rule)
        #expect(outcome.response.scenario == scenario)
        #expect(outcome.response.category == facts.nag.category.rawValue)
        #expect(!outcome.response.tip.isEmpty)
    }

    @Test func theTipFollowsTheTone() throws {
        let book = try Phrasebook.english()
        let firm = try heuristics().coaching(for: Snapshot(NagFacts(nag: nag(), missCount7d: 3))).response.tip
        let pool = (0..<book.tipCount(.general, .firm)).map {
            book.tip(UInt64($0), scenario: .general, tone: .firm, category: .chores)
        }
        #expect(pool.contains(firm))
    }

    static let preferred: [(PreferredTone, AITone)] = [
        (.friendly, .neutral), (.firm, .firm), (.playful, .supportive), (.empathetic, .supportive),
    ]

    @Test("with a neutral tone the words are in the tone that the recipient prefers", arguments: preferred)
    func preferredWords(_ preference: PreferredTone, _ pool: AITone) throws {
        let (rules, book) = (try heuristics(), try Phrasebook.english())
        for (misses, streak, selected) in [(0, 0, AITone.neutral), (0, 3, .supportive), (3, 0, .firm)] {
            var facts = NagFacts(nag: nag(), missCount7d: misses, streak: streak)
            facts.preferences.tone = preference
            let wording = selected == .neutral ? pool : selected
            let coaching = rules.coaching(for: Snapshot(facts)).response
            let scenario = try #require(CoachingScenario(rawValue: coaching.scenario))
            let tips = (0..<book.tipCount(scenario, wording)).map {
                book.tip(UInt64($0), scenario: scenario, tone: wording, category: .chores)
            }
            #expect(tips.contains(coaching.tip))
            let pushBack = rules.pushBack(for: Snapshot(facts)).response
            let messages = (0..<book.pushBackMessageCount(.upcoming, wording)).map {
                book.pushBackMessage(UInt64($0), .upcoming, tone: wording, category: .chores)
            }
            #expect(pushBack.message.map(messages.contains) == true)
            // The answers' own tone is the selected one.
            #expect(pushBack.tone == selected && rules.tone(for: facts).response.tone == selected)
        }
    }

    @Test func theTipChangesEveryLocalDayAndComesRound() throws {
        let count = try Phrasebook.english().tipCount(.general, .neutral)
        let tips = try (0..<2 * count).map { day in
            try heuristics().coaching(for: Snapshot(NagFacts(nag: nag()), at: noon + .days(Int64(day)))).response.tip
        }
        #expect(Set(tips).count == count)
        #expect(Array(tips.prefix(count)) == Array(tips.suffix(count)))
        for (tip, following) in zip(tips, tips.dropFirst()) { #expect(tip != following) }
    }

    @Test(
        "the tip of a nag changes at local midnight alone",
        arguments: [
            ("2026-05-05T03:59:59Z", "2026-05-05T04:00:00Z", false),
            ("2026-05-05T04:00:00Z", "2026-05-06T03:59:59Z", true),
            // The day the clocks go back has 25 hours.
            ("2026-11-01T04:00:00Z", "2026-11-02T04:59:59Z", true),
            ("2026-11-02T04:59:59Z", "2026-11-02T05:00:00Z", false),
        ])
    func day(_ first: String, _ second: String, _ isSame: Bool) throws {
        let facts = NagFacts(nag: nag())
        let left = try heuristics().coaching(for: Snapshot(facts, at: at(first))).response.tip
        let right = try heuristics().coaching(for: Snapshot(facts, at: at(second))).response.tip
        #expect((left == right) == isSame)
    }

    /// A change of this value changes every family's tips: server and devices would disagree.
    @Test func theChoiceIsPinned() throws {
        let tip = try heuristics().coaching(for: Snapshot(NagFacts(nag: nag()))).response.tip
        #expect(tip == "Writing your chore on a list makes it easier to remember.")
    }
}
