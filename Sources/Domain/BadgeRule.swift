/// The counts that decide which badges a person earns in a family.
public struct BadgeFacts: Hashable, Sendable {
    /// The number of all completions so far, including late ones.
    public var completions: Int
    /// The number of completions on time since the last missed nag; late completions do not change it.
    public var streak: Int
    /// The number of nags due in the evaluated local week (Monday to Sunday). A week MUST have ended, because nags can
    /// be added to it until then.
    public var dueInWeek: Int
    /// The number of nags of that week that were completed on time.
    public var onTimeInWeek: Int

    public init(completions: Int, streak: Int, dueInWeek: Int = 0, onTimeInWeek: Int = 0) {
        self.completions = completions
        self.streak = streak
        self.dueInWeek = dueInWeek
        self.onTimeInWeek = onTimeInWeek
    }
}

extension BadgeType {
    /// The badges that clients know and see in lists.
    public static let clientBadges = allCases.filter { $0 != .familyAward }

    /// Returns whether these counts earn the badge.
    public func isReached(by facts: BadgeFacts) -> Bool {
        switch self {
        case .firstCompletion: facts.completions >= 1
        case .streak3: facts.streak >= 3
        case .streak7: facts.streak >= 7
        case .streak30: facts.streak >= 30
        case .perfectWeek: facts.dueInWeek >= 3 && facts.onTimeInWeek == facts.dueInWeek
        case .centuryClub: facts.completions >= 100
        case .familyAward: false
        }
    }

    /// Returns the badges that the counts earn and that the person does not have yet, in the order of the cases.
    public static func newlyEarned(_ facts: BadgeFacts, already earned: Set<BadgeType>) -> [BadgeType] {
        allCases.filter { !earned.contains($0) && $0.isReached(by: facts) }
    }
}
