/// Cleans a GIF file (GIF89a specification).
enum GIF {
    static func clean(_ reader: inout ByteReader, into output: inout [UInt8]) throws(PictureError) {
        let header = try reader.take(13)
        let screenStart = header.lowerBound + 6  // the logical screen descriptor
        var width = reader.bytes.littleEndian(screenStart..<screenStart + 2)
        var height = reader.bytes.littleEndian(screenStart + 2..<screenStart + 4)
        try Picture.checkSize(width: width, height: height)
        _ = try takeColourTable(&reader, flags: reader.bytes[screenStart + 4])
        output.append(header.lowerBound..<reader.position, of: reader.bytes)
        var frameCount = 0
        while true {
            let start = reader.position
            switch try reader.readByte() {
            case 0x2C:
                let descriptor = try reader.take(9)
                frameCount += 1
                // A frame may exceed the screen that the file's header describes. Readers then enlarge the screen, which
                // all frames fill.
                func number(_ offset: Int) -> Int {
                    reader.bytes.littleEndian(descriptor.lowerBound + offset..<descriptor.lowerBound + offset + 2)
                }
                width = max(width, number(0) + number(4))
                height = max(height, number(2) + number(6))
                try Picture.checkSize(width: width, height: height)
                try Picture.checkDrawnPixels(frames: frameCount, pixelsPerFrame: width * height)
                _ = try takeColourTable(&reader, flags: reader.bytes[descriptor.lowerBound + 8])
                _ = try reader.readByte()  // the size of the codes
                try skipBlocks(&reader)
                output.append(start..<reader.position, of: reader.bytes)
            case 0x21:
                let label = try reader.readByte()
                let hasRepetitionCount =
                    label == 0xFF
                    && (reader.bytes.has("\u{0B}NETSCAPE2.0\u{03}", at: reader.position)
                        || reader.bytes.has("\u{0B}ANIMEXTS1.0\u{03}", at: reader.position))
                if hasRepetitionCount {
                    _ = try reader.take(12)
                    let repetitionRange = try reader.take(4)
                    output.append(start..<repetitionRange.upperBound, of: reader.bytes)
                    output.append(0)
                }
                try skipBlocks(&reader)
                // The graphic control extension: the time and transparency of a frame.
                if label == 0xF9 { output.append(start..<reader.position, of: reader.bytes) }
            case 0x3B:
                guard frameCount > 0 else { throw .malformed }
                return output.append(0x3B)
            default: throw .malformed
            }
        }
    }

    private static func takeColourTable(_ reader: inout ByteReader, flags: UInt8) throws(PictureError) -> Range<Int> {
        try reader.take(flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1))
    }

    /// Skips data sub-blocks up to and including the empty one.
    private static func skipBlocks(_ reader: inout ByteReader) throws(PictureError) {
        var length = Int(try reader.readByte())
        while length > 0 {
            _ = try reader.take(length)
            length = Int(try reader.readByte())
        }
    }
}
