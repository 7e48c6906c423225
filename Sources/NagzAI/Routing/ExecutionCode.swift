/// The code for the reason why a question got no answer, in `details.error_code` and in the history. A code MUST NOT
/// change its meaning.
public enum ExecutionCode: String, Sendable, CaseIterable {
    case localUnavailable = "E-LOCAL-001"
    case localFailed = "E-LOCAL-002"
    case localTooLong = "E-LOCAL-003"
    case localTooSlow = "E-LOCAL-004"
    case cloudNotConfigured = "E-CLOUD-001"
    case cloudUnavailable = "E-CLOUD-002"
    case cloudTooLong = "E-CLOUD-003"
    case cloudKeyRefused = "E-CLOUD-004"
    case cloudLimited = "E-CLOUD-005"
    case cloudOutputRefused = "E-CLOUD-006"
    case networkUnavailable = "E-NET-001"
    /// A constraint, the family's policy or the person's role forbids it.
    case blocked = "E-POLICY-001"
    case confirmationNeeded = "E-POLICY-002"
    /// The confirmation is wrong, was used before, or has expired.
    case confirmationInvalid = "E-POLICY-003"
    /// A question that must stay on the device has reached the server.
    case localQuestion = "E-PRIVACY-001"
    /// The task type is missing or unknown.
    case taskUnknown = "E-TASK-001"
    case taskUnavailable = "E-TASK-002"
    case fallbackNeedsConfirmation = "E-FALLBACK-001"
    case sessionEnded = "E-SESSION-001"
    case cancelled = "E-CANCEL-001"
    /// The question's ID was used for another question, or with other settings.
    case questionReused = "E-QUESTION-001"
    /// The routing rule that the client names cannot have sent the question to the server.
    case claimImplausible = "E-QUESTION-002"

    /// Whether the person may still get an answer: by waiting, confirming, or asking again.
    public var isRecoverable: Bool {
        switch self {
        case .localUnavailable, .localFailed, .localTooLong, .localTooSlow, .cloudUnavailable, .cloudLimited,
            .networkUnavailable, .confirmationNeeded, .confirmationInvalid, .fallbackNeedsConfirmation, .sessionEnded:
            true
        case .cloudNotConfigured, .cloudTooLong, .cloudKeyRefused, .cloudOutputRefused, .blocked, .localQuestion,
            .taskUnknown, .taskUnavailable, .cancelled, .questionReused, .claimImplausible:
            false
        }
    }
}
