/// The code for the reason why a question got no answer, in `details.error_code` and in the history. A code MUST NOT
/// change its meaning.
///
/// The cases `local…` mean the device itself, or a model on it or of the server. The cases `cloud…` mean a third
/// party's model with the person's own key.
public enum ExecutionCode: String, Sendable, CaseIterable {
    /// No model that the person's AI mode allows can answer, or the device lacks the facts.
    case localUnavailable = "E-LOCAL-001"
    /// The model responded with an error, or its answer could not be used.
    case localFailed = "E-LOCAL-002"
    /// The prompt or the answer was too long.
    case localTooLong = "E-LOCAL-003"
    /// The model did not answer in time.
    case localTooSlow = "E-LOCAL-004"
    /// The person has no such key, or their AI mode uses none.
    case cloudNotConfigured = "E-CLOUD-001"
    /// The provider could not be reached, did not answer in time, or gave no usable answer.
    case cloudUnavailable = "E-CLOUD-002"
    /// The prompt or the answer was too long.
    case cloudTooLong = "E-CLOUD-003"
    /// The provider refused the person's key.
    case cloudKeyRefused = "E-CLOUD-004"
    /// The provider limits requests.
    case cloudLimited = "E-CLOUD-005"
    /// The provider withheld the answer because of its content.
    case cloudOutputRefused = "E-CLOUD-006"
    /// The server would have to answer, but it cannot be reached or its network is degraded.
    case networkUnavailable = "E-NET-001"
    /// A constraint, the family's policy or the person's role forbids it.
    case blocked = "E-POLICY-001"
    /// A constraint requires that the person confirms the question first.
    case confirmationNeeded = "E-POLICY-002"
    /// The confirmation is wrong, was used before, or has expired.
    case confirmationInvalid = "E-POLICY-003"
    /// A question that must stay on the device has reached the server.
    case localQuestion = "E-PRIVACY-001"
    /// The task type is missing or unknown.
    case taskUnknown = "E-TASK-001"
    /// The operation, or the person's AI mode, has no answer of the requested task type.
    case taskUnavailable = "E-TASK-002"
    /// The device could not answer, and the person must confirm that the server may.
    case fallbackNeedsConfirmation = "E-FALLBACK-001"
    /// The AI session has ended.
    case sessionEnded = "E-SESSION-001"
    /// The person declined the confirmation.
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
