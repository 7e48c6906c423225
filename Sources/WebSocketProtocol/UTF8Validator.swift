/// Checks UTF-8 (RFC 3629) byte by byte, so that text is refused at its first invalid byte even if it arrives in parts.
struct UTF8Validator: Sendable {
    /// The number of continuation bytes that the current character still needs.
    private var missingBytes = 0
    /// The range of the next continuation byte. It is smaller after lead bytes that could begin an overlong form, a
    /// surrogate or a number above U+10FFFF.
    private var lowest: UInt8 = 0x80
    private var highest: UInt8 = 0xBF

    /// Whether the text so far ends with a complete character.
    var isComplete: Bool { missingBytes == 0 }

    /// Takes the next byte. Returns false if it makes the text invalid.
    mutating func validateNext(_ byte: UInt8) -> Bool {
        guard missingBytes == 0 else {
            guard byte >= lowest, byte <= highest else { return false }
            expectContinuation(missingBytes - 1)
            return true
        }
        switch byte {
        case 0x00...0x7F: break
        case 0xC2...0xDF: expectContinuation(1)
        case 0xE0: expectContinuation(2, lowest: 0xA0)
        case 0xED: expectContinuation(2, highest: 0x9F)
        case 0xE1...0xEF: expectContinuation(2)
        case 0xF0: expectContinuation(3, lowest: 0x90)
        case 0xF1...0xF3: expectContinuation(3)
        case 0xF4: expectContinuation(3, highest: 0x8F)
        default: return false
        }
        return true
    }

    private mutating func expectContinuation(_ missingBytes: Int, lowest: UInt8 = 0x80, highest: UInt8 = 0xBF) {
        (self.missingBytes, self.lowest, self.highest) = (missingBytes, lowest, highest)
    }
}
