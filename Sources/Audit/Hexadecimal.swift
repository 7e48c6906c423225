/// Lower-case hexadecimal digits, two a byte.
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
