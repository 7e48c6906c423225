/// The line that separates the parts of a multipart body, without its dashes (RFC 2046 §5.1.1).
public struct MultipartBoundary: Sendable, Hashable {
    static let lengthLimit = 70

    let bytes: [UInt8]

    /// Reads the `boundary` of a Content-Type field (RFC 9110 §8.3.1, RFC 7578 §4.1).
    public init(contentType: Span<UInt8>) throws(MultipartError) {
        guard let end = FieldParameters.end(ofValue: contentType),
            contentType.extracting(0..<end).equalsIgnoringCase("multipart/form-data")
        else { throw .mediaType }
        guard let parameters = FieldParameters(contentType, from: end),
            let value = parameters.uniqueValue("boundary")
        else { throw .boundarySyntax }
        try self.init(value)
    }

    /// - Throws: `boundarySyntax` unless there are 1 to 70 `bchars`, of which the last is not a space.
    init(_ bytes: [UInt8]) throws(MultipartError) {
        guard (1...Self.lengthLimit).contains(bytes.count), bytes.last != UInt8(ascii: " "),
            bytes.allSatisfy({ Self.isBoundaryByte($0) })
        else { throw .boundarySyntax }
        self.bytes = bytes
    }

    /// Returns whether the byte is one of `bchars` (RFC 2046 §5.1.1).
    private static func isBoundaryByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "'")...UInt8(ascii: ")"), UInt8(ascii: "+")...UInt8(ascii: ":"): true
        case UInt8(ascii: "="), UInt8(ascii: "?"), UInt8(ascii: "_"), UInt8(ascii: " "): true
        default: false
        }
    }
}

/// The parameters of a field value: `; name=token; name="quoted string"` (RFC 9110 §5.6.6).
struct FieldParameters {
    private var pairs: [(name: [UInt8], value: [UInt8])] = []

    /// Returns the index at which the value before the first parameter ends; nil if there is no value.
    static func end(ofValue field: Span<UInt8>) -> Int? {
        var end = 0
        while end < field.count, field[end] != UInt8(ascii: ";") { end += 1 }
        while end > 0, field[end - 1].isBlank { end -= 1 }
        return end > 0 ? end : nil
    }

    /// Parses the parameters; nil if one is malformed.
    init?(_ field: Span<UInt8>, from start: Int) {
        var index = start
        while true {
            Self.skipBlanks(field, &index)
            guard index < field.count else { return }
            guard field[index] == UInt8(ascii: ";") else { return nil }
            index += 1
            Self.skipBlanks(field, &index)
            // An empty parameter, as after a last semicolon.
            if index == field.count || field[index] == UInt8(ascii: ";") { continue }
            var name: [UInt8] = []
            while index < field.count, field[index].isTokenByte {
                name.append(field[index].lowercased)
                index += 1
            }
            guard !name.isEmpty, index < field.count, field[index] == UInt8(ascii: "=") else { return nil }
            index += 1
            guard let value = Self.readValue(field, &index) else { return nil }
            pairs.append((name, value))
        }
    }

    /// Returns the value of the parameter with that lower-case name; nil if there is none, or more than one.
    func uniqueValue(_ name: StaticString) -> [UInt8]? {
        let values = pairs.filter { $0.name.span.equals(name) }
        return values.count == 1 ? values[0].value : nil
    }

    func contains(_ name: StaticString) -> Bool { pairs.contains { $0.name.span.equals(name) } }

    private static func skipBlanks(_ field: Span<UInt8>, _ index: inout Int) {
        while index < field.count, field[index].isBlank { index += 1 }
    }

    /// Reads a token or a quoted string; nil if it is malformed. A backslash escapes only a quotation mark or a
    /// backslash: some clients do not escape the backslashes of file names.
    private static func readValue(_ field: Span<UInt8>, _ index: inout Int) -> [UInt8]? {
        var value: [UInt8] = []
        guard index < field.count, field[index] == UInt8(ascii: "\"") else {
            while index < field.count, field[index].isTokenByte {
                value.append(field[index])
                index += 1
            }
            return value.isEmpty ? nil : value
        }
        index += 1
        while index < field.count {
            var byte = field[index]
            index += 1
            if byte == UInt8(ascii: "\"") { return value }
            if byte == UInt8(ascii: "\\"), index < field.count,
                field[index] == UInt8(ascii: "\"") || field[index] == UInt8(ascii: "\\")
            {
                byte = field[index]
                index += 1
            }
            value.append(byte)
        }
        return nil
    }
}
