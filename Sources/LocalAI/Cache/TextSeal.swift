import Audit
import Domain
import SQLite

/// Seals the words of people in a device's files (XChaCha20-Poly1305), so that a copy of a file alone does not reveal
/// them.
///
/// A box can be opened only as the same field of the same row. Its nonce consists of the row's ID and 64 random bits;
/// only the random bits are stored. That is enough, because a row has few texts in its life.
public struct TextSeal: Sendable {
    /// The field that is sealed. A name MUST NOT change its meaning.
    package enum Field: String {
        case check, nag, member, constraint, execution
        case sessionTurn = "session_turn"
        case outboxItem = "outbox_item"
        case outboxMessage = "outbox_message"
    }

    private let key: SealingKey
    private let random: @Sendable () -> UInt64

    /// - Parameter random: 64 random bits.
    public init(_ key: SealingKey, random: @escaping @Sendable () -> UInt64 = TextSeal.systemRandom) {
        (self.key, self.random) = (key, random)
    }

    /// 64 bits that nobody can guess.
    @Sendable public static func systemRandom() -> UInt64 {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }

    package func seal<Kind>(_ text: String, _ field: Field, _ row: Identifier<Kind>) -> [UInt8] {
        let number = random()
        let drawn = (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        let box = key.seal(Array(text.utf8), associatedData: Self.bound(field, row), nonce: row.bytes + drawn)
        // The row's id is known when the box is opened.
        return Array(box.dropFirst(row.bytes.count))
    }

    /// - Throws: `corrupt` for what another key has sealed, or was sealed for another row.
    package func open<Kind>(_ box: [UInt8], _ field: Field, _ row: Identifier<Kind>) throws(SQLiteError) -> String {
        guard let text = key.open(row.bytes + box, associatedData: Self.bound(field, row)) else { throw .corrupt }
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

    private static func bound<Kind>(_ field: Field, _ row: Identifier<Kind>) -> [UInt8] {
        Array(field.rawValue.utf8) + [0] + row.bytes
    }
}
