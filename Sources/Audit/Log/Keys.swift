import CSodium

/// The public part of a key that signs notes: a name and an Ed25519 public key.
public struct VerifierKey: Hashable, Sendable {
    public let name: String
    public let publicKey: [UInt8]

    private static let ed25519: UInt8 = 0x01

    /// - Precondition: the name is valid (`isValidName`), and the key has 32 bytes.
    init(name: String, publicKey: [UInt8]) {
        precondition(Self.isValidName(name) && publicKey.count == 32)
        self.name = name
        self.publicKey = publicKey
    }

    /// Parses `<name>+<hash>+<key>`, with the hash in eight hexadecimal digits; nil for any other text, and where the
    /// hash is not that of the key.
    public init?(_ text: String) {
        let parts = text.split(separator: "+", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, Self.isValidName(String(parts[0])), let key = Base64.decode(String(parts[2])),
            key.count == 33, key[0] == Self.ed25519
        else { return nil }
        name = String(parts[0])
        publicKey = Array(key.dropFirst())
        guard hexadecimal(hash) == parts[1] else { return nil }
    }

    /// Returns whether the text can be the name of a key and of a log: visible ASCII characters without `+`.
    public static func isValidName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "+") }
    }

    /// The four bytes that distinguish keys of the same name.
    public var hash: [UInt8] { Array(sha256(Array("\(name)\n".utf8) + [Self.ed25519] + publicKey).prefix(4)) }

    /// The text that people pin: `<name>+<hash>+<key>`.
    public var text: String { "\(name)+\(hexadecimal(hash))+\(Base64.encode([Self.ed25519] + publicKey))" }

    /// Returns whether the signature is one of this key over the message.
    func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        guard signature.count == 64 else { return false }
        return unsafe crypto_sign_verify_detached(signature, message, UInt64(message.count), publicKey) == 0
    }
}

/// A key that signs notes. It is derived from a seed that is kept outside the database.
public struct SigningKey: Sendable {
    public let verifier: VerifierKey
    private let secret: [UInt8]

    /// Creates the key; nil unless the seed has 32 bytes and notes can carry the name.
    public init?(name: String, seed: [UInt8]) {
        guard seed.count == 32, VerifierKey.isValidName(name) else { return nil }
        var (publicKey, secret) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 64))
        guard unsafe crypto_sign_seed_keypair(&publicKey, &secret, seed) == 0 else { return nil }
        verifier = VerifierKey(name: name, publicKey: publicKey)
        self.secret = secret
    }

    /// Returns the signature of a message: 64 bytes (RFC 8032).
    func sign(_ message: [UInt8]) -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: 64)
        unsafe crypto_sign_detached(&signature, nil, message, UInt64(message.count), secret)
        return signature
    }
}

/// Base64 as in RFC 4648, section 4, with padding.
public enum Base64 {
    public static func encode(_ bytes: [UInt8]) -> String {
        var text = [CChar](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
        unsafe sodium_bin2base64(&text, text.count, bytes, bytes.count, sodium_base64_VARIANT_ORIGINAL)
        return String(decoding: text.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Decodes Base64; nil unless the text is exactly what `encode` writes for those bytes.
    public static func decode(_ text: String) -> [UInt8]? {
        let encoded = text.utf8.map { CChar(bitPattern: $0) }
        var bytes = [UInt8](repeating: 0, count: encoded.count)
        var count = 0
        let resultCode = unsafe sodium_base642bin(
            &bytes, bytes.count, encoded, encoded.count, nil, &count, nil, sodium_base64_VARIANT_ORIGINAL)
        return resultCode == 0 ? Array(bytes.prefix(count)) : nil
    }
}
