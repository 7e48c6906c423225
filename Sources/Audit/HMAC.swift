import CSodium

/// A key of HMAC-SHA-256 (RFC 2104), of any length, prepared for many messages. It uses libsodium, because its prepared
/// key is a plain value. Copying libcrypto's takes longer than authenticating a short message.
@safe public struct HMACKey: Sendable {
    private let prepared: crypto_auth_hmacsha256_state

    public init(_ key: [UInt8]) {
        var prepared = crypto_auth_hmacsha256_state()
        unsafe crypto_auth_hmacsha256_init(&prepared, key, key.count)
        self.prepared = prepared
    }

    /// Returns the authentication code of a message: 32 bytes.
    public func authenticationCode(of message: [UInt8]) -> [UInt8] {
        var state = prepared
        unsafe crypto_auth_hmacsha256_update(&state, message, UInt64(message.count))
        var code = [UInt8](repeating: 0, count: 32)
        unsafe crypto_auth_hmacsha256_final(&state, &code)
        return code
    }
}

/// Returns the HMAC-SHA-256 of a message, with a key that is used once.
public func hmacSHA256(_ message: [UInt8], key: [UInt8]) -> [UInt8] { HMACKey(key).authenticationCode(of: message) }
