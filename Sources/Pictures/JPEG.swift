/// Cleans a JPEG file (ITU-T T.81 Annex B, JFIF 1.02, Exif 2.32).
enum JPEG {
    static func clean(_ reader: inout ByteReader, into output: inout [UInt8]) throws(PictureError) {
        output.append(try reader.take(2), of: reader.bytes)  // SOI
        var (pixels, scans, hasOrientation) = (0, 0, false)
        var profile = ProfileParts()
        // A file that breaks off in a scan is shown as far as it goes: its end is added.
        while scans == 0 || reader.remaining > 1 {
            let marker = try marker(&reader)
            if marker == 0xD9 { break }
            // What stands alone (TEM, RSTn, SOI) has no place between segments.
            guard marker >= 0xC0, !(0xD0...0xD8).contains(marker) else { throw .malformed }
            let length = try reader.bigEndian(2)
            guard length >= 2 else { throw .malformed }
            let content = try reader.take(length - 2)
            switch marker {
            case 0xC8, 0xF0...0xFD: throw .malformed  // reserved for extensions
            case 0xE0:
                // A JFIF segment counts only as the first. It may carry a small picture, which goes.
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
                append(marker, content, of: reader, to: &output)
            case 0xE3...0xED, 0xEF, 0xFE: continue  // other applications' data and comments
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
                guard pixels == 0, content.count >= 6 else { throw .malformed }
                let size = content.lowerBound + 1
                let width = reader.bytes.bigEndian(size + 2..<size + 4)
                let height = reader.bytes.bigEndian(size..<size + 2)
                try Picture.checkSize(width: width, height: height)
                pixels = width * height
                append(marker, content, of: reader, to: &output)
            case 0xDA:
                guard pixels > 0 else { throw .malformed }
                scans += 1
                try Picture.checkFrames(scans, pixels: pixels)
                append(marker, content, of: reader, to: &output)
                output.append(try scan(&reader), of: reader.bytes)
            default: append(marker, content, of: reader, to: &output)  // tables, intervals, numbers of lines
            }
        }
        guard scans > 0 else { throw .malformed }
        output += [0xFF, 0xD9]
        if let (segment, place) = profile.segment { output.insert(contentsOf: segment, at: place) }
    }

    /// The parts of a colour profile, which segments with numbers carry (ICC.1:2022 Annex B.4).
    private struct ProfileParts {
        private var parts: [UInt8: Range<Int>] = [:]
        private var count = 0
        private var bytes: [UInt8] = []
        private var place = 0

        mutating func add(_ content: Range<Int>, of bytes: [UInt8], at place: Int) {
            if parts.isEmpty { (self.bytes, self.place, count) = (bytes, place, Int(bytes[content.lowerBound + 13])) }
            parts[bytes[content.lowerBound + 12]] = content.lowerBound + 14..<content.upperBound
        }

        /// The cleaned profile as one segment, and its place in the output; nil where parts are missing or nothing is kept.
        var segment: (bytes: [UInt8], place: Int)? {
            guard count > 0, parts.count == count else { return nil }
            var whole: [UInt8] = []
            for (_, part) in parts.sorted(by: { $0.key < $1.key }) { whole.append(part, of: bytes) }
            guard let profile = ColourProfile.clean(whole), profile.count <= 0xFFFF - 16 else { return nil }
            var segment: [UInt8] = [0xFF, 0xE2]
            segment.append(bigEndian: profile.count + 16, 2)
            return (segment + Array("ICC_PROFILE\0\u{1}\u{1}".utf8) + profile, place)
        }
    }

    /// The code of the next marker, behind any fill bytes.
    private static func marker(_ reader: inout ByteReader) throws(PictureError) -> UInt8 {
        guard try reader.byte() == 0xFF else { throw .malformed }
        var code = try reader.byte()
        while code == 0xFF { code = try reader.byte() }
        return code
    }

    /// Entropy-coded data: up to the next marker but RSTn, or the end of the file. A zero byte follows each 0xFF that is no
    /// marker.
    private static func scan(_ reader: inout ByteReader) throws(PictureError) -> Range<Int> {
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

    private static func append(_ marker: UInt8, _ content: Range<Int>, of reader: ByteReader, to output: inout [UInt8])
    {
        let length = content.count + 2
        output += [0xFF, marker, UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length)]
        output.append(content, of: reader.bytes)
    }
}

/// The one fact of Exif that is kept: which way up the picture is.
enum Exif {
    private static let prefix = Array("Exif\0\0".utf8)

    /// The orientation in the first directory of an APP1 segment, 2 to 8; nil where there is none, or it is the usual.
    static func orientation(inSegment content: Range<Int>, of bytes: [UInt8]) -> UInt8? {
        guard bytes[content].starts(with: prefix) else { return nil }
        return orientation(in: content, of: bytes)
    }

    /// Returns the orientation of Exif in a chunk of PNG or WebP, where some programs write the segment's prefix too;
    /// nil where there is none, or it is the usual.
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

    /// Exif that says the orientation and nothing else.
    static func content(orientation: UInt8) -> [UInt8] {
        Array("MM\0*".utf8) + [0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0]
    }

    /// Returns an APP1 segment with Exif that gives the orientation and nothing else.
    static func segment(orientation: UInt8) -> [UInt8] {
        [0xFF, 0xE1, 0, 34] + prefix + content(orientation: orientation)
    }
}
