import CSodium

/// SHA-256 (FIPS 180-4), by libsodium.
public func sha256(_ bytes: [UInt8]) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: 32) { digest, count in
        if let start = digest.baseAddress { unsafe crypto_hash_sha256(start, bytes, UInt64(bytes.count)) }
        count = 32
    }
}
