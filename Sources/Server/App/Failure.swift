import Contract
import HTTP
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

extension Log {
    /// Writes the cause of a failed request; nothing for a refusal, which is expected.
    func write(_ failure: Failure, _ request: Request) {
        guard let cause = failure.cause else { return }
        let isFault = failure.answer.status >= 500 && failure.answer.status != 503
        // A client that disconnects cancels its request: that is no fault of the server.
        write(Task.isCancelled ? .info : isFault ? .error : .warning, "request_failed") {
            $0.field("request_id", request.id.description)
            $0.field("trace_id", request.trace.traceID)
            $0.field("route", request.route?.template)
            $0.field("status", failure.answer.status)
            $0.field("cause", cause)
        }
    }
}
