/// The punctuality of a nag's end, which decides its points.
public enum Punctuality: String, Sendable, CaseIterable {
    case onTime = "on_time"
    case late, missed

    /// A completion exactly at the due time is on time.
    public init(completedAt: Timestamp, dueAt: Timestamp) {
        self = completedAt <= dueAt ? .onTime : .late
    }

    /// The points before the family's multiplier is applied.
    public var basePoints: Int {
        switch self {
        case .onTime: 10
        case .late: 4
        case .missed: 0
        }
    }
}

/// The change of a person's points and streak when a nag ends.
public struct Score: Hashable, Sendable {
    public let points: Int
    /// The change of the streak: negative for a miss.
    public let streakDelta: Int

    /// Calculates the points and the change of the streak. Points are base × multiplier, rounded half up. A completion
    /// on time adds one to the streak, a late one does not change it, a miss resets it.
    ///
    /// The multiplier is rounded to thousandths, and the calculation continues with integers, so 0.35 × 10 is 4 on
    /// every platform. A multiplier out of the policy's range is clamped to it; one that is not a number counts as 1.
    /// - Parameter givesPoints: whether the person gets points. Their streak changes in any case.
    public init(_ outcome: Punctuality, multiplier: Double, currentStreak: Int, givesPoints: Bool = true) {
        let range = FamilyPolicy.pointsMultiplierRange
        let clamped = multiplier.isNaN ? 1 : min(max(multiplier, range.lowerBound), range.upperBound)
        // The value is positive, so adding a half and truncating rounds it.
        let thousandths = Int(clamped * 1_000 + 0.5)
        points = givesPoints ? (outcome.basePoints * thousandths + 500) / 1_000 : 0
        streakDelta =
            switch outcome {
            case .onTime: 1
            case .late: 0
            case .missed: -max(0, currentStreak)
            }
    }
}
