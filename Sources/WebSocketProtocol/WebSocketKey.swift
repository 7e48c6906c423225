import CCrypto

/// The key of an opening handshake (RFC 6455 §4).
public struct WebSocketKey: Hashable, Sendable {
    /// The sixteen bytes in base64, as in `Sec-WebSocket-Key`.
    public let text: String

    /// Creates a key; nil if the text is not sixteen bytes in base64.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 24, bytes[22...].elementsEqual("==".utf8) else { return nil }
        guard bytes[..<22].allSatisfy({ Self.alphabet.contains($0) }) else { return nil }
        self.text = text
    }

    /// Creates a random key.
    public init(using random: inout some RandomNumberGenerator) {
        var bytes: [UInt8] = []
        for _ in 0..<16 { bytes.append(UInt8.random(in: .min ... .max, using: &random)) }
        text = Self.base64(bytes)
    }

    /// The value of `Sec-WebSocket-Accept`, which proves that the server read the key: SHA-1 of the key and a fixed
    /// text, in base64. It is not a protection against attackers.
    public var acceptValue: String {
        let text = Array((text + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        var digest = [UInt8](repeating: 0, count: 20)
        let result = unsafe EVP_Digest(text, text.count, &digest, nil, EVP_sha1(), nil)
        precondition(result == 1, "libcrypto lacks SHA-1")
        return Self.base64(digest)
    }

    private static let alphabet = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    private static func base64(_ bytes: [UInt8]) -> String {
        var encoded = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
        let count = unsafe EVP_EncodeBlock(&encoded, bytes, Int32(bytes.count))
        return String(decoding: encoded.prefix(Int(count)), as: UTF8.self)
    }
}
