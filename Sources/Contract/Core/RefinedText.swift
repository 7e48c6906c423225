import Domain

/// An email address as stored and compared: trimmed, in lower case, at most 254 bytes.
///
/// It consists of a dot-string (RFC 5321), `@`, and a dotted domain of letters, digits and hyphens. Quoted local parts,
/// address literals and non-ASCII addresses are refused.
public struct EmailAddress: Hashable, Sendable, WireText {
    public let wireText: String

    public init(wireText text: String) throws(InvalidInput) {
        let address = trimmed(text).lowercased()
        let parts = address.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard address.utf8.count <= 254, parts.count == 2, Self.isLocalPart(parts[0]), Self.isDomain(parts[1]) else {
            throw .notEmailAddress
        }
        wireText = address
    }

    private static func isLocalPart(_ part: Substring.UTF8View) -> Bool {
        part.count <= 64
            && part.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { atom in
                !atom.isEmpty && atom.allSatisfy { isLetterOrDigit($0) || "!#$%&'*+-/=?^_`{|}~".utf8.contains($0) }
            }
    }

    private static func isDomain(_ part: Substring.UTF8View) -> Bool {
        let labels = part.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return labels.count >= 2
            && labels.allSatisfy { label in
                (1...63).contains(label.count) && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
                    && label.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
            }
    }
}

/// A child's PIN: four ASCII digits, however they were typed. The description hides it, so that it cannot reach a log.
public struct PIN: Hashable, Sendable, WireText, CustomStringConvertible {
    public let wireText: String

    public init(wireText text: String) throws(InvalidInput) {
        let digits = text.unicodeScalars.count <= 32 ? normalizedCode(text) : ""
        guard digits.utf8.count == 4, digits.utf8.allSatisfy(\.isDigit)
        else { throw .notPIN }
        wireText = digits
    }

    public var description: String { "PIN(hidden)" }
}

/// A password or token. The description hides it, so that it cannot reach a log. `==` is not constant-time: compare
/// hashes instead.
public struct Secret: Hashable, Sendable, WireText, CustomStringConvertible {
    /// The lengths of passwords in Unicode scalars.
    public static let passwordLengths = 8...1_024

    public let wireText: String

    public init(_ text: String) { wireText = text }

    public init(wireText text: String) throws(InvalidInput) {
        try text.refuseNUL()
        wireText = text
    }

    public var description: String { "Secret(hidden)" }
}

/// A SHA-256 value, encoded as 64 lower-case hexadecimal digits.
public struct HexDigest: Hashable, Sendable, WireText {
    /// The 32 bytes of the value.
    public let bytes: [UInt8]

    /// Creates the digest; nil unless there are 32 bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    public init(wireText text: String) throws(InvalidInput) {
        let digits = text.utf8.compactMap(hexadecimalValue)
        guard digits.count == 64, text.utf8.count == 64 else {
            throw .notDigest
        }
        bytes = stride(from: 0, to: 64, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    public var wireText: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

/// Whether a byte is an ASCII letter or digit.
func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "A")...UInt8(ascii: "Z"):
        true
    default: false
    }
}
