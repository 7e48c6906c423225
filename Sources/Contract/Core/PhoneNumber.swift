/// A telephone number in the form of E.164: a plus sign, and 8 to 15 digits that begin with the code of a country.
///
/// Spaces, hyphens, dots and parentheses are removed, and digits may be of any script. The description hides the
/// number, so that it cannot reach a log.
public struct PhoneNumber: Hashable, Sendable, WireText, CustomStringConvertible {
    public static let digitCountRange = 8...15

    public let wireText: String

    public init(wireText text: String) throws(InvalidInput) {
        let number = text.unicodeScalars.count <= 64 ? Self.normalized(text) : ""
        let digits = number.utf8.dropFirst()
        guard number.utf8.first == UInt8(ascii: "+"), Self.digitCountRange.contains(digits.count),
            digits.first != UInt8(ascii: "0"), digits.allSatisfy(\.isDigit)
        else {
            throw .notPhoneNumber
        }
        wireText = number
    }

    /// Returns the text as a normalised code, also without dots and parentheses, and with an ASCII plus sign.
    private static func normalized(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars where !".()\u{FF0E}\u{FF08}\u{FF09}".unicodeScalars.contains(scalar) {
            scalars.append(scalar == "\u{FF0B}" ? "+" : scalar)
        }
        return normalizedCode(String(scalars))
    }

    public var description: String { "PhoneNumber(hidden)" }
}

/// A code that confirms a telephone number: six ASCII digits, however they were typed. The description hides the code,
/// so that it cannot reach a log.
public struct PhoneCode: Hashable, Sendable, WireText, CustomStringConvertible {
    public static let length = 6

    public let wireText: String

    public init(wireText text: String) throws(InvalidInput) {
        let digits = text.unicodeScalars.count <= 32 ? normalizedCode(text) : ""
        guard digits.utf8.count == Self.length, digits.utf8.allSatisfy(\.isDigit) else {
            throw .notPhoneCode
        }
        wireText = digits
    }

    public var description: String { "PhoneCode(hidden)" }
}
