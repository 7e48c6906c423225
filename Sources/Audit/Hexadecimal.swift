import Domain

/// Returns bytes as lower-case hexadecimal digits, two for each byte.
public func hexadecimal(_ bytes: [UInt8]) -> String {
    func digit(_ nibble: UInt8) -> UInt8 { nibble + (nibble < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10) }
    return unsafe String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
        for (place, byte) in bytes.enumerated() {
            unsafe text[2 * place] = digit(byte >> 4)
            unsafe text[2 * place + 1] = digit(byte & 15)
        }
        return 2 * bytes.count
    }
}

/// Returns the bytes of hexadecimal digits of either case; nil for anything else.
public func bytes(hexadecimal text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count / 2)
    var high: UInt8?
    for digit in text.utf8 {
        guard let value = hexadecimalValue(digit) else { return nil }
        if let first = high {
            bytes.append(first << 4 | value)
            high = nil
        } else {
            high = value
        }
    }
    return high == nil ? bytes : nil
}
