/// Small pictures, made of the parts that the formats consist of.
enum Sample {
    static func bytes(_ text: String) -> [UInt8] { text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }

    static func bigEndian(_ number: Int, _ count: Int = 4) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    static func littleEndian(_ number: Int, _ count: Int = 4) -> [UInt8] { bigEndian(number, count).reversed() }

    // MARK: JPEG

    static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        [0xFF, marker] + bigEndian(content.count + 2, 2) + content
    }

    static let jfif = segment(0xE0, bytes("JFIF\0") + [1, 2, 0, 0, 1, 0, 1, 0, 0])
    static let tables = segment(0xDB, Array(repeating: 1, count: 65))
    static func frame(_ width: Int = 1, _ height: Int = 1) -> [UInt8] {
        segment(0xC0, [8] + bigEndian(height, 2) + bigEndian(width, 2) + [1, 1, 0x11, 0])
    }
    /// A scan with a byte 0xFF and a restart in its data.
    static let scan = segment(0xDA, [1, 1, 0, 0, 63, 0]) + [0x12, 0xFF, 0, 0xFF, 0xD0, 0x13]
    static let picture = tables + frame() + scan

    static func jpeg(_ parts: [[UInt8]]) -> [UInt8] { [0xFF, 0xD8] + parts.flatMap(\.self) + [0xFF, 0xD9] }

    /// An Exif segment with a maker, a place and an orientation.
    static func exif(orientation: Int, littleEndian isLittle: Bool = false) -> [UInt8] {
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            isLittle ? littleEndian(value, count) : bigEndian(value, count)
        }
        func entry(_ tag: Int, _ type: Int, _ value: [UInt8]) -> [UInt8] {
            number(tag, 2) + number(type, 2) + number(1, 4) + value
        }
        let entries =
            entry(0x010F, 2, bytes("Cam\0")) + entry(0x0112, 3, number(orientation, 2) + [0, 0])
            + entry(0x8825, 4, number(50, 4))
        return segment(
            0xE1,
            bytes("Exif\0\0") + bytes(isLittle ? "II" : "MM") + number(42, 2) + number(8, 4) + number(3, 2) + entries
                + number(0, 4) + bytes("GPS 52.5 13.4"))
    }

    // MARK: PNG

    static func chunk(_ name: String, _ content: [UInt8] = [], damaged: Bool = false) -> [UInt8] {
        let text = bytes(name) + content
        var crc = UInt32.max
        for byte in text {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? 0xEDB8_8320 ^ (crc >> 1) : crc >> 1 }
        }
        return bigEndian(content.count) + text + bigEndian(Int(damaged ? crc : ~crc))
    }

    static let pngStart = bytes("\u{89}PNG\r\n\u{1A}\n")
    static func header(_ width: Int = 1, _ height: Int = 1) -> [UInt8] {
        chunk("IHDR", bigEndian(width) + bigEndian(height) + [8, 2, 0, 0, 0])
    }
    static let data = chunk("IDAT", [1, 2, 3])
    static let end = chunk("IEND")
    /// The chunk before a frame of an animation, with the frame's size.
    static func frameControl(_ width: Int = 1, _ height: Int = 1) -> [UInt8] {
        chunk("fcTL", bigEndian(0) + bigEndian(width) + bigEndian(height) + Array(repeating: 0, count: 14))
    }
    static func png(_ parts: [[UInt8]]) -> [UInt8] { pngStart + parts.flatMap(\.self) }

    // MARK: WebP

    static func riff(_ name: String, _ content: [UInt8]) -> [UInt8] {
        bytes(name) + littleEndian(content.count) + content + (content.count % 2 == 1 ? [0] : [])
    }

    static func webp(_ parts: [[UInt8]]) -> [UInt8] { riff("RIFF", bytes("WEBP") + parts.flatMap(\.self)) }
    static func extended(_ flags: UInt8) -> [UInt8] { riff("VP8X", [flags, 0, 0, 0] + Array(repeating: 0, count: 6)) }
    static let lossless = riff("VP8L", [0x2F, 0, 0, 0, 0, 7, 8])
    static let lossy = riff("VP8 ", [0, 0, 0, 0x9D, 0x01, 0x2A, 1, 0, 1, 0])

    // MARK: GIF, HEIC

    static let gifStart = bytes("GIF89a") + [1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]
    static let repetition = [0x21, 0xFF, 11] + bytes("NETSCAPE2.0") + [3, 1, 0, 0, 0]
    static let control: [UInt8] = [0x21, 0xF9, 4, 0, 0, 0, 0, 0]
    static let gifPicture = gifFrame(1, 1)
    static func gifFrame(_ width: Int, _ height: Int) -> [UInt8] {
        [0x2C, 0, 0, 0, 0] + littleEndian(width, 2) + littleEndian(height, 2) + [0, 2, 2, 0x44, 1, 0]
    }

    static func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
        bigEndian(content.count + 8) + bytes(name) + content
    }

    /// A picture, Exif in `mdat`, XMP in `idat`, and boxes that say more.
    /// - Parameter isClean: as it is when cleaned.
    static func heic(isClean: Bool) -> [UInt8] {
        func entry(_ id: Int, _ type: String) -> [UInt8] {
            box("infe", [2, 0, 0, 0] + bigEndian(id, 2) + [0, 0] + bytes(type) + [0])
        }
        func place(_ id: Int, method: Int, _ offset: Int, _ length: Int) -> [UInt8] {
            bigEndian(id, 2) + bigEndian(method, 2) + [0, 0, 0, 1] + bigEndian(offset) + bigEndian(length)
        }
        func meta(_ offset: Int) -> [UInt8] {
            let entries =
                entry(1, "hvc1") + entry(2, isClean ? "free" : "Exif") + entry(3, isClean ? "free" : "mime")
            let places =
                place(1, method: 0, offset, 2) + place(2, method: 0, offset + 2, 3) + place(3, method: 1, 1, 2)
            return box(
                "meta",
                [0, 0, 0, 0] + box("iinf", [0, 0, 0, 0, 0, 3] + entries)
                    + box("iloc", [1, 0, 0, 0, 0x44, 0, 0, 3] + places)
                    + box("idat", isClean ? [9, 0, 0] : [9, 8, 7]) + erased("uuid", isClean))
        }
        let start = box("ftyp", bytes("heic\0\0\0\0mif1heic"))
        let offset = start.count + meta(0).count + 8
        return start + meta(offset) + box("mdat", isClean ? [1, 2, 0, 0, 0] : [1, 2, 3, 4, 5]) + erased("moov", isClean)
    }

    private static func erased(_ name: String, _ isErased: Bool) -> [UInt8] {
        isErased ? box("free", [0, 0, 0]) : box(name, bytes("gps"))
    }

    static let heic = box("ftyp", bytes("mif1\0\0\0\0mif1heic")) + box("meta", [0, 0, 0, 0]) + box("mdat", [1, 2])
}
