/// A reason why HTTP itself refuses a request: a status and a sentence that may be sent to the client.
///
/// The connection closes after the response, because after a framing error the start of the next request is unknown.
/// The exception is `fieldRepeated`, which only handlers get: they respond themselves.
public enum HTTPRequestError: Error, Sendable, Hashable, CaseIterable {
    case requestLineSyntax, requestLineTooLong, targetSyntax, unknownMethod, versionNotSupported
    case fieldSyntax, foldedField, headTooLarge, tooManyFields
    case hostMissing, hostRepeated, hostSyntax
    /// Faults of Content-Length; `lengthWithCoding`: there is a Transfer-Encoding too.
    case lengthSyntax, lengthRepeated, lengthWithCoding
    /// Faults of Transfer-Encoding; `codingInOldVersion`: the request is HTTP/1.0, which has none.
    case codingSyntax, codingRepeated, codingUnknown, codingInOldVersion
    case chunkSyntax, trailerSyntax, trailersTooLarge
    /// `expectationUnknown`: the field Expect has another value than `100-continue`.
    case bodyTooLarge, expectationUnknown
    /// `truncated`: the client closed the connection before the end of the request.
    case headTimeout, bodyTimeout, truncated
    /// A field that a handler accepts only once occurs several times.
    case fieldRepeated
    /// `memoryTaken`: other requests hold the memory for this one.
    case tooManyConnections, memoryTaken

    public var status: Status {
        switch self {
        case .requestLineTooLong: .uriTooLong
        case .unknownMethod, .codingUnknown: .notImplemented
        case .versionNotSupported: .versionNotSupported
        case .headTooLarge, .tooManyFields, .trailersTooLarge: .headTooLarge
        case .bodyTooLarge: .contentTooLarge
        case .expectationUnknown: .expectationFailed
        case .headTimeout, .bodyTimeout: .requestTimeout
        case .tooManyConnections, .memoryTaken: .serviceUnavailable
        default: .badRequest
        }
    }

    /// One sentence that says what is wrong. It never repeats the client's input.
    public var reason: String {
        switch self {
        case .requestLineSyntax: "The request line is malformed."
        case .requestLineTooLong: "The request line is too long."
        case .targetSyntax: "The request target is malformed."
        case .unknownMethod: "This method is not implemented."
        case .versionNotSupported: "Only HTTP/1.1 and HTTP/1.0 are spoken here."
        case .fieldSyntax: "A header field is malformed."
        case .foldedField: "Folded header lines are not accepted."
        case .headTooLarge: "The header section is too large."
        case .tooManyFields: "There are too many header fields."
        case .hostMissing: "The Host field is missing."
        case .hostRepeated: "The Host field is repeated."
        case .hostSyntax: "The Host field is malformed."
        case .lengthSyntax: "The Content-Length field is malformed."
        case .lengthRepeated: "The Content-Length field is repeated."
        case .lengthWithCoding: "Content-Length and Transfer-Encoding must not be sent together."
        case .codingSyntax: "The Transfer-Encoding field is malformed or does not end in chunked."
        case .codingRepeated: "The Transfer-Encoding field is repeated."
        case .codingUnknown: "Only the chunked transfer coding is implemented."
        case .codingInOldVersion: "HTTP/1.0 has no transfer codings."
        case .chunkSyntax: "The chunked content is malformed."
        case .trailerSyntax: "A trailer field is malformed."
        case .trailersTooLarge: "The trailer section is too large."
        case .bodyTooLarge: "The content is too large."
        case .expectationUnknown: "Only the expectation 100-continue is supported."
        case .headTimeout: "The header section did not arrive in time."
        case .bodyTimeout: "The content did not arrive in time."
        case .truncated: "The request ended before it was complete."
        case .fieldRepeated: "A header field that may be sent once was repeated."
        case .tooManyConnections: "The server has no room for another connection."
        case .memoryTaken: "The server has no memory for this request now. Try again."
        }
    }
}
