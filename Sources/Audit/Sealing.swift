import CSodium
import Domain

/// Seals and opens boxes with XChaCha20-Poly1305 (libsodium). A box that was changed cannot be opened.
enum SealedBox {
    static let nonceLength = 24

    /// Returns a box: nonce, ciphertext and tag.
    /// - Parameter associatedData: bytes without which the box cannot be opened.
    static func seal(_ message: [UInt8], associatedData: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8] {
        precondition(key.count == 32 && nonce.count == nonceLength)
        var box: [UInt8] = []
        box.reserveCapacity(nonceLength + message.count + 16)
        box += nonce
        box.append(addingCapacity: message.count + 16) { output in
            unsafe output.withUnsafeMutableBufferPointer { memory, count in
                guard let start = memory.baseAddress else { return }
                unsafe crypto_aead_xchacha20poly1305_ietf_encrypt(
                    start, nil, message, UInt64(message.count), associatedData, UInt64(associatedData.count), nil,
                    nonce, key)
                count = message.count + 16
            }
        }
        return box
    }

    /// Opens a box; nil unless it was sealed with that key and that associated data.
    static func open(_ box: [UInt8], associatedData: [UInt8], key: [UInt8]) -> [UInt8]? {
        guard key.count == 32, box.count >= nonceLength + 16 else { return nil }
        let (nonce, ciphertext) = (Array(box.prefix(nonceLength)), Array(box.dropFirst(nonceLength)))
        var message = [UInt8](repeating: 0, count: ciphertext.count - 16)
        let resultCode = unsafe crypto_aead_xchacha20poly1305_ietf_decrypt(
            &message, nil, nil, ciphertext, UInt64(ciphertext.count), associatedData, UInt64(associatedData.count),
            nonce, key)
        return resultCode == 0 ? message : nil
    }
}

/// The key that seals the bodies of the entries about one person. Destroying it makes these bodies unreadable.
public struct SubjectKey: Hashable, Sendable {
    /// The person's pseudonym.
    public let id: Pseudonym
    private let secret: [UInt8]

    /// - Parameter secret: 32 random bytes.
    public init(id: Pseudonym, secret: [UInt8]) {
        precondition(secret.count == 32)
        self.id = id
        self.secret = secret
    }

    /// Seals the body of an entry.
    /// - Parameters:
    ///   - commitment: the commitment of the entry, without which the box cannot be opened.
    ///   - nonce: 24 random bytes.
    public func seal(_ body: [UInt8], commitment: [UInt8], nonce: [UInt8]) -> [UInt8] {
        SealedBox.seal(body, associatedData: commitment, key: secret, nonce: nonce)
    }

    /// Opens a box; nil for a box that is another person's or another entry's.
    public func open(_ box: [UInt8], commitment: [UInt8]) -> [UInt8]? {
        SealedBox.open(box, associatedData: commitment, key: secret)
    }

    /// Returns the form in which the key is stored.
    fileprivate func wrapped(by master: [UInt8], nonce: [UInt8]) -> [UInt8] {
        SealedBox.seal(secret, associatedData: id.bytes, key: master, nonce: nonce)
    }

    fileprivate init?(id: Pseudonym, wrapped: [UInt8], by master: [UInt8]) {
        guard let secret = SealedBox.open(wrapped, associatedData: id.bytes, key: master), secret.count == 32 else {
            return nil
        }
        self.init(id: id, secret: secret)
    }
}

/// A key that wraps the keys of people and seals other secrets, such as their keys for models. It is kept outside the
/// database. Without it, nothing that it wrapped or sealed can be read.
public struct MasterKey: Hashable, Sendable {
    private let secret: [UInt8]
    /// A 4-byte identifier of the key, which reveals nothing else about it.
    public let id: [UInt8]

    /// Creates the key; nil unless there are 32 bytes.
    public init?(_ secret: [UInt8]) {
        guard secret.count == 32 else { return nil }
        self.secret = secret
        id = Array(sha256(Array("nagz master key".utf8) + secret).prefix(4))
    }

    /// Derives a key of 32 bytes for another purpose, by HMAC-SHA-256. It reveals nothing about this key.
    public func derivedKey(label: String) -> [UInt8] {
        hmacSHA256(Array(label.utf8), key: secret)
    }

    /// Seals any secret other than a person's key, with a key derived for that purpose.
    /// - Parameters:
    ///   - associatedData: bytes without which the box cannot be opened.
    ///   - nonce: 24 random bytes.
    public func seal(_ secret: [UInt8], for purpose: String, associatedData: [UInt8], nonce: [UInt8]) -> [UInt8] {
        SealedBox.seal(secret, associatedData: associatedData, key: derivedKey(label: purpose), nonce: nonce)
    }

    /// Opens a box; nil unless this key sealed it, for the same purpose and with the same associated data.
    public func open(_ box: [UInt8], for purpose: String, associatedData: [UInt8]) -> [UInt8]? {
        SealedBox.open(box, associatedData: associatedData, key: derivedKey(label: purpose))
    }

    /// Returns the form in which a person's key is stored: sealed with this key.
    /// - Parameter nonce: 24 random bytes.
    public func wrap(_ key: SubjectKey, nonce: [UInt8]) -> [UInt8] { key.wrapped(by: secret, nonce: nonce) }

    /// Unwraps the key of a person; nil for a key that this key did not wrap for that person.
    public func unwrap(_ wrapped: [UInt8], id: Pseudonym) -> SubjectKey? {
        SubjectKey(id: id, wrapped: wrapped, by: secret)
    }
}

/// A key that seals texts at rest, such as those in the files of a device.
public struct SealingKey: Sendable {
    private let secret: [UInt8]

    /// The number of bytes of a nonce. A nonce MUST NOT be used twice.
    public static let nonceLength = SealedBox.nonceLength

    /// Creates the key; nil unless there are 32 bytes.
    public init?(_ secret: [UInt8]) {
        guard secret.count == 32 else { return nil }
        self.secret = secret
    }

    /// Seals a message.
    /// - Parameter associatedData: bytes without which the box cannot be opened.
    public func seal(_ message: [UInt8], associatedData: [UInt8], nonce: [UInt8]) -> [UInt8] {
        SealedBox.seal(message, associatedData: associatedData, key: secret, nonce: nonce)
    }

    /// Opens a box; nil unless this key sealed it with that associated data.
    public func open(_ box: [UInt8], associatedData: [UInt8]) -> [UInt8]? {
        SealedBox.open(box, associatedData: associatedData, key: secret)
    }
}
