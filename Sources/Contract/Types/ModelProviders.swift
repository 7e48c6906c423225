import JSON
import NagzAI

extension ModelProviderItem {
    public var isAvailable: Bool { reason == nil }

    /// The values of `reason` that are no `UnavailabilityReason`.
    public static let notChecked = "not_checked"
    public static let adultsOnly = "adults_only"
    public static let thirdPartiesOff = "third_party_models_off"
}
