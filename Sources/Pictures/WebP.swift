/// Cleans a WebP file (RFC 9649).
enum WebP {
    static func clean(_ reader: inout ByteReader, into output: inout [UInt8]) throws(PictureError) {
        output.append(try reader.take(4), of: reader.bytes)
        let size = try reader.readLittleEndian(4)
        output += [0, 0, 0, 0]  // the size, written at the end
        let riffContent = try reader.take(size)
        guard riffContent.count >= 4 else { throw .malformed }
        output.append(riffContent.lowerBound..<riffContent.lowerBound + 4, of: reader.bytes)
        var chunks = ByteReader(reader.bytes, riffContent.lowerBound + 4..<riffContent.upperBound)
        var (hasPicture, isFirst, isExtended) = (false, true, false)
        var (canvas, frameCount) = ((width: 0, height: 0), 0)
        var (hasProfile, hasOrientation) = (false, false)
        while !chunks.isAtEnd {
            let chunk = try Chunk(&chunks)
            if isFirst {
                guard chunk.name == "VP8 " || chunk.name == "VP8L" || chunk.name == "VP8X" else { throw .malformed }
                isExtended = chunk.name == "VP8X"
                isFirst = false
            } else if !isExtended {
                break  // A simple file has one chunk (§2.5, §2.6).
            }
            switch chunk.name {
            case "VP8X":
                guard output.count == 12, chunk.content.count == 10 else { throw .malformed }
                let start = chunk.content.lowerBound
                canvas.width = chunks.bytes.littleEndian(start + 4..<start + 7) + 1
                canvas.height = chunks.bytes.littleEndian(start + 7..<start + 10) + 1
                try Picture.checkSize(width: canvas.width, height: canvas.height)
                chunk.append(of: chunks.bytes, to: &output)
                output[20] &= ~(profileFlag | exifFlag | 0x04)  // set later if the chunks are kept
            case "VP8 ", "VP8L":
                guard !hasPicture else { throw .malformed }
                hasPicture = true
                try chunk.checkSize(chunks.bytes)
                chunk.append(of: chunks.bytes, to: &output)
            case "ANMF":
                hasPicture = true
                frameCount += 1
                try Picture.checkDrawnPixels(frames: frameCount, pixelsPerFrame: canvas.width * canvas.height)
                try appendFrame(chunk, chunks.bytes, canvas, to: &output)
            case "ALPH", "ANIM": chunk.append(of: chunks.bytes, to: &output)
            case "ICCP":
                guard !hasProfile, let profile = ColourProfile.clean(Array(chunks.bytes[chunk.content])) else { break }
                hasProfile = true
                output[20] |= profileFlag
                appendChunk("ICCP", profile, to: &output)
            case "EXIF":
                guard !hasOrientation, let orientation = Exif.orientation(in: chunk.content, of: chunks.bytes) else {
                    break
                }
                hasOrientation = true
                output[20] |= exifFlag
                appendChunk("EXIF", Exif.content(orientation: orientation), to: &output)
            default: break
            }
        }
        guard hasPicture else { throw .malformed }
        let contentSize = output.count - 8
        for index in 0..<4 { output[4 + index] = UInt8(truncatingIfNeeded: contentSize >> (8 * index)) }
    }

    /// The flags of the extended format (§2.7).
    private static let (profileFlag, exifFlag): (UInt8, UInt8) = (0x20, 0x08)

    private static func appendChunk(_ name: String, _ content: [UInt8], to output: inout [UInt8]) {
        output += Array(name.utf8)
        output.append(littleEndian: content.count, 4)
        output += content
        if content.count % 2 == 1 { output.append(0) }
    }

    /// Appends one frame of an animation: its header of 16 bytes, and its chunks.
    private static func appendFrame(
        _ frame: Chunk, _ bytes: [UInt8], _ canvas: (width: Int, height: Int), to output: inout [UInt8]
    ) throws(PictureError) {
        var reader = ByteReader(bytes, frame.content)
        let header = try reader.take(16)
        let start = output.count
        output += Array("ANMF".utf8) + [0, 0, 0, 0]
        output.append(header, of: reader.bytes)
        var hasPicture = false
        while !reader.isAtEnd {
            let chunk = try Chunk(&reader)
            switch chunk.name {
            case "VP8 ", "VP8L":
                guard !hasPicture else { throw .malformed }
                hasPicture = true
                try chunk.checkSize(reader.bytes, canvas)
                chunk.append(of: reader.bytes, to: &output)
            case "ALPH": chunk.append(of: reader.bytes, to: &output)
            default: break
            }
        }
        guard hasPicture else { throw .malformed }
        let contentSize = output.count - start - 8
        for index in 0..<4 { output[start + 4 + index] = UInt8(truncatingIfNeeded: contentSize >> (8 * index)) }
    }

    /// A chunk of a RIFF file (§2.3): its name, its content, and a padding byte if the content's length is odd.
    private struct Chunk {
        let name: String
        let content: Range<Int>

        init(_ reader: inout ByteReader) throws(PictureError) {
            name = String(decoding: reader.bytes[try reader.take(4)], as: UTF8.self)
            content = try reader.take(try reader.readLittleEndian(4))
            if content.count % 2 == 1 { _ = try reader.take(1) }
        }

        func append(of bytes: [UInt8], to output: inout [UInt8]) {
            appendChunk(name, Array(bytes[content]), to: &output)
        }

        /// Checks the size of the picture, which is in the header of the data (RFC 6386 §9.1, RFC 9649 §3.4).
        /// - Parameter canvas: the size of the animation, which none of its frames may exceed.
        func checkSize(_ bytes: [UInt8], _ canvas: (width: Int, height: Int)? = nil) throws(PictureError) {
            let start = content.lowerBound
            let (width, height): (Int, Int)
            if name == "VP8L" {
                guard content.count >= 5, bytes[start] == 0x2F else { throw .malformed }
                let bits = bytes.littleEndian(start + 1..<start + 5)
                (width, height) = ((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
            } else {
                guard content.count >= 10, bytes.bigEndian(start + 3..<start + 6) == 0x9D_012A
                else { throw .malformed }
                width = bytes.littleEndian(start + 6..<start + 8) & 0x3FFF
                height = bytes.littleEndian(start + 8..<start + 10) & 0x3FFF
            }
            try Picture.checkSize(width: width, height: height)
            if let canvas, width > canvas.width || height > canvas.height { throw .malformed }
        }
    }
}
