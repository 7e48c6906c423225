import Audit
import Domain
import SQLite

/// Seals the words of people in a device's files (XChaCha20-Poly1305), so that a copy of a file alone tells none of them.
///
/// A box can be opened as the same field of the same row only.
public struct TextSeal: Sendable {
    /// What is sealed. A name MUST NOT change its meaning.
    package enum Field: String {
        case check, nag, event, mediation, member, constraint, execution
        case outboxItem = "outbox_item"
        case outboxMessage = "outbox_message"
    }

    private let key: SealingKey
    private let random: @Sendable () -> UInt64

    /// - Parameter random: 64 bits that nobody can guess and that do not come again.
    public init(_ key: SealingKey, random: @escaping @Sendable () -> UInt64 = TextSeal.systemRandom) {
        (self.key, self.random) = (key, random)
    }

    @Sendable public static func systemRandom() -> UInt64 {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }

    package func seal<Kind>(_ text: String, _ field: Field, _ row: Identifier<Kind>) -> [UInt8] {
        var nonce: [UInt8] = []
        nonce.reserveCapacity(SealingKey.nonceLength)
        while nonce.count < SealingKey.nonceLength {
            withUnsafeBytes(of: random()) { nonce.append(contentsOf: $0) }
        }
        return key.seal(Array(text.utf8), bound: Self.bound(field, row), nonce: nonce)
    }

    /// - Throws: `corrupt` for what another key has sealed, or was sealed for another row.
    package func open<Kind>(_ box: [UInt8], _ field: Field, _ row: Identifier<Kind>) throws(SQLiteError) -> String {
        guard let text = key.open(box, bound: Self.bound(field, row)) else { throw .corrupt }
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
