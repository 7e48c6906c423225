import Domain
import Testing

@Suite struct ScoringTests {
    static let pointsCases: [(Punctuality, Double, Int)] = [
        (Punctuality.onTime, 1.0, 10), (.late, 1.0, 4), (.missed, 1.0, 0), (.onTime, 0.1, 1), (.late, 0.1, 0),
        (.onTime, 0.25, 3), (.onTime, 0.35, 4), (.onTime, 0.249, 2), (.late, 0.125, 1), (.late, 0.124, 0),
        (.onTime, 3.0, 30), (.late, 3.0, 12), (.onTime, 1.05, 11), (.onTime, 1.15, 12), (.missed, 3.0, 0),
        (.onTime, 99.0, 30), (.onTime, -5.0, 1), (.onTime, .nan, 10), (.onTime, .infinity, 30),
    ]

    @Test("points round half away from zero", arguments: pointsCases)
    func points(_ outcome: Punctuality, _ multiplier: Double, _ points: Int) {
        #expect(Score(outcome, multiplier: multiplier, currentStreak: 0).points == points)
    }

    static let streakCases: [(Punctuality, Int, Int)] = [
        (Punctuality.onTime, 6, 1), (.late, 6, 0), (.missed, 6, -6), (.missed, 0, 0), (.missed, -3, 0),
        (.missed, .max, -.max), (.missed, .min, 0),
    ]

    @Test("a completion or miss changes the streak by its punctuality", arguments: streakCases)
    func streak(_ outcome: Punctuality, _ current: Int, _ delta: Int) {
        #expect(Score(outcome, multiplier: 1, currentStreak: current).streakDelta == delta)
    }

    @Test func onTimeIncludesTheDueMoment() {
        let due = at("2026-05-05T12:00:00Z")
        #expect(Punctuality(completedAt: due, dueAt: due) == .onTime)
        #expect(Punctuality(completedAt: due + .milliseconds(1), dueAt: due) == .late)
    }

    static let badgesCases: [(BadgeFacts, Set<BadgeType>, [BadgeType])] = [
        (BadgeFacts(completions: 0, streak: 0), [], []),
        (BadgeFacts(completions: 1, streak: 0), [], [.firstCompletion]),
        (BadgeFacts(completions: 1, streak: 0), [.firstCompletion], []),
        (BadgeFacts(completions: 2, streak: 2), [.firstCompletion], []),
        (BadgeFacts(completions: 3, streak: 3), [.firstCompletion], [.streak3]),
        (BadgeFacts(completions: 6, streak: 6), [.firstCompletion, .streak3], []),
        (BadgeFacts(completions: 30, streak: 30), [], [.firstCompletion, .streak3, .streak7, .streak30]),
        (BadgeFacts(completions: 99, streak: 0), [.firstCompletion], []),
        (BadgeFacts(completions: 100, streak: 0), [.firstCompletion], [.centuryClub]),
        (BadgeFacts(completions: 2, streak: 2, dueInWeek: 2, onTimeInWeek: 2), [.firstCompletion], []),
        (BadgeFacts(completions: 3, streak: 0, dueInWeek: 3, onTimeInWeek: 3), [.firstCompletion], [.perfectWeek]),
        (BadgeFacts(completions: 3, streak: 0, dueInWeek: 4, onTimeInWeek: 3), [.firstCompletion], []),
    ]

    @Test("badges are earned when their facts are reached, and once", arguments: badgesCases)
    func badges(_ facts: BadgeFacts, _ already: Set<BadgeType>, _ expected: [BadgeType]) {
        #expect(BadgeType.newlyEarned(facts, already: already) == expected)
    }
}

@Suite struct LocalCalendarTests {
    @Test(
        "local days begin and end at the zone's midnight, across clock changes",
        arguments: [
            ("2026-05-05T03:59:59Z", "2026-05-04T04:00:00Z", "2026-05-05T04:00:00Z"),
            ("2026-05-05T04:00:00Z", "2026-05-05T04:00:00Z", "2026-05-06T04:00:00Z"),
            ("2026-03-08T12:00:00Z", "2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z"),
            ("2026-11-01T12:00:00Z", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"),
        ])
    func days(_ moment: String, _ start: String, _ end: String) {
        #expect(NewYork2026().day(containing: at(moment)) == at(start)..<at(end))
    }

    @Test(
        "local weeks begin on Monday",
        arguments: [
            ("2026-05-04T04:00:00Z", "2026-05-04T04:00:00Z", "2026-05-11T04:00:00Z"),
            ("2026-05-04T03:59:59Z", "2026-04-27T04:00:00Z", "2026-05-04T04:00:00Z"),
            ("2026-03-08T12:00:00Z", "2026-03-02T05:00:00Z", "2026-03-09T04:00:00Z"),
        ])
    func weeks(_ moment: String, _ start: String, _ end: String) {
        #expect(NewYork2026().week(containing: at(moment)) == at(start)..<at(end))
    }

    @Test func weeksInARowAcrossAClockChange() {
        let starts = NewYork2026().weekStarts(upTo: at("2026-03-10T15:00:00Z"), count: 3)
        #expect(starts == [at("2026-02-23T05:00:00Z"), at("2026-03-02T05:00:00Z"), at("2026-03-09T04:00:00Z")])
    }

    @Test(
        "an age is counted by whole years on the local day",
        arguments: [
            ("2014-05-06", "2027-05-05", 12), ("2014-05-06", "2027-05-06", 13), ("2014-05-06", "2026-12-31", 12),
            ("2016-02-29", "2029-02-28", 12), ("2016-02-29", "2029-03-01", 13), ("2016-02-29", "2028-02-29", 12),
            ("2030-01-01", "2026-01-01", 0), ("2026-01-01", "2026-01-01", 0),
        ])
    func age(_ birth: String, _ today: String, _ expected: Int) {
        #expect(day(birth).age(on: day(today)) == expected)
        #expect(day(birth).isUnder13(on: day(today)) == (expected < 13))
    }

    @Test(
        "of a date of birth the date part counts, not the zone",
        arguments: [
            "2014-05-06", "2014-05-06T00:00:00Z", "2014-05-06T23:59:59-11:00", "2014-05-06T00:00:00.000+14:00",
        ])
    func datePart(_ text: String) {
        #expect(CivilDate(datePartOf: text) == CivilDate(year: 2014, month: 5, day: 6))
    }

    @Test(arguments: ["", "2014-02-29", "2014-5-6", "2014-05-061", "14-05-06", "0000-01-01"])
    func refuses(_ text: String) { #expect(CivilDate(datePartOf: text) == nil) }
}

@Suite struct NagLimitTests {
    @Test func theNinthNagOfADayIsRefused() throws {
        #expect(NagLimit.denialOfCreation(sentToday: 7, policy: .standard) == nil)
        #expect(NagLimit.denialOfCreation(sentToday: 8, policy: .standard) == .dailyCapReached)
        #expect(NagLimit.denialOfCreation(sentToday: 1, policy: try FamilyPolicy(dailyNagCap: 1)) == .dailyCapReached)
    }

    @Test func theFiftyFirstNoteOfADayIsRefused() {
        #expect(NagLimit.denialOfNote(addedToday: 49) == nil)
        #expect(NagLimit.denialOfNote(addedToday: 50) == .dailyNoteLimitReached)
    }

    @Test func theFiftyFirstExcuseOfADayIsRefused() {
        #expect(NagLimit.denialOfExcuse(submittedToday: 49) == nil)
        #expect(NagLimit.denialOfExcuse(submittedToday: 50) == .dailyExcuseLimitReached)
    }

    @Test func theFiftyFirstMemberAndTheFiftyFirstAccountOfADayAreRefused() {
        #expect(FamilyLimit.denialOfMember(active: 49) == nil)
        #expect(FamilyLimit.denialOfMember(active: 50) == .familyFull)
        #expect(FamilyLimit.denialOfAccount(madeWithinDay: 49) == nil)
        #expect(FamilyLimit.denialOfAccount(madeWithinDay: 50) == .dailyAccountLimitReached)
    }

    static let snoozesCases: [(String, String, SnoozeAllowance?, Denial?)] = [
        ("11:00:00", "12:30:00", nil, nil), ("11:00:00", "12:30:01", nil, .snoozeTooLong),
        ("11:00:00", "12:00:00", nil, .snoozeNotLater), ("11:00:00", "11:59:00", nil, .snoozeNotLater),
        ("14:00:00", "14:30:00", nil, nil), ("14:00:00", "14:30:01", nil, .snoozeTooLong),
        ("14:00:00", "14:00:00", nil, .snoozeNotLater),
        ("11:00:00", "12:10:00", SnoozeAllowance(isAllowed: true, perDay: 2, usedToday: 1), nil),
        ("11:00:00", "12:10:00", SnoozeAllowance(isAllowed: true, perDay: 2, usedToday: 2), .dailySnoozeLimitReached),
        ("11:00:00", "12:10:00", SnoozeAllowance(isAllowed: false, perDay: 2, usedToday: 0), .snoozeNotAllowed),
    ]

    @Test("a snooze is allowed within the policy's minutes and the child's allowance", arguments: snoozesCases)
    func snoozes(_ now: String, _ target: String, _ allowance: SnoozeAllowance?, _ expected: Denial?) {
        let denial = NagLimit.denialOfSnooze(
            from: at("2026-05-05T12:00:00Z"), to: at("2026-05-05T\(target)Z"), now: at("2026-05-05T\(now)Z"),
            policy: .standard, allowance: allowance)
        #expect(denial == expected)
    }
}
