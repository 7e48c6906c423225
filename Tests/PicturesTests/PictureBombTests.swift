import Pictures
import Testing

/// Small files that would take gigabytes, or minutes, to show.
@Suite("Limits of a picture's content")
struct PictureBombTests {
    private static let sample = Sample.self

    struct Bomb: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The file with that many frames, scans or pixels.
        let make: @Sendable (Int) -> [UInt8]
        let most: Int
    }

    /// A width and height with which 128 frames are allowed.
    private static let side = 4_096

    static let bombs: [Bomb] = [
        Bomb(
            testDescription: "scans of a JPEG",
            make: { count in
                sample.jpeg([sample.tables, sample.frame(side, side)] + Array(repeating: sample.scan, count: count))
            }, most: 128),
        Bomb(
            testDescription: "frames of a PNG",
            make: { count in
                let frames = Array(repeating: sample.frameControl(), count: count)
                return sample.png([sample.header(side, side)] + frames + [sample.data, sample.end])
            }, most: 128),
        Bomb(
            testDescription: "frames of a WebP",
            make: { count in
                let head = sample.riff("VP8X", [2, 0, 0, 0, 0xFF, 0x0F, 0, 0xFF, 0x0F, 0])
                let frame = sample.riff("ANMF", Array(repeating: 0, count: 16) + sample.lossy)
                return sample.webp([head] + Array(repeating: frame, count: count))
            }, most: 128),
        Bomb(
            testDescription: "frames of a GIF",
            make: { count in
                let head: [UInt8] = sample.bytes("GIF89a") + [0, 0x10, 0, 0x10, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]
                return head + Array(repeating: sample.gifPicture, count: count).flatMap(\.self) + [0x3B]
            }, most: 128),
        Bomb(
            testDescription: "frames of a GIF that exceed its screen",
            make: { count in
                sample.gifStart + Array(repeating: sample.gifFrame(side, side), count: count).flatMap(\.self) + [0x3B]
            }, most: 128),
        Bomb(
            testDescription: "the width of a frame of a GIF",
            make: { width in sample.gifStart + sample.gifFrame(width, width) + [0x3B] }, most: 11_585),
        Bomb(testDescription: "the width of a HEIC", make: { heic($0) }, most: 11_585),
    ]

    private static func heic(_ side: Int, _ properties: [UInt8] = []) -> [UInt8] {
        let size = sample.box("ispe", [0, 0, 0, 0] + sample.bigEndian(side) + sample.bigEndian(side))
        let tables = sample.box("iprp", sample.box("ipco", properties + size))
        return sample.box("ftyp", sample.bytes("heic\0\0\0\0mif1heic")) + sample.box("meta", [0, 0, 0, 0] + tables)
            + sample.box("mdat", [1, 2])
    }

    @Test("a picture with the most that is allowed is accepted, and with one more refused", arguments: bombs)
    func bounds(_ bomb: Bomb) throws {
        let largest = try Picture(cleaning: bomb.make(bomb.most))
        #expect(!largest.bytes.isEmpty)
        #expect(throws: PictureError.tooManyPixels) { try Picture(cleaning: bomb.make(bomb.most + 1)) }
    }

    @Test(
        "cleaning a HEIC erases the words and times in its properties",
        arguments: ["udes", "altt", "crtt", "mdft", "uuid"])
    func descriptions(_ name: String) throws {
        let cleaned = try Picture(cleaning: Self.heic(1, Self.sample.box(name, Self.sample.bytes("at home"))))
        #expect(cleaned.bytes == Self.heic(1, Self.sample.box("free", Array(repeating: 0, count: 7))))
    }

    @Test("a HEIC whose size breaks off is refused as damaged")
    func brokenSize() {
        let tables = Self.sample.box("iprp", Self.sample.box("ipco", Self.sample.box("ispe", [0, 0, 0, 0, 1])))
        let file =
            Self.sample.box("ftyp", Self.sample.bytes("heic\0\0\0\0mif1heic"))
            + Self.sample.box("meta", [0, 0, 0, 0] + tables) + Self.sample.box("mdat", [1])
        #expect(throws: PictureError.malformed) { try Picture(cleaning: file) }
    }
}
