/// The reason why bytes are not a valid JSON document, and the position of the error.
public struct JSONError: Error, Hashable, Sendable {
    /// The kind of error.
    public enum Reason: String, Sendable, CaseIterable {
        case tooLarge = "the document is too large"
        case tooDeep = "the document is nested too deeply"
        case unexpectedEnd = "the document ends too early"
        case unexpectedByte = "a character is out of place"
        case trailingBytes = "something follows the document"
        case invalidUTF8 = "the text is not UTF-8"
        case controlCharacter = "a control character stands unescaped in a string"
        case invalidEscape = "an escape in a string is unknown or cut short"
        case loneSurrogate = "half of a surrogate pair stands alone in a string"
        case invalidNumber = "a number is malformed"
        case numberOutOfRange = "a number is out of range"
        case duplicateKey = "an object names a member twice"
    }

    public let reason: Reason
    /// The number of bytes before the error.
    public let offset: Int

    public init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }
}

extension JSONError: CustomStringConvertible {
    /// The reason and the position, without any part of the document: it may be sent to a client.
    public var description: String { "\(reason.rawValue) (byte \(offset))" }
}
