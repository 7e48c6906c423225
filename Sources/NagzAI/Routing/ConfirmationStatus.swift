/// Whether a person confirmed a question that needed a confirmation.
public enum ConfirmationStatus: String, Sendable, CaseIterable {
    case yes, no
    /// No confirmation was needed, or the person has not decided yet.
    case none
}
