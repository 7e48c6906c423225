/// A reason why a multipart/form-data body is refused.
public enum MultipartError: Error, Sendable, Hashable, CaseIterable {
    /// The media type is not multipart/form-data.
    case mediaType
    /// The boundary parameter is missing, repeated or malformed.
    case boundarySyntax
    /// A delimiter is followed by something other than blanks and a line end.
    case delimiterSyntax
    /// There is no first delimiter, or the body ends before its last delimiter.
    case missingDelimiter
    /// The header section of a part is malformed, or does not name the part.
    case headSyntax
    case headTooLarge, tooManyParts
    /// A part is itself a multipart body.
    case nested
    /// The content of a part does not have the length that its Content-Length declares.
    case wrongLength

    /// Whether the body exceeds a limit; else it is malformed.
    public var isTooLarge: Bool { self == .headTooLarge || self == .tooManyParts }

    /// One sentence that says what is wrong. It never repeats the client's input.
    public var reason: String {
        switch self {
        case .mediaType: "Send the content as multipart/form-data."
        case .boundarySyntax: "The boundary of the multipart content is missing or malformed."
        case .delimiterSyntax: "A boundary line of the multipart content is malformed."
        case .missingDelimiter: "The multipart content has no end."
        case .headSyntax: "The header of a part is malformed."
        case .headTooLarge: "The header of a part is too large."
        case .tooManyParts: "The multipart content has too many parts."
        case .nested: "A part must not be multipart itself."
        case .wrongLength: "A part has another length than it says."
        }
    }
}
