/// The condition under which an incentive rule takes effect.
public enum IncentiveTrigger: String, Sendable, CaseIterable {
    /// A completion with which the number of the recipient's completions becomes a multiple of the rule's count. All
    /// their scored completions in the family count, also late ones and those from before the rule.
    case nagCompleted = "nag_completed"
    /// The completion on time with which the recipient's streak reaches the rule's count. It can be reached again after
    /// a miss.
    case streakReached = "streak_reached"
}

/// The reward of an incentive rule.
public enum IncentiveReward: String, Sendable, CaseIterable {
    /// The rule's amount of points; the family's multiplier does not change it.
    case bonusPoints = "bonus_points"
    /// The family's reward. A person gets it once, because it is stored as the badge `family_award`, and badges are
    /// permanent and unique. The rule's amount is ignored.
    case badge
}

/// Whether a reward is given at once or after a guardian has confirmed it.
public enum IncentiveApprovalMode: String, Sendable, CaseIterable {
    case auto
    case guardianConfirmed = "guardian_confirmed"
}

/// Whether a rule takes effect. Guardians retire a rule to stop it, and may activate it again.
public enum IncentiveRuleStatus: String, Sendable, CaseIterable { case active, retired }

/// The terms of an incentive rule, without its ID and version.
public struct IncentiveTerms: Hashable, Sendable {
    /// The allowed values of `count`.
    public static let countRange = 1...100
    /// The allowed values of `amount`.
    public static let amountRange = 1...1_000
    /// The maximum number of active rules of a family, all of which every completion reads.
    public static let maxActiveRulesPerFamily = 20

    public var trigger: IncentiveTrigger
    /// The number of completions, or the length of the streak, within `countRange`.
    public var count: Int
    public var reward: IncentiveReward
    /// The number of points of `bonusPoints`, within `amountRange`.
    public var amount: Int
    public var approvalMode: IncentiveApprovalMode

    public init(
        trigger: IncentiveTrigger, count: Int, reward: IncentiveReward, amount: Int,
        approvalMode: IncentiveApprovalMode
    ) {
        self.trigger = trigger
        self.count = count
        self.reward = reward
        self.amount = amount
        self.approvalMode = approvalMode
    }

    /// Returns whether a completion makes the rule take effect.
    /// - Parameters:
    ///   - completions: the number of the recipient's completions, including this one.
    ///   - streaks: the recipient's streak before and after it.
    ///   - badges: the recipient's badges before it. Nobody gets the family's award twice.
    public func applies(
        completions: Int, streaks: (before: Int, after: Int), badges: Set<BadgeType>
    ) -> Bool {
        if reward == .badge, badges.contains(.familyAward) { return false }
        return switch trigger {
        case .nagCompleted: completions > 0 && completions.isMultiple(of: max(1, count))
        case .streakReached: streaks.before < count && streaks.after >= count
        }
    }

    /// The points that the reward gives; 0 for the family's reward.
    public var points: Int { reward == .bonusPoints ? amount : 0 }

    /// Returns the reason why a family may not have one more active rule; nil when it may.
    public static func denialOfRule(active: Int) -> Denial? {
        active >= maxActiveRulesPerFamily ? .incentiveLimitReached : nil
    }
}
