/// A family's settings for all its members; personal preferences do not override them.
public struct FamilyPolicy: Hashable, Sendable {
    /// The maximum number of nags that one creator may send on one local day of the family, 1…8.
    public private(set) var dailyCap: Int
    /// The maximum number of minutes by which one snooze may postpone the due time, 5…120.
    public private(set) var maxSnoozeMinutes: Int
    /// The factor for points, 0.1…3.0.
    public private(set) var pointsMultiplier: Double
    /// The maximum number of push-backs on a nag since its due cycle began: since its creation, or since an edit last
    /// moved its due time, 0…3.
    public private(set) var maxPushBack: Int
    /// The minimum number of minutes between two push-backs on a nag, 15…240.
    public private(set) var cooldownMinutes: Int
    /// Whether adults may send questions to models of third parties, with their own keys.
    public private(set) var allowsThirdPartyModels: Bool

    public static let dailyCapRange = 1...8
    public static let maxSnoozeMinutesRange = 5...120
    public static let pointsMultiplierRange = 0.1...3.0
    public static let maxPushBackRange = 0...3
    public static let cooldownMinutesRange = 15...240

    /// The policy of a new family.
    public static let standard = FamilyPolicy()

    private init() {
        dailyCap = 8
        maxSnoozeMinutes = 30
        pointsMultiplier = 1
        maxPushBack = 2
        cooldownMinutes = 60
        allowsThirdPartyModels = false
    }

    /// Creates a policy of the given values, with the standard ones for nil.
    /// - Throws: a violation for the first value out of range.
    public init(
        dailyCap: Int? = nil, maxSnoozeMinutes: Int? = nil, pointsMultiplier: Double? = nil, maxPushBack: Int? = nil,
        cooldownMinutes: Int? = nil, allowsThirdPartyModels: Bool? = nil
    ) throws(PolicyViolation) {
        self.init()
        self.dailyCap = try dailyCap.checked(.dailyCap, Self.dailyCapRange) ?? self.dailyCap
        self.maxSnoozeMinutes =
            try maxSnoozeMinutes.checked(.maxSnoozeMinutes, Self.maxSnoozeMinutesRange) ?? self.maxSnoozeMinutes
        self.pointsMultiplier =
            try pointsMultiplier.checked(.pointsMultiplier, Self.pointsMultiplierRange) ?? self.pointsMultiplier
        self.maxPushBack = try maxPushBack.checked(.maxPushBack, Self.maxPushBackRange) ?? self.maxPushBack
        self.cooldownMinutes =
            try cooldownMinutes.checked(.cooldownMinutes, Self.cooldownMinutesRange) ?? self.cooldownMinutes
        self.allowsThirdPartyModels = allowsThirdPartyModels ?? self.allowsThirdPartyModels
    }
}

extension FamilyPolicy {
    /// Returns whether any value allows more than another policy does: more nags, longer snoozes, more points, more or
    /// sooner push-backs, or third parties.
    public func widens(_ other: FamilyPolicy) -> Bool {
        dailyCap > other.dailyCap || maxSnoozeMinutes > other.maxSnoozeMinutes
            || pointsMultiplier > other.pointsMultiplier || maxPushBack > other.maxPushBack
            || cooldownMinutes < other.cooldownMinutes || allowsThirdPartyModels && !other.allowsThirdPartyModels
    }

    /// Returns a value as text, such as `8` or `1.5`.
    public func text(_ field: PolicyViolation.Field) -> String {
        switch field {
        case .dailyCap: "\(dailyCap)"
        case .maxSnoozeMinutes: "\(maxSnoozeMinutes)"
        case .pointsMultiplier: "\(pointsMultiplier)"
        case .maxPushBack: "\(maxPushBack)"
        case .cooldownMinutes: "\(cooldownMinutes)"
        case .thirdPartyModels: "\(allowsThirdPartyModels)"
        }
    }
}

/// A policy value out of range.
public struct PolicyViolation: Error, Hashable, Sendable {
    /// The name of the value in the policy's `constraints`.
    public enum Field: String, Sendable, CaseIterable {
        case dailyCap = "daily_nag_cap"
        case maxSnoozeMinutes = "max_snooze_minutes"
        case pointsMultiplier = "points_multiplier"
        case maxPushBack = "max_pushback"
        case cooldownMinutes = "pushback_cooldown_minutes"
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
