/// A reason for which a model gave no answer that could be used.
public enum ModelFault: Error, Hashable, Sendable {
    /// The provider was not asked.
    case unavailable(UnavailabilityReason)
    /// No connection to the provider could be opened.
    case unreachable
    case timedOut
    /// The provider responded with an error status that has no case of its own.
    case failed(status: Int)
    /// The answer was cut off, too large, or not in the requested form.
    case unreadable
    /// The prompt was longer than the model reads, or the answer longer than was allowed.
    case tooLong
    case keyRefused
    /// - Parameter seconds: how long it asks to wait, if it says so.
    case limited(seconds: Int?)
    /// The provider withheld the answer because of its content.
    case refused
    /// The person who asked has gone.
    case cancelled

    /// The code for the person who asked.
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

/// A reason for which a provider cannot be asked.
public enum UnavailabilityReason: String, Sendable, CaseIterable {
    case notConfigured = "not_configured"
    /// The provider does not run on this platform.
    case unsupported
    case unreachable
    case timedOut = "timed_out"
    case failed
    /// The provider's list of models does not contain the configured one.
    case unknownModel = "unknown_model"
    case keyRefused = "key_refused"
    case limited
    /// The provider failed several times in a row, and is not asked for a while.
    case paused
    /// Too many other questions wait for the provider.
    case busy
}
