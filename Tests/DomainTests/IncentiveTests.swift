import Domain
import Testing

@Suite("Conditions of incentive rules")
struct IncentiveTests {
    private static func terms(
        _ trigger: IncentiveTrigger, _ count: Int, _ reward: IncentiveReward = .bonusPoints
    ) -> IncentiveTerms {
        IncentiveTerms(trigger: trigger, count: count, reward: reward, amount: 7, approvalMode: .auto)
    }

    @Test("a rule of completions applies to each whose number is a multiple of the count", arguments: [1, 3, 100])
    func completions(count: Int) {
        for number in 0...300 {
            let applies = Self.terms(.nagCompleted, count).applies(
                completions: number, streaks: (0, 0), badges: [])
            #expect(applies == (number > 0 && number % count == 0), "\(number)")
        }
    }

    @Test(
        "a rule of streaks applies to the completion that reaches the streak",
        arguments: [
            (0, 1, false), (1, 2, false), (2, 3, true), (3, 4, false), (3, 3, false), (5, 6, false), (0, 0, false),
        ])
    func streaks(before: Int, after: Int, applies: Bool) {
        #expect(
            Self.terms(.streakReached, 3).applies(completions: 9, streaks: (before, after), badges: []) == applies)
    }

    @Test("a rule of badges applies only to somebody without one, and gives no points")
    func badge() {
        let terms = Self.terms(.nagCompleted, 1, .badge)
        #expect(terms.applies(completions: 1, streaks: (0, 1), badges: [.centuryClub]) && terms.points == 0)
        #expect(!terms.applies(completions: 1, streaks: (0, 1), badges: [.familyAward]))
        #expect(Self.terms(.nagCompleted, 1).applies(completions: 1, streaks: (0, 1), badges: [.familyAward]))
        #expect(!BadgeType.familyAward.isReached(by: BadgeFacts(completions: 1_000, streak: 100)))
    }
}
