extension Span where Element == UInt8 {
    /// Appends the decoded bytes to `result`. Returns false if a percent sign is not followed by two hexadecimal digits
    /// (RFC 3986 §2.1).
    func appendPercentDecoded(to result: inout [UInt8], plusIsSpace: Bool = false) -> Bool {
        var index = 0
        while index < count {
            let byte = self[index]
            if byte == UInt8(ascii: "%") {
                guard index + 2 < count, let high = self[index + 1].hexadecimal, let low = self[index + 2].hexadecimal
                else { return false }
                result.append(high << 4 | low)
                index += 3
            } else {
                result.append(plusIsSpace && byte == UInt8(ascii: "+") ? 0x20 : byte)
                index += 1
            }
        }
        return true
    }

    /// Whether decoding, with `+` as a space, would change anything.
    var needsDecoding: Bool {
        for index in indices where self[index] == UInt8(ascii: "%") || self[index] == UInt8(ascii: "+") { return true }
        return false
    }

    var isUTF8WithoutNUL: Bool {
        for index in indices where self[index] == 0 { return false }
        return (try? UTF8Span(validating: self)) != nil
    }
}
