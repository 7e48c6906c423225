import Audit
import CCrypto
import Domain

/// The keys of a browser's subscription.
struct WebPushKeys: Sendable, Hashable {
    /// The browser's public key, a point of the curve P-256.
    let p256dh: [UInt8]
    /// A secret of 16 bytes that the browser shares with the server.
    let auth: [UInt8]

    /// Creates the keys; nil unless they have the right lengths and the point is on the curve.
    init?(p256dh: [UInt8], auth: [UInt8]) {
        guard auth.count == 16, P256.isPublicKey(p256dh) else { return nil }
        (self.p256dh, self.auth) = (p256dh, auth)
    }
}

/// Encrypts messages for a browser (RFC 8291) as one record of the content coding `aes128gcm` (RFC 8188).
enum WebPushEncryption {
    /// The length in bytes of the longest body that every push service accepts.
    static let maxBodyLength = 4_096
    /// The length in bytes of what precedes the encrypted record: the salt, the record size, and the sender's public
    /// key with its length.
    private static let headLength = 16 + 4 + 1 + P256.publicKeyLength
    private static let tagLength = 16
    /// The length in bytes of the longest text, which fills the longest body together with the byte that ends the text.
    static let maxTextLength = maxBodyLength - headLength - tagLength - 1

    /// Returns the encrypted body, with a new key and salt.
    /// - Parameter lengthMultiple: the multiple of bytes to which the length is rounded up, so that it reveals little
    ///   about the text.
    /// - Returns: nil for a text that is too long, or if libcrypto fails.
    static func encryptedBody(
        _ text: [UInt8], for keys: WebPushKeys, lengthMultiple: Int, _ random: any Randomness
    ) -> [UInt8]? {
        guard text.count <= maxTextLength else { return nil }
        let length = min((text.count + lengthMultiple - 1) / lengthMultiple * lengthMultiple, maxTextLength)
        let padded = text + [2] + [UInt8](repeating: 0, count: length - text.count)
        return encryptedBody(padded, for: keys, privateKey: random.bytes(32), salt: random.bytes(16))
    }

    /// Returns the encrypted body of a record.
    /// - Parameter record: the text, the byte 2, and zeros.
    /// - Returns: nil if one of the keys is invalid, or libcrypto fails.
    static func encryptedBody(_ record: [UInt8], for keys: WebPushKeys, privateKey: [UInt8], salt: [UInt8]) -> [UInt8]?
    {
        guard let (publicKey, secret) = P256.agreement(of: privateKey, with: keys.p256dh) else { return nil }
        // RFC 8291, section 3.4. Each extraction by HKDF is one HMAC, and each expansion needs only its first block.
        let combinedSecret = hmacSHA256(secret, key: keys.auth)
        let inputKey = hmacSHA256(Array("WebPush: info\0".utf8) + keys.p256dh + publicKey + [1], key: combinedSecret)
        let pseudorandomKey = hmacSHA256(inputKey, key: salt)
        let key = hmacSHA256(Array("Content-Encoding: aes128gcm\0\u{1}".utf8), key: pseudorandomKey).prefix(16)
        let nonce = hmacSHA256(Array("Content-Encoding: nonce\0\u{1}".utf8), key: pseudorandomKey).prefix(12)
        guard let encrypted = encrypt(record, key: Array(key), nonce: Array(nonce)) else { return nil }
        return salt + [0, 0, 16, 0, UInt8(publicKey.count)] + publicKey + encrypted
    }

    /// Returns the text encrypted with AES-128-GCM, with the tag at the end; nil if libcrypto fails.
    private static func encrypt(_ text: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8]? {
        guard let context = EVP_CIPHER_CTX_new() else { return nil }
        defer { EVP_CIPHER_CTX_free(context) }
        var (output, count, finalCount) = ([UInt8](repeating: 0, count: text.count), Int32(0), Int32(0))
        var tag = [UInt8](repeating: 0, count: tagLength)
        guard EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), nil, key, nonce) == 1,
            EVP_EncryptUpdate(context, &output, &count, text, Int32(text.count)) == 1, Int(count) == text.count,
            EVP_EncryptFinal_ex(context, &tag, &finalCount) == 1, finalCount == 0,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tagLength), &tag) == 1
        else { return nil }
        return output + tag
    }
}
