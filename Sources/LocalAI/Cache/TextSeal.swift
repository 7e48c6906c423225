import Audit
import Domain
import SQLite

/// Seals people's words in a device's files (XChaCha20-Poly1305), so that a copy of a file does not reveal them without
/// the key.
///
/// A sealed box can be opened only as the same field of the same row. Its nonce consists of the row's ID and 64 random
/// bits; only the random bits are stored. 64 bits are enough, because few texts are ever sealed for one row.
public struct TextSeal: Sendable {
    /// The field that is sealed. A raw value MUST NOT change its meaning, because the seal includes it.
    package enum Field: String {
        /// The check text of a file, by which a wrong key is recognised.
        case check
        /// The description of a nag.
        case nagDescription = "nag"
        /// The name of a member.
        case memberName = "member"
        /// The terms of a constraint, as JSON.
        case constraintTerms = "constraint"
        /// The record of a question, as JSON.
        case executionRecord = "execution"
        /// A question and its answer in the AI session, as JSON.
        case sessionTurn = "session_turn"
        /// An item of the outbox, as JSON.
        case outboxItem = "outbox_item"
        /// The message of the error with which the server refused an item of the outbox.
        case outboxMessage = "outbox_message"
    }

    private let key: SealingKey
    private let random: @Sendable () -> UInt64

    /// - Parameter random: returns 64 random bits.
    public init(_ key: SealingKey, random: @escaping @Sendable () -> UInt64 = TextSeal.systemRandom) {
        (self.key, self.random) = (key, random)
    }

    /// Returns 64 bits of the system's secure random numbers.
    @Sendable public static func systemRandom() -> UInt64 {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }

    package func seal<Kind>(_ text: String, _ field: Field, _ row: Identifier<Kind>) -> [UInt8] {
        let randomBits = random()
        let randomBytes = (0..<8).map { UInt8(truncatingIfNeeded: randomBits >> (8 * $0)) }
        let box = key.seal(
            Array(text.utf8), associatedData: Self.associatedData(field, row), nonce: row.bytes + randomBytes)
        // The row's ID is not stored, because it is known when the box is opened.
        return Array(box.dropFirst(row.bytes.count))
    }

    /// Opens a box.
    /// - Throws: `corrupt` for a box that was sealed with another key, or for another row or field.
    package func open<Kind>(_ box: [UInt8], _ field: Field, _ row: Identifier<Kind>) throws(SQLiteError) -> String {
        guard let text = key.open(row.bytes + box, associatedData: Self.associatedData(field, row)) else {
            throw .corrupt
        }
        return String(decoding: text, as: UTF8.self)
    }

    package func sealIfPresent<Kind>(_ text: String?, _ field: Field, _ row: Identifier<Kind>) -> [UInt8]? {
        text.map { seal($0, field, row) }
    }

    package func openIfPresent<Kind>(_ box: [UInt8]?, _ field: Field, _ row: Identifier<Kind>) throws(SQLiteError)
        -> String?
    {
        guard let box else { return nil }
        return try open(box, field, row)
    }

    private static func associatedData<Kind>(_ field: Field, _ row: Identifier<Kind>) -> [UInt8] {
        Array(field.rawValue.utf8) + [0] + row.bytes
    }
}
