import Contract
import Domain

/// The refusals that any request may get, and those of the server itself.
extension APIError {
    // MARK: The request

    static let accessTokenIsMissing = APIError(
        .authenticationFailed, "Sign in, and send the access token as Authorization: Bearer.",
        reason: ErrorReason.tokenMissing)
    static let accessTokenIsInvalid = APIError(
        .authenticationFailed, "The access token is not valid. Sign in again.")
    static let authorizationIsRepeated = APIError(.malformedRequest, "Send one Authorization header.")
    static let bodyIsEncoded = APIError(.unsupportedMediaType, "Send the body without a Content-Encoding.")
    static let bodyIsNotJSON = APIError(
        .unsupportedMediaType, "Send the body as JSON, with Content-Type: application/json.")
    static let idempotencyKeyIsInvalid = APIError(
        .validationFailed, "An Idempotency-Key has 1 to 255 visible ASCII characters.", field: "Idempotency-Key")
    static let idempotencyKeyWasUsed = APIError(
        .validationFailed, "This Idempotency-Key was used for another request. Choose another one.",
        field: "Idempotency-Key")
    /// The refusal of a cursor that no page of the list contained.
    static let cursorIsUnknown = APIError(
        .validationFailed, "This cursor is of another list. Begin again without one.", field: "cursor")

    // MARK: Limits

    static func tooManyRequests(retryAfter seconds: Int) -> APIError {
        APIError(
            .rateLimited, "Too many requests. Try again in \(seconds) second\(seconds == 1 ? "" : "s").",
            retryAfter: seconds)
    }
    static let tooManyRequestsAreWaiting = APIError(
        .unavailable, "Too many requests like this are waiting. Try again.", retryAfter: 1)
    static func dailyLimitIsReached(_ limit: DailyLimit, until end: Timestamp, at now: Timestamp) -> APIError {
        APIError(
            .rateLimited, "\(limit.message) Try again after \(end.minuteText).",
            retryAfter: retrySeconds(from: now, to: end))
    }
    static let familyChangesTooFast = APIError(
        .rateLimited, "This family changes faster than it can be followed. Try again in a minute.", retryAfter: 60)
    static let tooManyExportsByPersonOrNetwork = APIError(
        .rateLimited, "Other exports by you or from your network are under way. Try again when one has ended.",
        retryAfter: 10)
    static let tooManyExports = APIError(
        .unavailable, "Too many exports are under way. Try again in 10 seconds.", retryAfter: 10)

    // MARK: The server

    static let serverHasFailed = APIError(.internalError, "Something went wrong on the server. Try again later.")
    static let serverIsBusy = APIError(.unavailable, "The server cannot do this just now. Try again.", retryAfter: 1)
    static let serverIsStopping = APIError(
        .unavailable, "The server is stopping. Try again in 5 seconds.", retryAfter: 5)
    static let noMemoryForAnswer = APIError(
        .unavailable, "The server has no memory for this answer now. Try again.", retryAfter: 1)
    static let clocksDiffer = APIError(
        .unavailable, "The clocks of this server and of the database differ. Try again later.", retryAfter: 30)

    // MARK: Readiness, for operators

    static let databaseDoesNotAnswer = APIError(.unavailable, "The database does not answer in time.", retryAfter: 1)
    static func databaseClockDiffers(bySeconds seconds: Int64) -> APIError {
        APIError(.unavailable, "The database's clock differs by \(seconds) seconds.", retryAfter: 30)
    }
    static func databaseRefusesWrites(_ fault: WriteFault) -> APIError {
        APIError(.unavailable, "The database \(fault.text).", retryAfter: 5)
    }

    // MARK: WebSockets

    static let familyIDIsInvalid = APIError(InvalidInput("must be a UUID", field: "family_id"))
    static let tooManySockets = APIError(
        .unavailable, "Too many WebSockets are open. Close one of yours, or try again in 30 seconds.", retryAfter: 30)
    static let tokenHasNoSession = APIError(
        .policyForbidden, "A development token has no session. Open the WebSocket with the token itself.")
    static let ticketIsInvalid = APIError(
        .authenticationFailed, "The ticket is not valid, or was used. Create another one.")

    /// Returns the number of whole seconds until a time has come, at least 1, for `Retry-After`.
    static func retrySeconds(from now: Timestamp, to moment: Timestamp) -> Int {
        max(1, Int(((moment - now).microseconds + 999_999) / 1_000_000))
    }
}
