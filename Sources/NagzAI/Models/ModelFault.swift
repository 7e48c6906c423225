/// Why a model gave no answer that could be used.
public enum ModelFault: Error, Hashable, Sendable {
    /// It was not asked.
    case unavailable(UnavailabilityReason)
    /// There is no connection to it.
    case unreachable
    case timedOut
    /// It answered with a status that says no more than that it failed.
    case failed(status: Int)
    /// Its answer was cut, too large, or not in the form that was asked for.
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

    /// The code in `details.error_code`.
    public func code(at reach: Reach) -> String {
        reach == .thirdParty ? "E-CLOUD-00\(cloudNumber)" : "E-LOCAL-00\(localNumber)"
    }

    /// Whether the same request may succeed later without anybody changing something.
    public func isRecoverable(at reach: Reach) -> Bool {
        reach != .thirdParty || cloudNumber == 2 || cloudNumber == 5
    }

    private var localNumber: Int {
        switch self {
        case .unavailable, .unreachable: 1
        case .failed, .unreadable, .keyRefused, .limited, .refused, .cancelled: 2
        case .tooLong: 3
        case .timedOut: 4
        }
    }

    private var cloudNumber: Int {
        switch self {
        case .unavailable(.notConfigured): 1
        case .unavailable(.keyRefused), .keyRefused: 4
        case .unavailable(.limited), .limited: 5
        case .unavailable, .unreachable, .timedOut, .failed, .unreadable, .cancelled: 2
        case .tooLong: 3
        case .refused: 6
        }
    }
}

/// Whether a provider can be asked.
public enum Availability: Hashable, Sendable {
    case available
    case unavailable(UnavailabilityReason)
}

/// Why a provider cannot be asked.
public enum UnavailabilityReason: String, Sendable, CaseIterable {
    case notConfigured = "not_configured"
    /// Its platform is another one.
    case unsupported
    case unreachable
    case timedOut = "timed_out"
    case failed
    /// Its list of models does not have the configured one.
    case unknownModel = "unknown_model"
    case keyRefused = "key_refused"
    case limited
    /// It failed several times in a row and is left alone for a while.
    case paused
}
