/// A family's settings for all its members; personal preferences do not override them.
public struct FamilyPolicy: Hashable, Sendable {
    /// The maximum number of nags that one creator may send on one local day of the family, 1…8.
    public private(set) var dailyNagCap: Int
    /// The maximum number of minutes by which one snooze may postpone the due time, 5…120.
    public private(set) var maxSnoozeMinutes: Int
    /// The factor for points, 0.1…3.0.
    public private(set) var pointsMultiplier: Double
    /// The maximum number of push-backs on a nag since its due cycle began: since its creation, or since an edit last
    /// moved its due time, 0…3.
    public private(set) var maxPushBacksPerNag: Int
    /// The minimum number of minutes between two push-backs on a nag, 15…240.
    public private(set) var pushBackCooldownMinutes: Int
    /// Whether adults may send questions to models of third parties, with their own keys.
    public private(set) var allowsThirdPartyModels: Bool

    public static let dailyNagCapRange = 1...8
    public static let maxSnoozeMinutesRange = 5...120
    public static let pointsMultiplierRange = 0.1...3.0
    public static let maxPushBacksPerNagRange = 0...3
    public static let pushBackCooldownMinutesRange = 15...240

    /// The policy of a new family.
    public static let standard = FamilyPolicy()

    private init() {
        dailyNagCap = 8
        maxSnoozeMinutes = 30
        pointsMultiplier = 1
        maxPushBacksPerNag = 2
        pushBackCooldownMinutes = 60
        allowsThirdPartyModels = false
    }

    /// Creates a policy of the given values, with the standard ones for nil.
    /// - Throws: a violation for the first value out of range.
    public init(
        dailyNagCap: Int? = nil, maxSnoozeMinutes: Int? = nil, pointsMultiplier: Double? = nil,
        maxPushBacksPerNag: Int? = nil, pushBackCooldownMinutes: Int? = nil, allowsThirdPartyModels: Bool? = nil
    ) throws(PolicyViolation) {
        self.init()
        self.dailyNagCap = try dailyNagCap.checked(.dailyNagCap, Self.dailyNagCapRange) ?? self.dailyNagCap
        self.maxSnoozeMinutes =
            try maxSnoozeMinutes.checked(.maxSnoozeMinutes, Self.maxSnoozeMinutesRange) ?? self.maxSnoozeMinutes
        self.pointsMultiplier =
            try pointsMultiplier.checked(.pointsMultiplier, Self.pointsMultiplierRange) ?? self.pointsMultiplier
        self.maxPushBacksPerNag =
            try maxPushBacksPerNag.checked(.maxPushBacksPerNag, Self.maxPushBacksPerNagRange) ?? self.maxPushBacksPerNag
        self.pushBackCooldownMinutes =
            try pushBackCooldownMinutes.checked(.pushBackCooldownMinutes, Self.pushBackCooldownMinutesRange)
            ?? self.pushBackCooldownMinutes
        self.allowsThirdPartyModels = allowsThirdPartyModels ?? self.allowsThirdPartyModels
    }
}

extension FamilyPolicy {
    /// Returns whether any value allows more than another policy does: more nags, longer snoozes, more points, more or
    /// sooner push-backs, or third parties.
    public func widens(_ other: FamilyPolicy) -> Bool {
        dailyNagCap > other.dailyNagCap || maxSnoozeMinutes > other.maxSnoozeMinutes
            || pointsMultiplier > other.pointsMultiplier || maxPushBacksPerNag > other.maxPushBacksPerNag
            || pushBackCooldownMinutes < other.pushBackCooldownMinutes
            || allowsThirdPartyModels && !other.allowsThirdPartyModels
    }

    /// Returns a value as text, such as `8` or `1.5`.
    public func text(_ field: PolicyViolation.Field) -> String {
        switch field {
        case .dailyNagCap: "\(dailyNagCap)"
        case .maxSnoozeMinutes: "\(maxSnoozeMinutes)"
        case .pointsMultiplier: "\(pointsMultiplier)"
        case .maxPushBacksPerNag: "\(maxPushBacksPerNag)"
        case .pushBackCooldownMinutes: "\(pushBackCooldownMinutes)"
        case .thirdPartyModels: "\(allowsThirdPartyModels)"
        }
    }
}

/// A policy value out of range.
public struct PolicyViolation: Error, Hashable, Sendable {
    /// The name of the value in the policy's `constraints`.
    public enum Field: String, Sendable, CaseIterable {
        case dailyNagCap = "daily_nag_cap"
        case maxSnoozeMinutes = "max_snooze_minutes"
        case pointsMultiplier = "points_multiplier"
        case maxPushBacksPerNag = "max_pushback"
        case pushBackCooldownMinutes = "pushback_cooldown_minutes"
        case thirdPartyModels = "third_party_models"
    }

    public let field: Field
    /// The sentence for the user: `The daily nag cap must be between 1 and 8.`
    public let message: String
}

extension Optional where Wrapped: Comparable {
    fileprivate func checked(
        _ field: PolicyViolation.Field, _ range: ClosedRange<Wrapped>
    ) throws(PolicyViolation) -> Wrapped? {
        guard let value = self else { return nil }
        guard range.contains(value) else {
            let words = field.rawValue.replacing("_", with: " ")
            throw PolicyViolation(
                field: field,
                message: "The \(words) must be between \(range.lowerBound) and \(range.upperBound).")
        }
        return value
    }
}
