/// The counts that decide which badges a person has earned in a family.
public struct BadgeFacts: Hashable, Sendable {
    /// Completions of all time, late ones too.
    public var completions: Int
    public var streak: Int
    /// Nags due in the local week (Monday to Sunday) that is judged. Judge a week once it is over: until then a nag
    /// may still be added to it.
    public var dueInWeek: Int
    /// Those of them that were completed on time.
    public var onTimeInWeek: Int

    public init(completions: Int, streak: Int, dueInWeek: Int = 0, onTimeInWeek: Int = 0) {
        self.completions = completions
        self.streak = streak
        self.dueInWeek = dueInWeek
        self.onTimeInWeek = onTimeInWeek
    }
}

extension BadgeType {
    /// Whether these counts reach the badge.
    public func isReached(by facts: BadgeFacts) -> Bool {
        switch self {
        case .firstCompletion: facts.completions >= 1
        case .streak3: facts.streak >= 3
        case .streak7: facts.streak >= 7
        case .streak30: facts.streak >= 30
        case .perfectWeek: facts.dueInWeek >= 3 && facts.onTimeInWeek == facts.dueInWeek
        case .centuryClub: facts.completions >= 100
        }
    }

    /// The badges to award now, in the order of the contract; each only once.
    public static func newlyEarned(_ facts: BadgeFacts, already: Set<BadgeType>) -> [BadgeType] {
        allCases.filter { !already.contains($0) && $0.isReached(by: facts) }
    }
}
