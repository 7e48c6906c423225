/// The counts that decide which badges a person earns in a family.
public struct BadgeFacts: Hashable, Sendable {
    /// Completions of all time, including late ones.
    public var completions: Int
    public var streak: Int
    /// Nags due in the local week (Monday to Sunday) in question. Evaluate a week after its end: until then a nag may
    /// be added to it.
    public var dueInWeek: Int
    /// Nags of that week that were completed on time.
    public var onTimeInWeek: Int

    public init(completions: Int, streak: Int, dueInWeek: Int = 0, onTimeInWeek: Int = 0) {
        self.completions = completions
        self.streak = streak
        self.dueInWeek = dueInWeek
        self.onTimeInWeek = onTimeInWeek
    }
}

extension BadgeType {
    /// The badges that clients know.
    public static let listed = allCases.filter { $0 != .familyAward }

    /// Whether these counts earn the badge.
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

    /// The badges to award now, in the contract's order, without those earned already.
    public static func newlyEarned(_ facts: BadgeFacts, already: Set<BadgeType>) -> [BadgeType] {
        allCases.filter { !already.contains($0) && $0.isReached(by: facts) }
    }
}
