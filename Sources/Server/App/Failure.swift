import Contract
import Postgres

/// An error that a feature threw, as an answer for the client and a cause for the log.
struct Failure {
    let answer: APIError
    /// The private cause; nil for refusals, which are expected.
    let cause: String?

    init(_ error: any Error) {
        switch error {
        case let refusal as APIError:
            answer = refusal
            cause = nil
        case let fault as InvalidInput:
            answer = APIError(fault)
            cause = nil
        case let fault as PostgresError:
            answer =
                Self.isTransient(fault)
                ? APIError.serverIsBusy
                : APIError.serverHasFailed
            cause = fault.description
        default:
            answer = APIError.serverHasFailed
            cause = "\(type(of: error)): \(error)"
        }
    }

    /// Returns whether a retry may succeed soon: after overload, a lost connection, a timeout, or a full disk.
    private static func isTransient(_ error: PostgresError) -> Bool {
        switch error {
        case .unavailable, .connectionLost: true
        case .unexpectedShape: false
        // Classes 40 (rollback), 53 (resources) and 57 (operator intervention, timeouts), 25006 (read-only) and
        // 55P03 (lock).
        case .refused(let refusal):
            ["40", "53", "57"].contains(refusal.sqlState.prefix(2)) || ["25006", "55P03"].contains(refusal.sqlState)
        }
    }
}
