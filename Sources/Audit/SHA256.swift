import CSodium

/// SHA-256 (FIPS 180-4), by libsodium.
public func sha256(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    unsafe crypto_hash_sha256(&digest, bytes, UInt64(bytes.count))
    return digest
}
