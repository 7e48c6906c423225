import Domain
import NagzAI
import Testing

@Suite struct PushBackTests {
    /// Everything speaks against a push-back; each test case takes the first reasons away.
    private static func facts(
        _ status: NagStatus = .open, _ mode: PushBackMode = .bounded, pushBacks: [Timestamp] = [],
        quiet: (String, String)? = nil
    ) -> NagFacts {
        var preferences = Preferences()
        preferences.pushBackMode = mode
        if let quiet {
            preferences.quietHoursEnabled = true
            preferences.quietWindow = QuietHours(start: clock(quiet.0), end: clock(quiet.1))
        }
        return NagFacts(nag: nag(status), cyclePushBacks: pushBacks, preferences: preferences)
    }

    static let order: [(String, NagFacts, HeuristicRule)] = [
        (
            "not open comes first",
            facts(.missed, .off, pushBacks: [noon, noon], quiet: ("11:00", "13:00")), .pushBackNagNotOpen
        ),
        ("then the mode", facts(.open, .off, pushBacks: [noon, noon], quiet: ("11:00", "13:00")), .pushBackModeOff),
        ("then the maximum", facts(pushBacks: [noon, noon], quiet: ("11:00", "13:00")), .pushBackMaxAttempts),
        ("then quiet hours", facts(pushBacks: [noon], quiet: ("11:00", "13:00")), .pushBackQuietHours),
        ("then the cooldown", facts(pushBacks: [noon]), .pushBackCooldown),
        ("then nothing", facts(), .pushBackBounded),
        ("quiet hours switched off do not count", facts(quiet: nil), .pushBackBounded),
        ("start is quiet", facts(quiet: ("12:00", "13:00")), .pushBackQuietHours),
        ("end is not", facts(quiet: ("11:00", "12:00")), .pushBackBounded),
        ("over midnight", facts(quiet: ("22:00", "12:00:01")), .pushBackQuietHours),
        ("an empty window is none", facts(quiet: ("12:00", "12:00")), .pushBackBounded),
        ("59 minutes ago", facts(pushBacks: [noon - .minutes(60) + .milliseconds(1)]), .pushBackCooldown),
        ("an hour ago", facts(pushBacks: [noon - .minutes(60)]), .pushBackBounded),
        ("in the future, by another clock", facts(pushBacks: [noon + .minutes(5)]), .pushBackCooldown),
    ]

    @Test("the first reason that applies decides about a push-back", arguments: order)
    func reason(_ name: String, _ facts: NagFacts, _ rule: HeuristicRule) throws {
        let outcome = try heuristics().pushBack(for: Snapshot(facts))
        #expect(outcome.rule == rule)
        #expect("push_back." + outcome.response.reason == rule.rawValue)
        #expect(outcome.response.shouldPushBack == (rule == .pushBackBounded))
        #expect((outcome.response.message != nil) == (rule == .pushBackBounded))
        #expect((outcome.response.tone != nil) == (rule == .pushBackBounded))
    }

    @Test("no push-back is sent for a closed nag", arguments: NagStatus.allCases.filter { $0 != .open })
    func closed(_ status: NagStatus) throws {
        #expect(try heuristics().pushBack(for: Snapshot(Self.facts(status))).response.reason == "nag_not_open")
    }

    @Test("push-backs are refused after the family's maximum", arguments: 0...3)
    func maximum(_ maximum: Int) throws {
        var facts = Self.facts()
        facts.policy = try FamilyPolicy(maxPushBacksPerNag: maximum, pushBackCooldownMinutes: 15)
        var now = noon
        for _ in 0..<maximum {
            #expect(try heuristics().pushBack(for: Snapshot(facts, at: now)).response.shouldPushBack)
            facts.cyclePushBacks.append(now)
            now = now + .minutes(15)
        }
        #expect(try heuristics().pushBack(for: Snapshot(facts, at: now)).rule == .pushBackMaxAttempts)
    }

    @Test(
        "the cooldown counts from the latest push-back, in any order of the facts",
        arguments: [
            [noon - .minutes(500), noon - .minutes(10)], [noon - .minutes(10), noon - .minutes(500)],
        ])
    func youngest(_ pushBacks: [Timestamp]) throws {
        var facts = Self.facts(pushBacks: pushBacks)
        facts.policy = try FamilyPolicy(maxPushBacksPerNag: 3)
        #expect(try heuristics().pushBack(for: Snapshot(facts)).rule == .pushBackCooldown)
    }

    @Test(
        "a due time that is moved lets push-backs be counted anew, and ends no cooldown",
        arguments: [
            (noon - .minutes(59), HeuristicRule.pushBackCooldown), (noon - .minutes(60), .pushBackBounded),
            (nil, .pushBackBounded),
        ] as [(Timestamp?, HeuristicRule)])
    func earlierCycle(_ last: Timestamp?, _ rule: HeuristicRule) throws {
        var facts = Self.facts()
        facts.earlierPushBack = last
        #expect(try heuristics().pushBack(for: Snapshot(facts)).rule == rule)
    }

    @Test(
        "quiet hours follow the recipient's wall clock across clock changes",
        arguments: [
            ("2026-03-08T10:59:59Z", HeuristicRule.pushBackQuietHours), ("2026-03-08T11:00:00Z", .pushBackBounded),
            ("2026-03-07T11:30:00Z", .pushBackQuietHours), ("2026-11-01T11:59:59Z", .pushBackQuietHours),
            ("2026-11-01T12:00:00Z", .pushBackBounded), ("2026-05-06T01:59:59Z", .pushBackBounded),
            ("2026-05-06T02:00:00Z", .pushBackQuietHours),
        ])
    func zones(_ now: String, _ rule: HeuristicRule) throws {
        #expect(
            try heuristics().pushBack(for: Snapshot(Self.facts(quiet: ("22:00", "07:00")), at: at(now))).rule == rule)
    }

    @Test(
        "the message of a push-back has the selected tone",
        arguments: [(0, 0, AITone.neutral), (0, 3, .supportive), (3, 0, .firm)])
    func tone(_ misses: Int, _ streak: Int, _ tone: AITone) throws {
        let book = try Phrasebook.english()
        let facts = NagFacts(nag: nag(category: .meds), missCount7d: misses, streak: streak)
        let response = try heuristics().pushBack(for: Snapshot(facts)).response
        let pool = (0..<book.pushBackMessageCount(.upcoming, tone)).map {
            book.pushBackMessage(UInt64($0), .upcoming, tone: tone, category: .meds)
        }
        #expect(response.tone == tone)
        #expect(response.message.map(pool.contains) == true)
    }

    @Test(
        "a push-back calls a nag upcoming before its due time, and overdue from then on",
        arguments: [
            (noon + .milliseconds(1), PushBackTiming.upcoming), (noon + .days(5), .upcoming), (noon, .overdue),
            (noon - .minutes(1), .overdue), (noon - .days(2), .overdue),
        ])
    func timing(_ due: Timestamp, _ timing: PushBackTiming) throws {
        let book = try Phrasebook.english()
        for count in 0..<2 {
            let facts = NagFacts(nag: nag(dueAt: due), cyclePushBacks: Array(repeating: noon - .days(1), count: count))
            let message = try #require(try heuristics().pushBack(for: Snapshot(facts)).response.message)
            for other in PushBackTiming.allCases {
                let pool = (0..<book.pushBackMessageCount(other, .neutral)).map {
                    book.pushBackMessage(UInt64($0), other, tone: .neutral, category: .chores)
                }
                #expect(pool.contains(message) == (other == timing))
            }
        }
    }

    @Test func theNextMessageIsAnotherOne() throws {
        var facts = Self.facts()
        facts.policy = try FamilyPolicy(maxPushBacksPerNag: 3)
        let messages = try (0..<3).map { count in
            facts.cyclePushBacks = Array(repeating: noon - .days(1), count: count)
            return try heuristics().pushBack(for: Snapshot(facts)).response.message
        }
        #expect(Set(messages).count == 3)
    }
}
