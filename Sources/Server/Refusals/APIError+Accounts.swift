import Contract
import Domain

/// The refusals about accounts, sessions, passwords and codes.
extension APIError {
    // MARK: Sign-in

    static let signInIsWrong = APIError(.authenticationFailed, "The email address or the password is wrong.")
    static let childSignInIsWrong = APIError(
        .authenticationFailed, "The child code, the user name or the PIN is wrong.")
    static let sessionHasEnded = APIError(
        .authenticationFailed, "The session has ended. Sign in again.", reason: ErrorReason.sessionEnded)
    static let refreshTokenIsInvalid = APIError(
        .authenticationFailed, "The refresh token is not valid. Sign in again.")
    static let accountIsDeleted = APIError(
        .authenticationFailed, "This account was deleted.", reason: ErrorReason.accountDeleted)
    static let accountIsPending = APIError(
        .authorizationDenied, "This account waits for a guardian's consent.", reason: ErrorReason.accountPending)
    static let noSuchSession = APIError(.notFound, "There is no such session. It may have ended.")
    static func tooManyAttempts(until end: Timestamp, at now: Timestamp) -> APIError {
        let seconds = retrySeconds(from: now, to: end)
        let minutes = (seconds + 59) / 60
        let wait = minutes <= 90 ? "\(minutes) min" : "\((minutes + 59) / 60) h"
        return APIError(.rateLimited, "Too many attempts. Try again in \(wait).", retryAfter: seconds)
    }
    static let tooManySignInsAtOnce = APIError(.unavailable, "Too many sign-ins at once. Try again.", retryAfter: 2)
    static let noMemoryForSignIn = APIError(
        .unavailable, "The server is out of memory for sign-ins. Try again.", retryAfter: 2)

    // MARK: Email address and password

    static let emailIsTaken = APIError(
        .conflict, "This email address has an account already. Use another one.", field: "email")
    static let passwordIsWrong = APIError(
        .validationFailed, "This is not your password. Try again.", field: "password")
    /// - Parameter weakness: as in `Admins.weakness`.
    static func passwordIsWeak(_ weakness: String) -> APIError {
        APIError(.validationFailed, "An administrator's password \(weakness).", field: "new_password")
    }
    static let passwordHasChanged = APIError(.conflict, "The password was changed meanwhile. Sign in again.")
    static let accountHasNoPassword = APIError(
        .policyForbidden, "This account has no email address and no password. A guardian sets its PIN.")
    static let accountCodeIsInvalid = APIError(
        .validationFailed, "This code is wrong, was used, or is older than 30 minutes. Ask for a new one.",
        field: "code")
    static let mailIsNotConfigured = APIError(
        .conflict, "This server sends no mail. Ask its operator for a code.", reason: ErrorReason.mailNotConfigured)

    // MARK: Telephone number

    static let phoneCodeIsInvalid = APIError(
        .validationFailed,
        "This code is wrong, was used, was tried \(PhoneCodes.maxAttemptsPerCode) times, or is older than 10 minutes. Ask for a new one.",
        field: "code")
    static let phoneCodesAreNotConfigured = APIError(
        .conflict, "This server sends no codes by text message, so that no number can be confirmed. Ask its operator.",
        reason: ErrorReason.smsNotConfigured)
    static func tooManyCodesForNumber(_ limit: Int, until end: Timestamp, at now: Timestamp) -> APIError {
        APIError(
            .rateLimited,
            "This number got \(limit) codes within 24 hours, which is the maximum. Try again after \(end.minuteText).",
            retryAfter: retrySeconds(from: now, to: end))
    }
    static func tooManyCodesFromServer(_ limit: Int, until end: Timestamp, at now: Timestamp) -> APIError {
        APIError(
            .rateLimited,
            "This server sent \(limit) codes by text message within an hour, which is the maximum. Try again after \(end.minuteText).",
            retryAfter: retrySeconds(from: now, to: end))
    }

    // MARK: Accounts

    static let noSuchAccount = APIError(.notFound, "There is no such account.")
    /// The refusal when the account was deleted while somebody was about to join a family with it.
    static let accountWasDeletedMeanwhile = APIError(.conflict, "The account was deleted meanwhile.")
    static let accountWasInvited = APIError(.conflict, "You were invited several times meanwhile. Try again.")
    static let accountHasJoined = APIError(.conflict, "You have joined a family meanwhile. Try again.")
    static let accountChangedFamily = APIError(
        .conflict, "The account joined or left a family meanwhile. Try again.")
    static let onlyGuardianChangesProfile = APIError(
        .policyForbidden, "A guardian looks after this account's email address and date of birth.")
    static let under13NeedsGuardian = APIError(
        .policyForbidden, "Only a guardian can make the account of a child under 13.", field: "date_of_birth")
}
