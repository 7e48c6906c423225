import CZlib

/// A colour profile (ICC.1:2022), made anew of its colours alone: names, dates, serial numbers and all else go.
///
/// Cameras, phones and screens describe their colours by three primaries and curves, and greys by one curve. Profiles of
/// other kinds, such as the tables of printers, are not kept: their pictures are shown as if they had none.
enum ColourProfile {
    /// Larger profiles are not read.
    static let mostBytes = 1 << 20

    private static let headBytes = 128
    private static let mostTags = 100
    private static let mostCurvePoints = 4_096
    /// The white that colours are related to, D50, as every profile names it (§7.2.16).
    private static let white: [UInt8] = [0, 0, 0xF6, 0xD6, 0, 1, 0, 0, 0, 0, 0xD3, 0x2D]

    /// Returns the profile with its colours only; nil where it is none, or none of the kinds that are kept.
    static func clean(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count > headBytes + 4, bytes.count <= mostBytes, bytes.has("acsp", at: 36),
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
            guard let content = tag(name, of: bytes) else { return nil }
            tags.append((name, content))
        }
        for name in optional {
            if let content = tag(name, of: bytes) { tags.append((name, content)) }
        }
        if !tags.contains(where: { $0.name == "wtpt" }) { tags.append(("wtpt", Array("XYZ \0\0\0\0".utf8) + white)) }
        // Both are required. Their words are the same in all pictures.
        let isOld = bytes[8] == 2
        tags.append(("desc", isOld ? description("Colours") : words("Colours")))
        tags.append(("cprt", isOld ? Array("text\0\0\0\0None\0".utf8) : words("None")))
        return assembled(head(of: bytes), tags)
    }

    /// The profile that zlib has compressed, as PNG does; nil where it is too large or damaged.
    static func inflated(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        var size = uLongf(mostBytes)
        let source = Array(bytes)
        var result = Z_OK
        let output = unsafe [UInt8](unsafeUninitializedCapacity: mostBytes) { buffer, count in
            result = unsafe source.withUnsafeBufferPointer {
                unsafe uncompress(buffer.baseAddress, &size, $0.baseAddress, uLong($0.count))
            }
            count = result == Z_OK ? Int(size) : 0
        }
        return result == Z_OK ? output : nil
    }

    /// The bytes compressed by zlib.
    static func deflated(_ bytes: [UInt8]) -> [UInt8] {
        var size = compressBound(uLong(bytes.count))
        return unsafe [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, count in
            let result = unsafe bytes.withUnsafeBufferPointer {
                unsafe compress2(buffer.baseAddress, &size, $0.baseAddress, uLong($0.count), Z_BEST_COMPRESSION)
            }
            precondition(result == Z_OK, "compressBound is the most that compress2 needs")
            count = Int(size)
        }
    }

    /// The head with version, class, colours and intent; the rest is zero.
    private static func head(of bytes: [UInt8]) -> [UInt8] {
        var head = [UInt8](repeating: 0, count: headBytes)
        for range in [8..<10, 12..<24, 36..<40, 64..<68] { head.replaceSubrange(range, with: bytes[range]) }
        head.replaceSubrange(68..<80, with: white)
        return head
    }

    /// The content of a tag as far as its type says, without what may follow; nil where the profile lacks it.
    private static func tag(_ name: String, of bytes: [UInt8]) -> [UInt8]? {
        var reader = ByteReader(bytes, headBytes..<bytes.count)
        guard let count = try? reader.bigEndian(4), count <= mostTags else { return nil }
        for _ in 0..<count {
            guard let place = try? reader.take(4), let start = try? reader.bigEndian(4),
                let length = try? reader.bigEndian(4), start <= bytes.count, length <= bytes.count - start
            else { return nil }
            guard bytes.has(name, at: place.lowerBound) else { continue }
            guard length >= 12, let used = usedBytes(of: name, bytes, start), used <= length else { return nil }
            var content = Array(bytes[start..<start + used])
            content.replaceSubrange(4..<8, with: [0, 0, 0, 0])
            return content
        }
        return nil
    }

    /// Returns the number of bytes that the type of a tag at least 12 bytes long has (§10); nil for a type that the tag
    /// does not have.
    private static func usedBytes(of name: String, _ bytes: [UInt8], _ start: Int) -> Int? {
        func has(_ type: String) -> Bool { bytes.has(type, at: start) }
        switch name {
        case "chad": return has("sf32") ? 8 + 9 * 4 : nil
        case "cicp": return has("cicp") ? 12 : nil
        case "rTRC", "gTRC", "bTRC", "kTRC":
            if has("curv") {
                let points = bytes.bigEndian(start + 8..<start + 12)
                return points <= mostCurvePoints ? 12 + 2 * points : nil
            }
            let parameters = [1, 3, 4, 5, 7]
            let function = bytes.bigEndian(start + 8..<start + 10)
            guard has("para"), function < parameters.count, bytes.bigEndian(start + 10..<start + 12) == 0 else {
                return nil
            }
            return 12 + 4 * parameters[function]
        default: return has("XYZ ") ? 20 : nil
        }
    }

    /// Words in the form of version 4 (§10.15).
    private static func words(_ text: String) -> [UInt8] {
        var content = Array("mluc\0\0\0\0\0\0\0\u{1}\0\0\0\u{C}enUS".utf8)
        content += [0, 0, 0, UInt8(2 * text.utf8.count), 0, 0, 0, 28]
        for letter in text.utf8 { content += [0, letter] }
        return content
    }

    /// Words in the form of a description of version 2.
    private static func description(_ text: String) -> [UInt8] {
        let count = UInt8(text.utf8.count + 1)
        return Array("desc\0\0\0\0\0\0\0".utf8) + [count] + Array(text.utf8)
            + Array(repeating: 0, count: 4 + 4 + 2 + 1 + 67)
    }

    /// Head, list of tags, and their contents, each of which is there once (§7).
    private static func assembled(_ head: [UInt8], _ tags: [(name: String, content: [UInt8])]) -> [UInt8] {
        var places: [[UInt8]: Int] = [:]
        var (list, contents): ([UInt8], [UInt8]) = ([], [])
        let start = head.count + 4 + 12 * tags.count
        for (name, content) in tags {
            let place = places[content] ?? start + contents.count
            if places.updateValue(place, forKey: content) == nil {
                contents += content
                while contents.count % 4 != 0 { contents.append(0) }
            }
            list += Array(name.utf8)
            list.append(bigEndian: place, 4)
            list.append(bigEndian: content.count, 4)
        }
        var profile = head
        profile.append(bigEndian: tags.count, 4)
        profile += list + contents
        var size: [UInt8] = []
        size.append(bigEndian: profile.count, 4)
        profile.replaceSubrange(0..<4, with: size)
        return profile
    }
}
