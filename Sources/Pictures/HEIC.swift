/// Cleans a HEIC file (ISO/IEC 23008-12, on the boxes of ISO/IEC 14496-12).
///
/// Tables in the file contain offsets into it, so metadata is not cut out but overwritten with zeros.
enum HEIC {
    /// The brands of HEVC pictures.
    private static let brands = ["heic", "heix", "heim", "heis"]
    /// The boxes of the file that are kept; all others are erased.
    private static let keptBoxes: Set = ["ftyp", "meta", "mdat"]
    /// The boxes in the box `meta` that are kept; all others are erased.
    private static let keptTables: Set = ["hdlr", "dinf", "pitm", "iinf", "iloc", "iprp", "iref", "idat", "grpl"]
    /// The types of items that are not pictures: Exif, XMP, and items that a URI identifies.
    private static let metadataTypes: Set = ["Exif", "mime", "uri "]

    /// The properties of items that are texts or times (ISO/IEC 23008-12 §6.5).
    private static let descriptiveProperties: Set = ["udes", "altt", "crtt", "mdft", "uuid"]

    /// The largest number of extents of metadata in a table.
    private static let extentsPerTableLimit = 256
    /// The largest number of boxes in one list.
    private static let boxesPerListLimit = 4_096

    /// Returns whether the bytes begin with a file type box that contains one of the brands.
    static func isStart(of bytes: [UInt8]) -> Bool {
        guard bytes.count >= 16, bytes.has("ftyp", at: 4) else { return false }
        let length = bytes.bigEndian(0..<4)
        guard (16...1_024).contains(length), length % 4 == 0, length <= bytes.count else { return false }
        // The box contains the major brand, its version, and the compatible brands.
        return stride(from: 8, to: length, by: 4).contains { offset in
            offset != 12 && brands.contains { bytes.has($0, at: offset) }
        }
    }

    static func clean(_ reader: inout ByteReader, into output: inout [UInt8]) throws(PictureError) {
        let bytes = reader.bytes
        output.append(try reader.take(reader.remainingCount), of: bytes)
        let boxes = try Box.list(in: bytes, bytes.indices)
        let metaBoxes = boxes.filter { $0.name == "meta" }
        guard metaBoxes.count == 1, let meta = metaBoxes.first, meta.content.count >= 4 else { throw .malformed }
        let tables = try Box.list(in: bytes, meta.content.lowerBound + 4..<meta.content.upperBound)
        for box in boxes where !keptBoxes.contains(box.name) { box.erase(in: &output) }
        for table in tables where !keptTables.contains(table.name) { table.erase(in: &output) }

        for table in tables where table.name == "iprp" { try cleanProperties(of: table, in: bytes, &output) }

        var metadataIDs: Set<Int> = []
        for table in tables where table.name == "iinf" {
            for (id, typeRange) in try metadataItems(in: bytes, table) {
                metadataIDs.insert(id)
                // The item gets a type that no reader knows, so that no reader looks for Exif in zeros.
                output.replaceSubrange(typeRange, with: "free".utf8)
            }
        }
        if metadataIDs.isEmpty { return }
        let mediaData = boxes.filter { $0.name == "mdat" }.map(\.content)
        let itemData = tables.filter { $0.name == "idat" }.map(\.content)
        for table in tables where table.name == "iloc" {
            for extent in try extents(of: metadataIDs, in: bytes, table, itemData: itemData.first) {
                // Overwriting an extent that overlaps the tables would damage them.
                guard
                    (mediaData + itemData).contains(where: {
                        $0.contains(extent.lowerBound) && $0.upperBound >= extent.upperBound
                    })
                else { throw .malformed }
                output.replaceSubrange(extent, with: repeatElement(0, count: extent.count))
            }
        }
    }

    /// Checks the sizes of the pictures, and erases descriptive properties. An erased property becomes free space,
    /// because properties are referred to by their position in the list.
    private static func cleanProperties(
        of table: Box, in bytes: [UInt8], _ output: inout [UInt8]
    ) throws(PictureError) {
        for list in try Box.list(in: bytes, table.content) where list.name == "ipco" {
            for property in try Box.list(in: bytes, list.content) {
                if property.name == "ispe" {
                    var reader = ByteReader(bytes, property.content)
                    _ = try reader.readBigEndian(4)
                    let (width, height) = (try reader.readBigEndian(4), try reader.readBigEndian(4))
                    try Picture.checkSize(width: width, height: height)
                } else if property.name == "colr" {
                    cleanColours(property, in: bytes, &output)
                } else if descriptiveProperties.contains(property.name) {
                    property.erase(in: &output)
                }
            }
        }
    }

    /// Keeps the colours of a property: four numbers, or a cleaned profile if it is not larger than the original
    /// (ISO/IEC 14496-12 §12.1.5). Any other property is erased.
    private static func cleanColours(_ property: Box, in bytes: [UInt8], _ output: inout [UInt8]) {
        let start = property.content.lowerBound
        if bytes.has("nclx", at: start), property.content.count == 11 { return }
        let profileRange = min(start + 4, property.content.upperBound)..<property.content.upperBound
        guard bytes.has("prof", at: start) || bytes.has("rICC", at: start),
            let profile = ColourProfile.clean(Array(bytes[profileRange])), profile.count <= profileRange.count
        else { return property.erase(in: &output) }
        let padding = [UInt8](repeating: 0, count: profileRange.count - profile.count)
        output.replaceSubrange(profileRange, with: profile + padding)
    }

    /// Returns the items that are metadata: their IDs, and the ranges of their types (ISO/IEC 14496-12 §8.11.6).
    private static func metadataItems(
        in bytes: [UInt8], _ table: Box
    ) throws(PictureError) -> [(id: Int, typeRange: Range<Int>)] {
        var reader = ByteReader(bytes, table.content)
        let version = try reader.readBigEndian(4) >> 24
        _ = try reader.take(version == 0 ? 2 : 4)
        var items: [(id: Int, typeRange: Range<Int>)] = []
        for entry in try Box.list(in: bytes, reader.position..<table.content.upperBound) {
            guard entry.name == "infe" else { throw .malformed }
            var reader = ByteReader(bytes, entry.content)
            let version = try reader.readBigEndian(4) >> 24
            guard version == 2 || version == 3 else { throw .malformed }
            let id = try reader.readBigEndian(version == 2 ? 2 : 4)
            _ = try reader.take(2)
            let typeRange = try reader.take(4)
            if metadataTypes.contains(where: { bytes.has($0, at: typeRange.lowerBound) }) {
                items.append((id, typeRange))
            }
        }
        return items
    }

    /// Returns the byte ranges of the items with these IDs (ISO/IEC 14496-12 §8.11.3).
    private static func extents(
        of ids: Set<Int>, in bytes: [UInt8], _ table: Box, itemData: Range<Int>?
    ) throws(PictureError) -> [Range<Int>] {
        var reader = ByteReader(bytes, table.content)
        let version = try reader.readBigEndian(4) >> 24
        let sizes = try reader.readBigEndian(2)
        let (offsetSize, lengthSize, baseSize) = (sizes >> 12, sizes >> 8 & 0xF, sizes >> 4 & 0xF)
        let indexSize = version == 0 ? 0 : sizes & 0xF
        // Each extent has a length field, so the size of the table limits the number of extents.
        guard version <= 2, lengthSize == 4 || lengthSize == 8 else { throw .malformed }
        var (extents, totalLength): ([Range<Int>], Int) = ([], 0)
        for _ in 0..<(try reader.readBigEndian(version < 2 ? 2 : 4)) {
            let isMetadata = ids.contains(try reader.readBigEndian(version < 2 ? 2 : 4))
            let constructionMethod = version == 0 ? 0 : try reader.readBigEndian(2) & 0xF
            let isInThisFile = try reader.readBigEndian(2) == 0
            let baseOffset = try reader.readNumber(baseSize)
            for _ in 0..<(try reader.readBigEndian(2)) {
                _ = try reader.readNumber(indexSize)
                let (offset, length) = (try reader.readNumber(offsetSize), try reader.readNumber(lengthSize))
                guard isMetadata else { continue }
                let start: Int
                switch (constructionMethod, itemData) {
                case (0, _): start = baseOffset + offset
                case (1, let itemData?): start = itemData.lowerBound + baseOffset + offset
                default: throw .malformed
                }
                guard isInThisFile, length > 0, length <= bytes.count, start <= bytes.count - length
                else { throw .malformed }
                extents.append(start..<start + length)
                // Extents do not overlap in a valid file, so their total length is at most the length of the file.
                totalLength += length
                guard extents.count <= extentsPerTableLimit, totalLength <= bytes.count else { throw .malformed }
            }
        }
        return extents
    }

    /// A box: its name, and the range of its content in the file.
    private struct Box {
        let name: String
        let nameStart: Int
        let content: Range<Int>

        /// Returns the boxes of a range, which MUST fill it exactly.
        static func list(in bytes: [UInt8], _ range: Range<Int>) throws(PictureError) -> [Box] {
            var reader = ByteReader(bytes, range)
            var boxes: [Box] = []
            while !reader.isAtEnd {
                guard boxes.count < boxesPerListLimit else { throw .malformed }
                boxes.append(try Box(&reader))
            }
            return boxes
        }

        private init(_ reader: inout ByteReader) throws(PictureError) {
            let length = try reader.readBigEndian(4)
            let name = try reader.take(4)
            self.name = String(decoding: reader.bytes[name], as: UTF8.self)
            nameStart = name.lowerBound
            switch length {
            case 0: content = try reader.take(reader.remainingCount)
            case 1: content = try reader.take(try reader.readNumber(8) - 16)
            default: content = try reader.take(length - 8)
            }
        }

        /// Overwrites the box with free space.
        func erase(in output: inout [UInt8]) {
            output.replaceSubrange(nameStart..<nameStart + 4, with: "free".utf8)
            output.replaceSubrange(content, with: repeatElement(0, count: content.count))
        }
    }
}

extension ByteReader {
    /// Reads a big-endian number of 0, 4 or 8 bytes, which MUST be below 2³².
    fileprivate mutating func readNumber(_ size: Int) throws(PictureError) -> Int {
        switch size {
        case 0: return 0
        case 4: return try readBigEndian(4)
        case 8:
            guard try readBigEndian(4) == 0 else { throw .malformed }
            return try readBigEndian(4)
        default: throw .malformed
        }
    }
}
