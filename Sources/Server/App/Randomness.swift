import CSodium
import Domain

/// Where ids, salts and tokens come from, handed in so that tests can repeat a run.
public protocol Randomness: Sendable {
    func bytes(_ count: Int) -> [UInt8]
}

/// The system's generator, through libsodium.
public struct SystemRandomness: Randomness {
    public init() {}

    public func bytes(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            if let start = buffer.baseAddress { randombytes_buf(start, count) }
            initialized = count
        }
    }
}

extension Randomness {
    /// An id that sorts by its time of making: UUID version 7 (RFC 9562, section 5.7).
    public func identifier<Kind>(at now: Timestamp) -> Identifier<Kind> {
        let random = bytes(10)
        let milliseconds = UInt64(bitPattern: floorDivide(now.microseconds, 1_000)) & 0xffff_ffff_ffff
        let high = random[0..<2].reduce(0) { $0 << 8 | UInt64($1) }
        let low = random[2..<10].reduce(0) { $0 << 8 | UInt64($1) }
        return Identifier(
            high: milliseconds << 16 | 0x7000 | high & 0x0fff, low: 0x8000_0000_0000_0000 | low & 0x3fff_ffff_ffff_ffff)
    }

    /// Letters and digits without those that look alike (0 O 1 I L), for codes that people type.
    public func code(_ length: Int) -> String {
        let alphabet = Array("ABCDEFGHJKMNPQRSTUVWXYZ23456789")
        var code = ""
        while code.count < length {
            // Bytes past the last whole multiple are thrown away, so that every letter is equally likely.
            for byte in bytes(length) where Int(byte) < 256 / alphabet.count * alphabet.count && code.count < length {
                code.append(alphabet[Int(byte) % alphabet.count])
            }
        }
        return code
    }
}
