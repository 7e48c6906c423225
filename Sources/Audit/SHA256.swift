import CCrypto

/// SHA-256 (FIPS 180-4), by libcrypto, which uses the processor's own instructions for it where there are any.
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

/// Looked up once: each look-up costs more than a short digest does.
@safe private struct SHA256Algorithm: @unchecked Sendable {
    static let shared = SHA256Algorithm()

    /// Of an algorithm that libcrypto never changes once it was fetched; any thread may use it.
    let handle: OpaquePointer

    private init() {
        guard let handle = unsafe EVP_MD_fetch(nil, "SHA256", nil) else {
            preconditionFailure("libcrypto lacks SHA-256")
        }
        unsafe self.handle = handle
    }
}
