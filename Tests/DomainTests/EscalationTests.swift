import Domain
import SeededNumbers
import Testing

@Suite struct EscalationTests {
    static let created = at("2026-05-05T08:00:00Z")
    static let due = at("2026-05-05T12:00:00Z")
    let plain = Escalation(cycleStartedAt: created, baseTime: due, quietHours: nil, zone: UniversalTime())

    static let stages: [EscalationStage] = [
        .phase(.initial), .phase(.dueSoon), .phase(.overdueSoft), .phase(.overdueBoundedPushBack),
        .phase(.guardianReview), .missed,
    ]

    @Test func eachPhaseBeginsAtItsMoment() {
        #expect(plain.steps.map(\.stage) == Self.stages)
        #expect(
            plain.steps.map(\.at) == [
                Self.created, at("2026-05-05T11:00:00Z"), at("2026-05-05T12:00:00Z"), at("2026-05-05T13:00:00Z"),
                at("2026-05-05T15:00:00Z"), at("2026-05-06T12:00:00Z"),
            ])
    }

    @Test func quietHoursHoldStepsBackTogether() {
        let held = Escalation(
            cycleStartedAt: Self.created, baseTime: at("2026-05-05T22:30:00Z"), quietHours: .standard,
            zone: UniversalTime())
        #expect(
            held.steps.map(\.at) == [
                Self.created, at("2026-05-05T21:30:00Z"), at("2026-05-06T07:00:00Z"), at("2026-05-06T07:00:00Z"),
                at("2026-05-06T07:00:00Z"), at("2026-05-07T07:00:00Z"),
            ])
        #expect(held.steps.map(\.stage) == Self.stages)
    }

    @Test func aNagMadeLateStartsWhereItIs() {
        let late = Escalation(
            cycleStartedAt: at("2026-05-05T11:45:00Z"), baseTime: Self.due, quietHours: nil, zone: UniversalTime())
        #expect(late.steps.prefix(2).allSatisfy { $0.at == at("2026-05-05T11:45:00Z") })
        #expect(late.steps[2].at == Self.due && late.steps.map(\.at) == late.steps.map(\.at).sorted())
    }

    @Test func theBaseIsTheCommitTimeOnlyOnRequest() {
        let committed = at("2026-05-05T14:00:00Z")
        var preferences = Preferences()
        #expect(Escalation.baseTime(dueAt: Self.due, committedAt: committed, preferences: preferences) == Self.due)
        preferences.usesCommitTimeForEscalation = true
        #expect(Escalation.baseTime(dueAt: Self.due, committedAt: committed, preferences: preferences) == committed)
        #expect(Escalation.baseTime(dueAt: Self.due, committedAt: nil, preferences: preferences) == Self.due)
    }

    @Test(
        "an escalation plan is in order and within a year, or refused",
        arguments: [
            ((-60, 0, 60, 180, 1_440, 15), true), ((0, 0, 0, 0, 0, 1), true), ((-30, -60, 60, 180, 1_440, 15), false),
            ((-60, 0, 60, 180, 100, 15), false), ((-60, 0, 60, 180, 600_000, 15), false),
            ((-60, 0, 60, 180, 1_440, 0), false),
        ])
    func plans(_ plan: (Int, Int, Int, Int, Int, Int), _ isValid: Bool) {
        func minutes(_ count: Int) -> Timestamp.Span { .minutes(Int64(count)) }
        let made = EscalationPlan(
            dueSoon: minutes(plan.0), overdueSoft: minutes(plan.1), overduePushBack: minutes(plan.2),
            guardianReview: minutes(plan.3), missed: minutes(plan.4), reminderInterval: minutes(plan.5))
        #expect((made != nil) == isValid)
    }

    @Test("a step replaces a notification within five seconds, and sooner where the reminders follow each other faster")
    func replacementLead() throws {
        #expect(EscalationPlan.standard.replacementLead == .seconds(5))
        let quick = try #require(
            EscalationPlan(
                dueSoon: .seconds(-2), overdueSoft: .seconds(0), overduePushBack: .seconds(2),
                guardianReview: .seconds(4), missed: .seconds(6), reminderInterval: .seconds(9)))
        #expect(quick.replacementLead == .milliseconds(50))
    }

    @Test func aStepFollowsTheOneTakenWhateverTimeItIs() {
        #expect(plain.step(after: .phase(.initial)) == plain.steps[1])
        #expect(plain.step(after: .phase(.guardianReview))?.stage == .missed)
        #expect(plain.step(after: .missed) == nil)
    }

    @Test("no step of an escalation is due before the earliest moment", arguments: EscalationPhase.allCases)
    func earliestStep(_ phase: EscalationPhase) {
        #expect(EscalationPhase(number: phase.number) == phase && EscalationPhase(number: 5) == nil)
        for committed in [nil, Self.due - .minutes(30), Self.due + .hours(2)] {
            let earliest = EscalationPlan.standard.earliestStepTime(
                after: phase, dueAt: Self.due, committedAt: committed)
            for base in [Self.due, committed ?? Self.due] {
                for hours in [nil, QuietHours.standard] {
                    let steps = Escalation(
                        cycleStartedAt: Self.created, baseTime: base, quietHours: hours, zone: UniversalTime())
                    #expect(steps.step(after: .phase(phase))?.at ?? .epoch >= earliest)
                }
            }
        }
    }

    static let remindersCases: [(String?, String, String?, String)] = [
        (nil, "2026-05-05T10:00:00Z", nil, "2026-05-05T12:00:00Z"),
        (nil, "2026-05-05T12:05:00Z", nil, "2026-05-05T12:05:00Z"),
        ("2026-05-05T12:00:00Z", "2026-05-05T12:05:00Z", nil, "2026-05-05T12:15:00Z"),
        ("2026-05-05T12:00:00Z", "2026-05-05T18:00:00Z", nil, "2026-05-05T18:00:00Z"),
        ("2026-05-05T12:00:00Z", "2026-05-05T12:05:00Z", "2026-05-05T12:40:00Z", "2026-05-05T12:40:00Z"),
        ("2026-05-05T21:50:00Z", "2026-05-05T21:55:00Z", nil, "2026-05-06T07:00:00Z"),
    ]

    @Test("the next reminder follows from the last one, quiet hours and snooze", arguments: remindersCases)
    func reminders(_ last: String?, _ now: String, _ snoozed: String?, _ expected: String) {
        let quiet = Escalation(
            cycleStartedAt: Self.created, baseTime: Self.due, quietHours: .standard, zone: UniversalTime())
        #expect(
            quiet.nextReminder(after: last.map(at), now: at(now), snoozedUntil: snoozed.map(at)) == at(expected))
    }

    @Test func remindersEndWithTheMiss() {
        #expect(plain.nextReminder(after: nil, now: at("2026-05-06T12:00:00Z"), snoozedUntil: nil) == nil)
    }

    @Test func randomStepsNeverGoBackNorFallIntoQuietHours() {
        var random = SeededNumbers(seed: 3)
        let zone = NewYork2026()
        for _ in 0..<2_000 {
            let hours = QuietHours(
                start: TimeOfDay(secondsSinceMidnight: Int.random(in: 0..<86_400, using: &random)) ?? .midnight,
                end: TimeOfDay(secondsSinceMidnight: Int.random(in: 0..<86_400, using: &random)) ?? .midnight)
            let created = NewYork2026.spring + .seconds(Int64.random(in: -200_000...200_000, using: &random))
            let base = created + .seconds(Int64.random(in: 1...200_000, using: &random))
            let escalation = Escalation(cycleStartedAt: created, baseTime: base, quietHours: hours, zone: zone)
            #expect(escalation.steps.count == 6)
            for (step, following) in zip(escalation.steps, escalation.steps.dropFirst()) {
                #expect(step.at <= following.at)
                #expect(!hours.contains(following.at, in: zone))
            }
        }
    }
}
