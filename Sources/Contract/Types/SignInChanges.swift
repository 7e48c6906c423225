import Domain
import JSON

/// A single-use code for a change of an account's sign-in: 20 letters and digits, in any case, with or without spaces
/// and hyphens. The description hides the code, so that it cannot reach a log.
public struct AccountCode: Hashable, Sendable, WireText, CustomStringConvertible {
    public static let length = 20

    /// The code in capital letters, without spaces and hyphens.
    public let wireText: String

    public init(wireText text: String) throws(InvalidInput) {
        let code = text.unicodeScalars.count <= 64 ? normalizedCode(text) : ""
        guard code.utf8.count == Self.length, code.utf8.allSatisfy(isLetterOrDigit) else {
            throw .notCode(length: Self.length)
        }
        wireText = code
    }

    public var description: String { "AccountCode(hidden)" }
}
