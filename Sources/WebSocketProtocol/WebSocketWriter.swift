/// Writes frames (RFC 6455 §5). Each is a complete message, in the shortest form.
public enum WebSocketWriter {
    /// Returns a frame.
    /// - Parameter mask: a key that the peer cannot guess, for the frames of a client; nil for those of a server.
    public static func frame(_ opcode: WebSocketOpcode, _ payload: [UInt8] = [], mask: UInt32? = nil) -> [UInt8] {
        var frame: [UInt8] = []
        frame.reserveCapacity(payload.count + 14)
        frame.append(0x80 | opcode.rawValue)
        let maskBit: UInt8 = mask == nil ? 0 : 0x80
        switch payload.count {
        case ..<126: frame.append(maskBit | UInt8(payload.count))
        case ..<0x1_0000: appendLength(maskBit | 126, payload.count, width: 2, to: &frame)
        default: appendLength(maskBit | 127, payload.count, width: 8, to: &frame)
        }
        guard let mask else { return frame + payload }
        let key = mask.bigEndianBytes
        frame += key
        for (index, byte) in payload.enumerated() { frame.append(byte ^ key[index % 4]) }
        return frame
    }

    /// Returns a Close frame without a reason.
    /// - Parameters:
    ///   - code: nil omits the code too.
    ///   - mask: as for `frame`.
    public static func closeFrame(_ code: WebSocketCloseCode?, mask: UInt32? = nil) -> [UInt8] {
        frame(.close, code.map { [UInt8($0.rawValue >> 8), UInt8($0.rawValue & 0xFF)] } ?? [], mask: mask)
    }

    /// Appends the byte that announces an extended length, and the length in `width` bytes.
    private static func appendLength(_ marker: UInt8, _ count: Int, width: Int, to frame: inout [UInt8]) {
        frame.append(marker)
        for shift in stride(from: 8 * (width - 1), through: 0, by: -8) {
            frame.append(UInt8(truncatingIfNeeded: count >> shift))
        }
    }
}

extension UInt32 {
    fileprivate var bigEndianBytes: [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: self >> $0) }
    }
}
