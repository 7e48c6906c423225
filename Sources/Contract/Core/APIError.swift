import Domain
import JSON
import NagzAI

/// The error codes, each with its HTTP status. `APIError.reason` gives a more specific reason.
public enum ErrorCode: String, Sendable, CaseIterable, WireEnumeration {
    case malformedRequest = "MALFORMED_REQUEST"
    case authenticationFailed = "AUTHN_FAILED"
    /// The caller's role or account does not allow it, or a consent or preference is missing.
    case authorizationDenied = "AUTHZ_DENIED"
    /// A rule or a limit of the family forbids it.
    case policyForbidden = "POLICY_FORBIDDEN"
    case notFound = "NOT_FOUND"
    case methodNotAllowed = "METHOD_NOT_ALLOWED"
    case conflict = "CONFLICT"
    /// The request names an older state, such as by `If-Match`, or the family's last guardian would leave.
    case preconditionFailed = "PRECONDITION_FAILED"
    case payloadTooLarge = "PAYLOAD_TOO_LARGE"
    case unsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE"
    case validationFailed = "VALIDATION_ERROR"
    /// A value is outside what the family's policy allows.
    case policyInvalidValue = "POLICY_INVALID_VALUE"
    case rateLimited = "RATE_LIMITED"
    case internalError = "INTERNAL_ERROR"
    case unavailable = "UNAVAILABLE"

    /// The usual HTTP status of the code. An `APIError` can have another one, such as 416 for a range of a picture.
    public var status: Int {
        switch self {
        case .malformedRequest: 400
        case .authenticationFailed: 401
        case .authorizationDenied, .policyForbidden: 403
        case .notFound: 404
        case .methodNotAllowed: 405
        case .conflict: 409
        case .preconditionFailed: 412
        case .payloadTooLarge: 413
        case .unsupportedMediaType: 415
        case .validationFailed, .policyInvalidValue: 422
        case .rateLimited: 429
        case .internalError: 500
        case .unavailable: 503
        }
    }

    /// Whether the request may succeed later: after waiting, a new sign-in, or another read.
    public var isRecoverable: Bool {
        switch self {
        case .authenticationFailed, .preconditionFailed, .rateLimited, .internalError, .unavailable: true
        case .malformedRequest, .authorizationDenied, .policyForbidden, .notFound, .methodNotAllowed, .conflict,
            .payloadTooLarge, .unsupportedMediaType, .validationFailed, .policyInvalidValue:
            false
        }
    }
}

/// Error reasons that are not denials by domain rules.
public enum ErrorReason {
    /// The request has no access token.
    public static let tokenMissing = "token_missing"
    /// The session was ended or has expired.
    public static let sessionEnded = "session_ended"
    /// The account was deleted: devices MUST remove its data.
    public static let accountDeleted = "account_deleted"
    /// The account needs a guardian's consent.
    public static let accountPending = "account_pending"
    /// The person lacks a consent that the operation requires.
    public static let consentMissing = "consent_missing"
    /// The question's ID was used before, for another question or with other settings.
    public static let questionReused = "question_id_reused"
    /// The operator has not configured a carrier for mails.
    public static let mailNotConfigured = "mail_not_configured"
    /// The operator has not configured a gateway that sends codes by text message.
    public static let smsNotConfigured = "sms_not_configured"
    /// The operator has not configured messages to browsers.
    public static let webPushNotConfigured = "web_push_not_configured"
    /// The person has turned the feature off in the preferences.
    public static let switchedOff = "switched_off"
    /// The act is too early: the instance of a series is not open, or a proposed co-owner cannot take over a policy.
    /// Only the error of an instance has `opens_at`.
    public static let notYet = "not_yet"
    /// The next instance of the series exists, so only that one can change the pattern.
    public static let hasNextInstance = "has_next_instance"
}

/// A refusal as the server throws it and the device client catches it. It contains public text only; the private cause
/// of an error stays in the server's log.
public struct APIError: Error, Hashable, Sendable {
    public var status: Int
    public var code: ErrorCode
    /// A sentence for the user.
    public var message: String
    /// The wire name of the invalid input.
    public var field: String?
    /// A more specific reason: a `Domain.Denial`, an `ErrorReason`, or a reason of a newer server.
    public var reason: String?
    /// The time from which the instance of a series can be completed, if it is not open yet.
    public var opensAt: Timestamp?
    /// The draft that was created instead of the refused act.
    public var draftID: DraftID?
    /// The seconds to wait before a retry, sent as `Retry-After`.
    public var retryAfter: Int?
    /// The mediator's report on a question that it did not answer.
    public var execution: ExecutionFault?
    /// The code of an AI operation's invalid input, from which the server makes `execution`.
    public var executionCode: ExecutionCode?

    public init(
        _ code: ErrorCode, _ message: String, field: String? = nil, reason: String? = nil, retryAfter: Int? = nil,
        status: Int? = nil
    ) {
        self.status = status ?? code.status
        self.code = code
        self.message = message
        self.field = field
        self.reason = reason
        self.retryAfter = retryAfter
    }

    /// Creates the error of a denial by a domain rule.
    public init(_ code: ErrorCode, _ denial: Denial, field: String? = nil) {
        self.init(code, denial.message, field: field, reason: denial.rawValue)
    }

    /// Creates a 422 for a body or parameters without the expected fields or values. The message names the field in
    /// words.
    public init(_ fault: InvalidInput) { self.init(.validationFailed, fault) }

    /// Creates an error with the given code for an invalid value.
    public init(_ code: ErrorCode, _ fault: InvalidInput) {
        let subject = fault.field.map(FieldWords.subject) ?? "The body"
        self.init(code, "\(subject) \(fault.message).", field: fault.field)
        executionCode = fault.code
    }

    /// Creates a 400 for bytes that are not JSON, or a 413 for too many bytes.
    public init(_ fault: JSONError) {
        self.init(
            fault.reason == .tooLarge ? .payloadTooLarge : .malformedRequest,
            "The body is not a JSON document this server reads: \(fault).")
    }

    /// Parses an error response. If it has no error envelope (for example a proxy's response), the code follows from
    /// the status.
    public init(status: Int, body: Span<UInt8>, retryAfter: Int? = nil) {
        if let envelope = try? ErrorEnvelope(content: body) {
            self = envelope.error
            self.status = status
            self.retryAfter = retryAfter
        } else {
            let code = ErrorCode.allCases.first { $0.status == status } ?? .internalError
            self.init(
                code, "The server answered with status \(status).", retryAfter: retryAfter, status: status)
        }
    }
}

// The messages of this module. Those of the server are in `Server/Refusals`.
extension APIError {
    static let textIsNotUTF8 = APIError(.malformedRequest, "The text is not UTF-8.")
    static let bodyIsEmpty = APIError(.malformedRequest, "The body is empty. Send a JSON document.")
    static let birthIsInFuture = APIError(
        .validationFailed, "A date of birth cannot lie in the future.", field: "date_of_birth")
    /// Returns the error for an unknown name in a query or body.
    /// - Parameter nearest: the name that was probably meant.
    static func nameIsUnknown(_ name: String, nearest: String?) -> APIError {
        let hint = nearest.map { " Did you mean \($0)?" } ?? ""
        return APIError(.validationFailed, "\(name) is unknown here.\(hint)", field: name)
    }
    /// Returns the error that a client throws for a response that it cannot decode.
    static func responseIsUnreadable(_ fault: String, field: String?) -> APIError {
        let place = field.map { " (\($0))" } ?? ""
        return APIError(.internalError, "The server's answer could not be read\(place): \(fault)", status: 502)
    }
}

/// The body of every error response.
public struct ErrorEnvelope: Hashable, WireObject {
    public var error: APIError
    /// The request's ID in the server's log.
    public var requestID: String

    public init(_ error: APIError, requestID: String) {
        self.error = error
        self.requestID = requestID
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        let error: ErrorFields = try fields.required("error")
        var refusal = APIError(error.code, error.message, field: error.field, reason: error.reason)
        refusal.execution = error.execution
        refusal.opensAt = error.opensAt
        refusal.draftID = error.draftID
        self.init(refusal, requestID: error.requestID)
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.key("error")
            json.object { json in
                json.field("code", error.code)
                json.field("message", error.message)
                json.field("request_id", requestID)
                json.key("details")
                if error.field == nil, error.reason == nil, error.opensAt == nil, error.draftID == nil,
                    error.execution == nil
                {
                    json.null()
                } else {
                    json.object { json in
                        json.fieldIfPresent("field", error.field)
                        json.fieldIfPresent("reason", error.reason)
                        json.fieldIfPresent("opens_at", error.opensAt)
                        json.fieldIfPresent("draft_id", error.draftID)
                        error.execution?.writeMembers(to: &json)
                    }
                }
            }
        }
    }
}

/// The fields of an envelope, for parsing.
private struct ErrorFields: WireInput {
    let code: ErrorCode
    let message: String
    let requestID: String
    let field: String?
    let reason: String?
    let opensAt: Timestamp?
    let draftID: DraftID?
    let execution: ExecutionFault?

    init(_ fields: FieldReader) throws(InvalidInput) {
        code = try fields.required("code")
        message = try fields.required("message")
        requestID = try fields.required("request_id")
        let details: JSONObject? = try fields.optional("details")
        field = details?["field"]?.stringValue
        reason = details?["reason"]?.stringValue
        opensAt = details?["opens_at"]?.stringValue.flatMap { Timestamp(rfc3339: $0) }
        draftID = details?["draft_id"]?.stringValue.flatMap { DraftID($0) }
        execution = details.flatMap { try? ExecutionFault(FieldReader($0)) }
    }
}
