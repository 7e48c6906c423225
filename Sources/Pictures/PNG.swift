/// Cleans a PNG file (W3C PNG, third edition).
enum PNG {
    /// The names of the chunks that are kept: critical chunks, and those of colours and animations. The colour profile
    /// and Exif are replaced by cleaned ones. All other chunks are texts, times, or unknown, and are removed. A file
    /// with an unknown critical chunk is malformed.
    private static let keptChunks: Set<String> = [
        "IHDR", "PLTE", "IDAT", "IEND", "tRNS", "cHRM", "gAMA", "sBIT", "sRGB", "cICP", "mDCV", "cLLI", "bKGD",
        "pHYs", "acTL", "fcTL", "fdAT",
    ]

    static func clean(_ reader: inout ByteReader, into output: inout [UInt8]) throws(PictureError) {
        output.append(try reader.take(8), of: reader.bytes)
        var (isFirst, hasData, width, height, frameCount) = (true, false, 0, 0, 0)
        var (hasProfile, hasOrientation) = (false, false)
        while true {
            let start = reader.position
            let length = try reader.readBigEndian(4)
            let typeRange = try reader.take(4)
            guard let type = chunkName(reader.bytes, typeRange) else { throw .malformed }
            let content = try reader.take(length)
            let checksum = CRC.checksum(of: reader.bytes, typeRange.lowerBound..<content.upperBound)
            guard checksum == (try reader.readBigEndian(4)) else { throw .malformed }
            guard isFirst == (type == "IHDR") else { throw .malformed }
            if isFirst {
                guard length == 13 else { throw .malformed }
                let widthStart = content.lowerBound
                width = reader.bytes.bigEndian(widthStart..<widthStart + 4)
                height = reader.bytes.bigEndian(widthStart + 4..<widthStart + 8)
                try Picture.checkSize(width: width, height: height)
                isFirst = false
            }
            if type == "IDAT" { hasData = true }
            if type == "fcTL" {
                func number(_ offset: Int) -> Int {
                    reader.bytes.bigEndian(content.lowerBound + offset..<content.lowerBound + offset + 4)
                }
                // A frame may not exceed the picture (§11.3.6.2).
                guard length == 26, number(4) + number(12) <= width, number(8) + number(16) <= height
                else { throw .malformed }
                frameCount += 1
                try Picture.checkDrawnPixels(frames: frameCount, pixelsPerFrame: width * height)
            }
            switch type {
            case "iCCP" where !hasProfile:
                hasProfile = true
                if let profile = cleanedProfileContent(reader.bytes[content]) {
                    appendChunk(type, profile, to: &output)
                }
            case "eXIf" where !hasOrientation:
                guard let orientation = Exif.orientation(in: content, of: reader.bytes) else { break }
                hasOrientation = true
                appendChunk(type, Exif.content(orientation: orientation), to: &output)
            default: break
            }
            guard keptChunks.contains(type) else {
                // Without a critical chunk, whose name begins in upper case, the picture cannot be shown.
                guard reader.bytes[typeRange.lowerBound] & 0x20 != 0 else { throw .malformed }
                continue
            }
            output.append(start..<reader.position, of: reader.bytes)
            if type == "IEND" {
                guard hasData, length == 0 else { throw .malformed }
                return
            }
        }
    }

    /// Returns the content of a chunk with the cleaned colour profile: a name, the compression method, and the profile.
    /// Returns nil if the chunk is malformed, or the profile is not kept.
    private static func cleanedProfileContent(_ content: ArraySlice<UInt8>) -> [UInt8]? {
        guard let end = content.prefix(80).firstIndex(of: 0), end + 1 < content.endIndex, content[end + 1] == 0,
            let profile = ColourProfile.inflate(content[(end + 2)...]).flatMap(ColourProfile.clean)
        else { return nil }
        return Array("Colours\0\0".utf8) + ColourProfile.deflate(profile)
    }

    private static func appendChunk(_ name: String, _ content: [UInt8], to output: inout [UInt8]) {
        output.append(bigEndian: content.count, 4)
        let start = output.count
        output += Array(name.utf8) + content
        output.append(bigEndian: CRC.checksum(of: output, start..<output.count), 4)
    }

    /// Returns the name of a chunk; nil unless it is four ASCII letters.
    private static func chunkName(_ bytes: [UInt8], _ range: Range<Int>) -> String? {
        var name = ""
        for index in range {
            guard (0x41...0x5A).contains(bytes[index] & ~0x20) else { return nil }
            name.unicodeScalars.append(Unicode.Scalar(bytes[index]))
        }
        return name
    }
}

/// Computes the CRC-32 of PNG chunks (W3C PNG, Annex D).
enum CRC {
    private static let table: [UInt32] = (0..<256).map { number in
        (0..<8).reduce(UInt32(number)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
    }

    static func checksum(of bytes: [UInt8], _ range: Range<Int>) -> Int {
        var value = UInt32.max
        let table = table.span
        for index in range { value = table[Int(UInt8(truncatingIfNeeded: value) ^ bytes[index])] ^ (value >> 8) }
        return Int(~value)
    }
}
