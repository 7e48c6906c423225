import CCrypto

/// A private key of the curve P-256 that signs tokens with ES256 (RFC 7518, section 3.4), by libcrypto.
final class ES256Key: Sendable {
    /// libcrypto's key, which never changes; any thread may sign with it.
    private nonisolated(unsafe) let key: OpaquePointer

    /// Reads a private key in PEM form without a password, as Apple's .p8 files are; nil for anything else, for a key
    /// of another curve, and for a text of more than 16 KiB.
    init?(pem: String) {
        var text = Array(pem.utf8)
        guard !text.isEmpty, text.count <= 16_384, let file = BIO_new_mem_buf(&text, Int32(text.count)) else {
            return nil
        }
        // `BIO_new_mem_buf` does not copy, so the array must live until the key is read.
        let privateKey = withExtendedLifetime(text) {
            // An encrypted key has no password here.
            PEM_read_bio_PrivateKey(file, nil, { _, _, _, _ in 0 }, nil)
        }
        BIO_free(file)
        guard let privateKey else { return nil }
        var curve = [CChar](repeating: 0, count: 64)
        guard EVP_PKEY_is_a(privateKey, "EC") == 1,
            EVP_PKEY_get_group_name(privateKey, &curve, curve.count, nil) == 1,
            curve.starts(with: SN_X9_62_prime256v1.utf8CString)
        else {
            EVP_PKEY_free(privateKey)
            return nil
        }
        key = privateKey
    }

    deinit { EVP_PKEY_free(key) }

    /// The public key: the byte 4, and the two coordinates of the point; nil if libcrypto fails.
    var publicKey: [UInt8]? {
        var encoded: UnsafeMutablePointer<UInt8>?
        let count = EVP_PKEY_get1_encoded_public_key(key, &encoded)
        defer { CRYPTO_free(encoded, #file, #line) }
        guard let encoded, count == P256.publicKeyLength else { return nil }
        return Array(UnsafeBufferPointer(start: encoded, count: count))
    }

    /// Returns a signed token with a header and claims (RFC 7519); nil if libcrypto fails.
    func signedToken(header: String, claims: String) -> String? {
        let signingInput = base64URL(Array(header.utf8)) + "." + base64URL(Array(claims.utf8))
        return signature(of: Array(signingInput.utf8)).map { signingInput + "." + base64URL($0) }
    }

    /// Returns the signature's two numbers, 32 bytes each; nil if libcrypto fails.
    func signature(of message: [UInt8]) -> [UInt8]? {
        guard let context = EVP_MD_CTX_new() else { return nil }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1 else { return nil }
        var (encoded, count) = ([UInt8](repeating: 0, count: 128), 128)
        guard EVP_DigestSign(context, &encoded, &count, message, message.count) == 1 else { return nil }
        return encoded.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            guard let pair = d2i_ECDSA_SIG(nil, &start, count) else { return nil }
            defer { ECDSA_SIG_free(pair) }
            var numbers = [UInt8](repeating: 0, count: 64)
            let isWritten = numbers.withUnsafeMutableBufferPointer { output in
                guard let base = output.baseAddress else { return false }
                return BN_bn2binpad(ECDSA_SIG_get0_r(pair), base, 32) == 32
                    && BN_bn2binpad(ECDSA_SIG_get0_s(pair), base + 32, 32) == 32
            }
            return isWritten ? numbers : nil
        }
    }
}
