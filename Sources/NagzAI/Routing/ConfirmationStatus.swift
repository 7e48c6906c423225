/// Whether a person agreed to what a question needed their agreement for.
public enum ConfirmationStatus: String, Sendable, CaseIterable {
    case yes, no
    /// Nothing was to be agreed to, or nobody has answered yet.
    case none
}
