import CCrypto

/// Returns the SHA-256 (FIPS 180-4) of bytes. It uses libcrypto, which uses the processor's own instructions for it
/// where there are any.
public func sha256(_ bytes: [UInt8]) -> [UInt8] {
    var digest: [UInt8] = []
    digest.append(addingCapacity: 32) { output in
        unsafe output.withUnsafeMutableBufferPointer { memory, count in
            let isDone = unsafe EVP_Digest(
                bytes, bytes.count, memory.baseAddress, nil, SHA256Algorithm.shared.handle, nil)
            precondition(isDone == 1, "libcrypto has no memory")
            count = 32
        }
    }
    return digest
}

/// The algorithm, which is looked up once: a look-up takes longer than a short digest.
@safe private struct SHA256Algorithm: @unchecked Sendable {
    static let shared = SHA256Algorithm()

    /// The handle of the algorithm. libcrypto never changes it after it was fetched, so any thread may use it.
    let handle: OpaquePointer

    private init() {
        guard let handle = unsafe EVP_MD_fetch(nil, "SHA256", nil) else {
            preconditionFailure("libcrypto lacks SHA-256")
        }
        unsafe self.handle = handle
    }
}

/// Computes the SHA-256 of bytes that arrive in pieces.
@safe public final class StreamedSHA256 {
    private let context: OpaquePointer

    public init() {
        guard let context = unsafe EVP_MD_CTX_new() else { preconditionFailure("libcrypto has no memory") }
        unsafe self.context = unsafe context
        let isReady = unsafe EVP_DigestInit_ex2(context, SHA256Algorithm.shared.handle, nil)
        precondition(isReady == 1, "libcrypto has no memory")
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    /// Appends the first `count` bytes of a buffer.
    public func append(_ bytes: [UInt8], count: Int) {
        let isDone = unsafe EVP_DigestUpdate(context, bytes, min(count, bytes.count))
        precondition(isDone == 1, "libcrypto cannot go on")
    }

    /// Returns the digest of 32 bytes. Nothing can be appended afterwards.
    public func finish() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        let isDone = unsafe EVP_DigestFinal_ex(context, &digest, nil)
        precondition(isDone == 1, "libcrypto cannot go on")
        return digest
    }
}
