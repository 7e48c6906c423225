/// Checks UTF-8 (RFC 3629) byte by byte, so that text that arrives in pieces is refused at its first wrong byte.
struct UTF8Validator: Sendable {
    /// Continuation bytes that the character in progress still needs.
    private var left = 0
    /// The range of the next continuation byte: fewer values after the lead bytes of overlong forms, surrogates and
    /// numbers above U+10FFFF.
    private var lowest: UInt8 = 0x80
    private var highest: UInt8 = 0xBF

    /// Whether the text so far ends with a whole character.
    var isComplete: Bool { left == 0 }

    /// Takes the next byte; false if no text may continue with it.
    mutating func accepts(_ byte: UInt8) -> Bool {
        guard left == 0 else {
            guard byte >= lowest, byte <= highest else { return false }
            begin(left - 1)
            return true
        }
        switch byte {
        case 0x00...0x7F: break
        case 0xC2...0xDF: begin(1)
        case 0xE0: begin(2, lowest: 0xA0)
        case 0xED: begin(2, highest: 0x9F)
        case 0xE1...0xEF: begin(2)
        case 0xF0: begin(3, lowest: 0x90)
        case 0xF1...0xF3: begin(3)
        case 0xF4: begin(3, highest: 0x8F)
        default: return false
        }
        return true
    }

    private mutating func begin(_ left: Int, lowest: UInt8 = 0x80, highest: UInt8 = 0xBF) {
        (self.left, self.lowest, self.highest) = (left, lowest, highest)
    }
}
