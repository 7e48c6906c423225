import CZlib

/// Cleans a colour profile (ICC.1:2022): a new profile is made of its colours, without names, dates and serial numbers.
///
/// Cameras, phones and screens describe their colours by three primaries and curves, and greys by one curve. Profiles
/// of other kinds, such as the tables of printers, are removed: their pictures are shown as if they had no profile.
enum ColourProfile {
    /// The largest size of a profile that is read, in bytes.
    static let byteLimit = 1 << 20

    private static let headerLength = 128
    private static let tagLimit = 100
    private static let curvePointLimit = 4_096
    /// The reference white of all profiles, D50, in the encoding of the profile header (§7.2.16).
    private static let whitePoint: [UInt8] = [0, 0, 0xF6, 0xD6, 0, 1, 0, 0, 0, 0, 0xD3, 0x2D]

    /// Returns the profile with its colours only; nil if the bytes are not a profile of a kind that is kept.
    static func clean(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count > headerLength + 4, bytes.count <= byteLimit, bytes.has("acsp", at: 36),
            bytes[8] == 2 || bytes[8] == 4, bytes.bigEndian(64..<68) < 4,
            ["mntr", "scnr", "spac"].contains(where: { bytes.has($0, at: 12) })
        else { return nil }
        let (required, optional): ([String], [String])
        if bytes.has("RGB XYZ ", at: 16) {
            (required, optional) = (["rXYZ", "gXYZ", "bXYZ", "rTRC", "gTRC", "bTRC"], ["wtpt", "chad", "cicp"])
        } else if bytes.has("GRAYXYZ ", at: 16) || bytes.has("GRAYLab ", at: 16) {
            (required, optional) = (["kTRC"], ["wtpt", "chad"])
        } else {
            return nil
        }
        var tags: [(name: String, content: [UInt8])] = []
        for name in required {
            guard let content = tagContent(name, of: bytes) else { return nil }
            tags.append((name, content))
        }
        for name in optional {
            if let content = tagContent(name, of: bytes) { tags.append((name, content)) }
        }
        if !tags.contains(where: { $0.name == "wtpt" }) {
            tags.append(("wtpt", Array("XYZ \0\0\0\0".utf8) + whitePoint))
        }
        // A profile must have a description and a copyright. Their texts are the same in all pictures.
        let isVersion2 = bytes[8] == 2
        tags.append(("desc", isVersion2 ? descriptionText("Colours") : localizedText("Colours")))
        tags.append(("cprt", isVersion2 ? Array("text\0\0\0\0None\0".utf8) : localizedText("None")))
        return assemble(header(of: bytes), tags)
    }

    /// Decompresses a profile from zlib's format, which PNG uses. Returns nil if it is too large or damaged.
    static func inflate(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        var size = uLongf(byteLimit)
        let source = Array(bytes)
        var result = Z_OK
        let output = unsafe [UInt8](unsafeUninitializedCapacity: byteLimit) { buffer, count in
            result = unsafe source.withUnsafeBufferPointer {
                unsafe uncompress(buffer.baseAddress, &size, $0.baseAddress, uLong($0.count))
            }
            count = result == Z_OK ? Int(size) : 0
        }
        return result == Z_OK ? output : nil
    }

    /// Compresses bytes to zlib's format.
    static func deflate(_ bytes: [UInt8]) -> [UInt8] {
        var size = compressBound(uLong(bytes.count))
        return unsafe [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, count in
            let result = unsafe bytes.withUnsafeBufferPointer {
                unsafe compress2(buffer.baseAddress, &size, $0.baseAddress, uLong($0.count), Z_BEST_COMPRESSION)
            }
            precondition(result == Z_OK, "compressBound is the most that compress2 needs")
            count = Int(size)
        }
    }

    /// Returns a new profile header: the version, class, colour spaces, signature and rendering intent of the profile,
    /// and the reference white. The other fields are zero.
    private static func header(of bytes: [UInt8]) -> [UInt8] {
        var header = [UInt8](repeating: 0, count: headerLength)
        for range in [8..<10, 12..<24, 36..<40, 64..<68] { header.replaceSubrange(range, with: bytes[range]) }
        header.replaceSubrange(68..<80, with: whitePoint)
        return header
    }

    /// Returns the content of a tag, up to the length that follows from its type; nil if the profile lacks the tag.
    private static func tagContent(_ name: String, of bytes: [UInt8]) -> [UInt8]? {
        var reader = ByteReader(bytes, headerLength..<bytes.count)
        guard let count = try? reader.readBigEndian(4), count <= tagLimit else { return nil }
        for _ in 0..<count {
            guard let tagName = try? reader.take(4), let start = try? reader.readBigEndian(4),
                let length = try? reader.readBigEndian(4), start <= bytes.count, length <= bytes.count - start
            else { return nil }
            guard bytes.has(name, at: tagName.lowerBound) else { continue }
            guard length >= 12, let contentLength = usedLength(of: name, bytes, start),
                contentLength <= length
            else { return nil }
            var content = Array(bytes[start..<start + contentLength])
            content.replaceSubrange(4..<8, with: [0, 0, 0, 0])
            return content
        }
        return nil
    }

    /// Returns the length of a tag in bytes, which follows from its type (§10); nil for a type that the tag cannot
    /// have.
    /// - Precondition: the tag has at least 12 bytes.
    private static func usedLength(of name: String, _ bytes: [UInt8], _ start: Int) -> Int? {
        func has(_ type: String) -> Bool { bytes.has(type, at: start) }
        switch name {
        case "chad": return has("sf32") ? 8 + 9 * 4 : nil
        case "cicp": return has("cicp") ? 12 : nil
        case "rTRC", "gTRC", "bTRC", "kTRC":
            if has("curv") {
                let pointCount = bytes.bigEndian(start + 8..<start + 12)
                return pointCount <= curvePointLimit ? 12 + 2 * pointCount : nil
            }
            let parameterCounts = [1, 3, 4, 5, 7]
            let functionType = bytes.bigEndian(start + 8..<start + 10)
            guard has("para"), functionType < parameterCounts.count, bytes.bigEndian(start + 10..<start + 12) == 0
            else { return nil }
            return 12 + 4 * parameterCounts[functionType]
        default: return has("XYZ ") ? 20 : nil
        }
    }

    /// Returns a text in the form of version 4, `multiLocalizedUnicodeType` (§10.15).
    private static func localizedText(_ text: String) -> [UInt8] {
        var content = Array("mluc\0\0\0\0\0\0\0\u{1}\0\0\0\u{C}enUS".utf8)
        content += [0, 0, 0, UInt8(2 * text.utf8.count), 0, 0, 0, 28]
        for letter in text.utf8 { content += [0, letter] }
        return content
    }

    /// Returns a text in the form of a description of version 2.
    private static func descriptionText(_ text: String) -> [UInt8] {
        let count = UInt8(text.utf8.count + 1)
        return Array("desc\0\0\0\0\0\0\0".utf8) + [count] + Array(text.utf8)
            + Array(repeating: 0, count: 4 + 4 + 2 + 1 + 67)
    }

    /// Returns the profile that consists of a header and tags. Equal contents of tags are stored once (§7).
    private static func assemble(_ header: [UInt8], _ tags: [(name: String, content: [UInt8])]) -> [UInt8] {
        var offsets: [[UInt8]: Int] = [:]
        var (tagTable, contents): ([UInt8], [UInt8]) = ([], [])
        let start = header.count + 4 + 12 * tags.count
        for (name, content) in tags {
            let offset = offsets[content] ?? start + contents.count
            if offsets.updateValue(offset, forKey: content) == nil {
                contents += content
                while contents.count % 4 != 0 { contents.append(0) }
            }
            tagTable += Array(name.utf8)
            tagTable.append(bigEndian: offset, 4)
            tagTable.append(bigEndian: content.count, 4)
        }
        var profile = header
        profile.append(bigEndian: tags.count, 4)
        profile += tagTable + contents
        var size: [UInt8] = []
        size.append(bigEndian: profile.count, 4)
        profile.replaceSubrange(0..<4, with: size)
        return profile
    }
}
