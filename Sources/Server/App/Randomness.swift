import CSodium
import Domain
import Reactor

/// The source of ids, salts and tokens; injected, so that tests can repeat a run.
public protocol Randomness: Sendable {
    func bytes(_ count: Int) -> [UInt8]
}

/// The system's random generator, through libsodium. Short requests are served from a buffer, so that the ids, salts
/// and nonces of several acts cost one system call. Each byte is used once and then wiped.
public final class SystemRandomness: Randomness {
    private static let bufferSize = 512
    private let buffer = Locked([UInt8]())

    public init() {}

    public func bytes(_ count: Int) -> [UInt8] {
        guard count <= Self.bufferSize / 4 else { return Self.freshBytes(count) }
        return buffer.withLock { buffer in
            if buffer.count < count { buffer = Self.freshBytes(Self.bufferSize) }
            let start = buffer.count - count
            let bytes = Array(buffer[start...])
            for index in start..<buffer.count { buffer[index] = 0 }
            buffer.removeLast(count)
            return bytes
        }
    }

    private static func freshBytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(addingCapacity: count) { output in
            output.withUnsafeMutableBufferPointer { memory, initialized in
                if let start = memory.baseAddress { randombytes_buf(start, count) }
                initialized = count
            }
        }
        return bytes
    }
}

extension Randomness {
    /// Returns a UUID version 7 (RFC 9562, section 5.7), which sorts by its creation time.
    public func identifier<Kind>(at now: Timestamp) -> Identifier<Kind> {
        let random = bytes(10)
        let milliseconds = UInt64(bitPattern: floorDivide(now.microseconds, 1_000)) & 0xffff_ffff_ffff
        let high = random[0..<2].reduce(0) { $0 << 8 | UInt64($1) }
        let low = random[2..<10].reduce(0) { $0 << 8 | UInt64($1) }
        return Identifier(
            high: milliseconds << 16 | 0x7000 | high & 0x0fff, low: 0x8000_0000_0000_0000 | low & 0x3fff_ffff_ffff_ffff)
    }

    /// Returns a random code that people type.
    /// - Parameter characters: by default letters and digits except those that look alike (0 O 1 I L).
    public func code(_ length: Int, of characters: String = "ABCDEFGHJKMNPQRSTUVWXYZ23456789") -> String {
        let alphabet = Array(characters)
        var code = ""
        while code.count < length {
            // Bytes above the largest multiple of the alphabet's size are discarded, so that every character is equally
            // likely.
            for byte in bytes(length) where Int(byte) < 256 / alphabet.count * alphabet.count && code.count < length {
                code.append(alphabet[Int(byte) % alphabet.count])
            }
        }
        return code
    }
}
