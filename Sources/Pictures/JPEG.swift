/// Cleans a JPEG file (ITU-T T.81 Annex B, JFIF 1.02, Exif 2.32).
enum JPEG {
    static func clean(_ reader: inout ByteReader, into output: inout [UInt8]) throws(PictureError) {
        output.append(try reader.take(2), of: reader.bytes)  // SOI
        var (pixelCount, scanCount, hasOrientation) = (0, 0, false)
        var profile = ProfileParts()
        // If a file is cut off in a scan, its end marker is added, so that the existing part is shown.
        while scanCount == 0 || reader.remainingCount > 1 {
            let marker = try takeMarker(&reader)
            if marker == 0xD9 { break }
            // Markers without a segment (TEM, RSTn, SOI) are not allowed between segments.
            guard marker >= 0xC0, !(0xD0...0xD8).contains(marker) else { throw .malformed }
            let length = try reader.readBigEndian(2)
            guard length >= 2 else { throw .malformed }
            let content = try reader.take(length - 2)
            switch marker {
            case 0xC8, 0xF0...0xFD: throw .malformed  // reserved for extensions
            case 0xE0:
                // A JFIF segment is valid only as the first. It may contain a thumbnail, which is removed.
                guard output.count == 2, reader.bytes.has("JFIF\0", at: content.lowerBound), content.count >= 14 else {
                    continue
                }
                output += [0xFF, 0xE0, 0, 16]
                output.append(content.lowerBound..<content.lowerBound + 12, of: reader.bytes)
                output += [0, 0]
            case 0xE1:
                guard !hasOrientation, let orientation = Exif.orientation(inSegment: content, of: reader.bytes)
                else { continue }
                hasOrientation = true
                output += Exif.segment(orientation: orientation)
            case 0xE2:
                guard reader.bytes.has("ICC_PROFILE\0", at: content.lowerBound), content.count > 14 else { continue }
                profile.add(content, of: reader.bytes, at: output.count)
            case 0xEE:
                guard reader.bytes.has("Adobe", at: content.lowerBound), content.count == 12 else { continue }
                appendSegment(marker, content, of: reader, to: &output)
            case 0xE3...0xED, 0xEF, 0xFE: continue  // other applications' data and comments
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
                guard pixelCount == 0, content.count >= 6 else { throw .malformed }
                let heightStart = content.lowerBound + 1
                let width = reader.bytes.bigEndian(heightStart + 2..<heightStart + 4)
                let height = reader.bytes.bigEndian(heightStart..<heightStart + 2)
                try Picture.checkSize(width: width, height: height)
                pixelCount = width * height
                appendSegment(marker, content, of: reader, to: &output)
            case 0xDA:
                guard pixelCount > 0 else { throw .malformed }
                scanCount += 1
                try Picture.checkDrawnPixels(frames: scanCount, pixelsPerFrame: pixelCount)
                appendSegment(marker, content, of: reader, to: &output)
                output.append(try takeScan(&reader), of: reader.bytes)
            default: appendSegment(marker, content, of: reader, to: &output)  // tables, intervals, numbers of lines
            }
        }
        guard scanCount > 0 else { throw .malformed }
        output += [0xFF, 0xD9]
        if let (segment, offset) = profile.cleanedSegment { output.insert(contentsOf: segment, at: offset) }
    }

    /// The parts of a colour profile, from numbered segments (ICC.1:2022 Annex B.4).
    private struct ProfileParts {
        private var parts: [UInt8: Range<Int>] = [:]
        private var expectedCount = 0
        private var bytes: [UInt8] = []
        /// The offset in the output at which the first part was, and the cleaned profile is inserted.
        private var outputOffset = 0

        /// Adds the part in the content of a segment.
        /// - Parameter outputOffset: the number of bytes that the output has so far.
        mutating func add(_ content: Range<Int>, of bytes: [UInt8], at outputOffset: Int) {
            if parts.isEmpty {
                (self.bytes, self.outputOffset) = (bytes, outputOffset)
                expectedCount = Int(bytes[content.lowerBound + 13])
            }
            parts[bytes[content.lowerBound + 12]] = content.lowerBound + 14..<content.upperBound
        }

        /// The cleaned profile as one segment, and its offset in the output; nil if parts are missing or the profile is
        /// not kept.
        var cleanedSegment: (bytes: [UInt8], offset: Int)? {
            guard expectedCount > 0, parts.count == expectedCount else { return nil }
            var joinedParts: [UInt8] = []
            for (_, part) in parts.sorted(by: { $0.key < $1.key }) { joinedParts.append(part, of: bytes) }
            guard let profile = ColourProfile.clean(joinedParts), profile.count <= 0xFFFF - 16 else { return nil }
            var segment: [UInt8] = [0xFF, 0xE2]
            segment.append(bigEndian: profile.count + 16, 2)
            return (segment + Array("ICC_PROFILE\0\u{1}\u{1}".utf8) + profile, outputOffset)
        }
    }

    /// Returns the code of the next marker, after any fill bytes.
    private static func takeMarker(_ reader: inout ByteReader) throws(PictureError) -> UInt8 {
        guard try reader.readByte() == 0xFF else { throw .malformed }
        var code = try reader.readByte()
        while code == 0xFF { code = try reader.readByte() }
        return code
    }

    /// Returns the range of entropy-coded data: up to the next marker other than RSTn, or the end of the file. A zero
    /// byte follows each 0xFF that is not a marker.
    private static func takeScan(_ reader: inout ByteReader) throws(PictureError) -> Range<Int> {
        let start = reader.position
        var index = start
        while true {
            index = reader.bytes.firstIndex(of: 0xFF, from: index)
            guard index + 1 < reader.bytes.count else { return try reader.take(index - start) }
            let next = reader.bytes[index + 1]
            guard next == 0 || (0xD0...0xD7).contains(next) else { return try reader.take(index - start) }
            index += 2
        }
    }

    private static func appendSegment(
        _ marker: UInt8, _ content: Range<Int>, of reader: ByteReader, to output: inout [UInt8]
    ) {
        let length = content.count + 2
        output += [0xFF, marker, UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length)]
        output.append(content, of: reader.bytes)
    }
}

/// Reads and writes the only part of Exif that is kept: the orientation of the picture.
enum Exif {
    private static let prefix = Array("Exif\0\0".utf8)

    /// Returns the orientation in the first directory of an APP1 segment, 2 to 8; nil if there is none, or it is 1, the
    /// default.
    static func orientation(inSegment content: Range<Int>, of bytes: [UInt8]) -> UInt8? {
        guard bytes[content].starts(with: prefix) else { return nil }
        return orientation(in: content, of: bytes)
    }

    /// Returns the orientation of Exif in a chunk of PNG or WebP, where some programs write the segment's prefix too;
    /// nil if there is none, or it is 1, the default.
    static func orientation(in content: Range<Int>, of bytes: [UInt8]) -> UInt8? {
        let tiff = Array(bytes[content].starts(with: prefix) ? bytes[content].dropFirst(prefix.count) : bytes[content])
        guard tiff.count >= 14 else { return nil }
        let isLittleEndian = tiff.has("II*\0", at: 0)
        guard isLittleEndian || tiff.has("MM\0*", at: 0) else { return nil }
        func number(_ range: Range<Int>) -> Int {
            isLittleEndian ? tiff.littleEndian(range) : tiff.bigEndian(range)
        }
        let directory = number(4..<8)
        guard directory >= 8, directory <= tiff.count - 2 else { return nil }
        let count = number(directory..<directory + 2)
        for index in 0..<count {
            let entry = directory + 2 + 12 * index
            guard entry <= tiff.count - 12 else { return nil }
            guard number(entry..<entry + 2) == 0x0112 else { continue }
            let value = number(entry + 8..<entry + 10)
            guard number(entry + 2..<entry + 4) == 3, number(entry + 4..<entry + 8) == 1, (2...8).contains(value)
            else { return nil }
            return UInt8(value)
        }
        return nil
    }

    /// Returns Exif with the orientation and nothing else.
    static func content(orientation: UInt8) -> [UInt8] {
        Array("MM\0*".utf8) + [0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0]
    }

    /// Returns an APP1 segment of Exif with the orientation and nothing else.
    static func segment(orientation: UInt8) -> [UInt8] {
        [0xFF, 0xE1, 0, 34] + prefix + content(orientation: orientation)
    }
}
