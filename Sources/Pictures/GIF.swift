/// Cleans a GIF file (GIF89a specification).
enum GIF {
    static func clean(_ reader: inout ByteReader, into output: inout [UInt8]) throws(PictureError) {
        let head = try reader.take(13)
        let place = head.lowerBound + 6
        let width = reader.bytes.littleEndian(place..<place + 2)
        let height = reader.bytes.littleEndian(place + 2..<place + 4)
        try Picture.checkSize(width: width, height: height)
        _ = try colourTable(&reader, flags: reader.bytes[place + 4])
        output.append(head.lowerBound..<reader.position, of: reader.bytes)
        var frames = 0
        while true {
            let start = reader.position
            switch try reader.byte() {
            case 0x2C:
                let descriptor = try reader.take(9)
                frames += 1
                try checkFrame(reader.bytes, descriptor.lowerBound)
                try Picture.checkFrames(frames, pixels: width * height)
                _ = try colourTable(&reader, flags: reader.bytes[descriptor.lowerBound + 8])
                _ = try reader.byte()  // the size of the codes
                try blocks(&reader)
                output.append(start..<reader.position, of: reader.bytes)
            case 0x21:
                let label = try reader.byte()
                let isRepetition =
                    label == 0xFF
                    && (reader.bytes.has("\u{0B}NETSCAPE2.0\u{03}", at: reader.position)
                        || reader.bytes.has("\u{0B}ANIMEXTS1.0\u{03}", at: reader.position))
                if isRepetition {
                    _ = try reader.take(12)
                    let repetition = try reader.take(4)
                    output.append(start..<repetition.upperBound, of: reader.bytes)
                    output.append(0)
                }
                try blocks(&reader)
                // The time and transparency of a frame.
                if label == 0xF9 { output.append(start..<reader.position, of: reader.bytes) }
            case 0x3B:
                guard frames > 0 else { throw .malformed }
                return output.append(0x3B)
            default: throw .malformed
            }
        }
    }

    /// Checks the size of the picture up to the frame's far edges. A frame may exceed the screen that the file's header
    /// describes, because readers then enlarge the screen.
    private static func checkFrame(_ bytes: [UInt8], _ place: Int) throws(PictureError) {
        func number(_ offset: Int) -> Int { bytes.littleEndian(place + offset..<place + offset + 2) }
        try Picture.checkSize(width: max(1, number(0) + number(4)), height: max(1, number(2) + number(6)))
    }

    private static func colourTable(_ reader: inout ByteReader, flags: UInt8) throws(PictureError) -> Range<Int> {
        try reader.take(flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1))
    }

    /// Reads blocks to the empty one.
    private static func blocks(_ reader: inout ByteReader) throws(PictureError) {
        var length = Int(try reader.byte())
        while length > 0 {
            _ = try reader.take(length)
            length = Int(try reader.byte())
        }
    }
}
