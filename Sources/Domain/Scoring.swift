/// How a nag ended, as far as points go.
public enum Punctuality: String, Sendable, CaseIterable {
    case onTime = "on_time"
    case late, missed

    /// On time up to and at the due moment itself.
    public init(completedAt: Timestamp, dueAt: Timestamp) {
        self = completedAt <= dueAt ? .onTime : .late
    }

    /// Points before the family's multiplier.
    public var basePoints: Int {
        switch self {
        case .onTime: 10
        case .late: 4
        case .missed: 0
        }
    }
}

/// What one ended nag changes in a person's points and streak.
public struct Score: Hashable, Sendable {
    public let points: Int
    public let streakDelta: Int

    /// Points are base × multiplier, rounded half away from zero. A completion on time lengthens the streak by one, a
    /// late one leaves it, a miss takes all of it.
    ///
    /// The multiplier counts in thousandths and the rest is integer arithmetic, so 0.35 × 10 is 4 everywhere. Outside
    /// the policy's range it is brought into it.
    public init(_ outcome: Punctuality, multiplier: Double, currentStreak: Int) {
        let range = FamilyPolicy.pointsMultiplierRange
        let bounded = multiplier.isNaN ? 1 : min(max(multiplier, range.lowerBound), range.upperBound)
        // Positive, so adding a half and cutting off rounds, without the C library's `round`.
        let thousandths = Int(bounded * 1_000 + 0.5)
        points = (outcome.basePoints * thousandths + 500) / 1_000
        streakDelta =
            switch outcome {
            case .onTime: 1
            case .late: 0
            case .missed: -max(0, currentStreak)
            }
    }

    /// The streak that stands in a row of events: the sum of their deltas, never below 0.
    public static func streak(summing deltas: some Sequence<Int>) -> Int {
        max(0, deltas.reduce(0) { $0.addingReportingOverflow($1).partialValue })
    }
}
