/// Whether a person agreed to what a question needed agreement for.
public enum ConfirmationStatus: String, Sendable, CaseIterable {
    case yes, no
    /// No agreement was needed, or the person has not answered yet.
    case none
}
