/// A reason why a model gave no usable answer.
public enum ModelFault: Error, Hashable, Sendable {
    /// The provider was not asked.
    case unavailable(UnavailabilityReason)
    /// No connection to the provider could be opened.
    case unreachable
    case timedOut
    /// The provider responded with an error status that has no case of its own.
    case failed(status: Int)
    /// The answer was empty, cut off, too large, or not in the requested form.
    case unreadable
    /// The prompt was longer than the model's context, or the answer longer than allowed.
    case tooLong
    case keyRefused
    /// The provider limits requests.
    /// - Parameter seconds: the time that it asks to wait; nil if it names none.
    case limited(seconds: Int?)
    /// The provider withheld the answer because of its content.
    case refused
    /// The request was cancelled because the person no longer waits.
    case cancelled

    /// Returns the code for the person who asked.
    public func code(at reach: Reach) -> ExecutionCode { reach == .thirdParty ? cloudCode : localCode }

    private var localCode: ExecutionCode {
        switch self {
        case .unavailable, .unreachable: .localUnavailable
        case .failed, .unreadable, .keyRefused, .limited, .refused, .cancelled: .localFailed
        case .tooLong: .localTooLong
        case .timedOut: .localTooSlow
        }
    }

    private var cloudCode: ExecutionCode {
        switch self {
        case .unavailable(.notConfigured): .cloudNotConfigured
        case .unavailable(.keyRefused), .keyRefused: .cloudKeyRefused
        case .unavailable(.limited), .limited: .cloudLimited
        case .unavailable, .unreachable, .timedOut, .failed, .unreadable, .cancelled: .cloudUnavailable
        case .tooLong: .cloudTooLong
        case .refused: .cloudOutputRefused
        }
    }
}

/// Whether a provider can be asked.
public enum Availability: Hashable, Sendable {
    case available
    case unavailable(UnavailabilityReason)
}

/// A reason why a provider cannot be asked.
public enum UnavailabilityReason: String, Sendable, CaseIterable {
    /// A setting or a key that the provider needs is missing or unusable.
    case notConfigured = "not_configured"
    /// The provider does not run on this platform, or cannot answer in the requested form.
    case unsupported
    case unreachable
    case timedOut = "timed_out"
    /// The check whether it can be asked failed for another reason.
    case failed
    /// The provider's list of models does not contain the configured one.
    case unknownModel = "unknown_model"
    case keyRefused = "key_refused"
    /// The provider limits requests, and the time that it asks to wait is not over.
    case limited
    /// The provider failed several times in a row, and is not asked for a while.
    case paused
    /// Too many other questions are waiting for the provider.
    case busy
}
