import Pictures
import Testing

@Suite("Pictures")
struct PictureTests {
    struct Cleaned: Sendable, CustomTestStringConvertible {
        let name: String
        let input: [UInt8]
        var output: [UInt8]
        let format: PictureFormat
        var testDescription: String { name }

        init(_ name: String, _ format: PictureFormat, _ input: [UInt8], _ output: [UInt8]) {
            (self.name, self.format, self.input, self.output) = (name, format, input, output)
        }
    }

    private static let sample = Sample.self
    private static let adobe = sample.segment(0xEE, sample.bytes("Adobe") + [0, 100, 0, 0, 0, 0, 1])
    private static let xmp = sample.segment(0xE1, sample.bytes("http://ns.adobe.com/xap/1.0/\0<x:xmpmeta/>"))
    /// Exif as PNG and WebP have it: with a maker and a place, and with the orientation only.
    private static let exif = Array(sample.exif(orientation: 6).dropFirst(10))
    private static let orientation = Array(upright(6).dropFirst(10))

    private static func upright(_ orientation: UInt8) -> [UInt8] {
        sample.segment(
            0xE1,
            sample.bytes("Exif\0\0MM\0*\0\0\0\u{8}\0\u{1}\u{1}\u{12}\0\u{3}\0\0\0\u{1}\0") + [orientation]
                + Array(repeating: 0, count: 6))
    }

    static let cleaned: [Cleaned] = [
        Cleaned(
            "a plain JPEG", .jpeg, sample.jpeg([sample.jfif, sample.picture]),
            sample.jpeg([sample.jfif, sample.picture])),
        Cleaned(
            "of Exif the orientation only", .jpeg, sample.jpeg([sample.exif(orientation: 6), sample.picture]),
            sample.jpeg([upright(6), sample.picture])),
        Cleaned(
            "of Exif in the other byte order too", .jpeg,
            sample.jpeg([sample.jfif, sample.exif(orientation: 8, littleEndian: true), sample.picture]),
            sample.jpeg([sample.jfif, upright(8), sample.picture])),
        Cleaned(
            "nothing of Exif in a picture that is upright", .jpeg,
            sample.jpeg([sample.exif(orientation: 1), sample.picture]), sample.jpeg([sample.picture])),
        Cleaned(
            "nothing of an orientation that is none", .jpeg,
            sample.jpeg([sample.exif(orientation: 9), sample.picture]), sample.jpeg([sample.picture])),
        Cleaned(
            "nothing of Exif that breaks off", .jpeg,
            sample.jpeg([
                sample.segment(0xE1, sample.bytes("Exif\0\0MM\0*\u{7F}\u{FF}\u{FF}\u{FF}aaaaaaaaaa")),
                sample.segment(0xE1, sample.bytes("Exif\0\0MM\0*\0\0\0\u{8}\u{FF}\u{FF}aaaaaaaaaa")), sample.picture,
            ]),
            sample.jpeg([sample.picture])),
        Cleaned(
            "no XMP, IPTC, comments and other applications' data", .jpeg,
            sample.jpeg([
                xmp, sample.segment(0xED, sample.bytes("Photoshop 3.0\0")),
                sample.segment(0xFE, sample.bytes("a comment")),
                sample.segment(0xE5, [1]), sample.segment(0xE2, sample.bytes("MPF\0II")), sample.picture,
            ]),
            sample.jpeg([sample.picture])),
        Cleaned(
            "Adobe's transform", .jpeg, sample.jpeg([sample.jfif, adobe, sample.picture]),
            sample.jpeg([sample.jfif, adobe, sample.picture])),
        Cleaned(
            "a JPEG without its last two bytes, as viewers do", .jpeg,
            sample.jpeg([sample.jfif, sample.picture]).dropLast(2), sample.jpeg([sample.jfif, sample.picture])),
        Cleaned(
            "not the small picture in JFIF", .jpeg,
            sample.jpeg([
                sample.segment(0xE0, sample.bytes("JFIF\0") + [1, 2, 0, 0, 1, 0, 1, 1, 1, 7, 7, 7]),
                sample.segment(0xE0, sample.bytes("JFXX\0") + [0x10, 1]), sample.picture,
            ]),
            sample.jpeg([sample.jfif, sample.picture])),
        Cleaned(
            "several scans, without what is between them", .jpeg,
            sample.jpeg([sample.picture, xmp, [0xFF, 0xFF], sample.tables, sample.scan]),
            sample.jpeg([sample.picture, sample.tables, sample.scan])),
        Cleaned(
            "nothing after the end of a JPEG", .jpeg,
            sample.jpeg([sample.picture]) + sample.jpeg([sample.exif(orientation: 6), sample.picture]),
            sample.jpeg([sample.picture])),
        Cleaned(
            "a plain PNG", .png, sample.png([sample.header(), sample.data, sample.end]),
            sample.png([sample.header(), sample.data, sample.end])),
        Cleaned(
            "no texts, times, Exif and unknown chunks of a PNG", .png,
            sample.png([
                sample.header(), sample.chunk("tEXt", sample.bytes("<script>alert(1)</script>")), sample.chunk("iTXt"),
                sample.chunk("zTXt"), sample.chunk("tIME"), sample.chunk("eXIf"), sample.chunk("raNd"),
                sample.chunk("gAMA", [0, 0, 0, 1]), sample.data, sample.end,
            ]),
            sample.png([sample.header(), sample.chunk("gAMA", [0, 0, 0, 1]), sample.data, sample.end])),
        Cleaned(
            "an animated PNG", .png,
            sample.png([
                sample.header(), sample.chunk("acTL"), sample.frameControl(), sample.data, sample.chunk("fdAT"),
                sample.end,
            ]),
            sample.png([
                sample.header(), sample.chunk("acTL"), sample.frameControl(), sample.data, sample.chunk("fdAT"),
                sample.end,
            ])),
        Cleaned(
            "nothing after the end of a PNG", .png,
            sample.png([sample.header(), sample.data, sample.end]) + sample.bytes("<html>"),
            sample.png([sample.header(), sample.data, sample.end])),
        Cleaned("a simple WebP", .webp, sample.webp([sample.lossy]), sample.webp([sample.lossy])),
        Cleaned(
            "nothing behind the one chunk of a simple WebP, nor behind its end", .webp,
            sample.webp([sample.lossless, sample.riff("EXIF", [1])]) + [1, 2], sample.webp([sample.lossless])),
        Cleaned(
            "no Exif and XMP of a WebP, and no flags of them", .webp,
            sample.webp([
                sample.extended(0x3C), sample.riff("ICCP", [1]), sample.riff("ALPH", [1, 2]), sample.lossy,
                sample.riff("EXIF", [1, 2, 3]), sample.riff("XMP ", [1]), sample.riff("JUNK", [1]),
            ]),
            sample.webp([sample.extended(0x10), sample.riff("ALPH", [1, 2]), sample.lossy])),
        Cleaned(
            "of a WebP's Exif the orientation only", .webp,
            sample.webp([sample.extended(0x0C), sample.lossy, sample.riff("EXIF", exif), sample.riff("XMP ", [1])]),
            sample.webp([sample.extended(0x08), sample.lossy, sample.riff("EXIF", orientation)])),
        Cleaned(
            "of a WebP's Exif with the prefix of JPEG too", .webp,
            sample.webp([sample.extended(0x08), sample.lossy, sample.riff("EXIF", sample.bytes("Exif\0\0") + exif)]),
            sample.webp([sample.extended(0x08), sample.lossy, sample.riff("EXIF", orientation)])),
        Cleaned(
            "of a PNG's Exif the orientation only", .png,
            sample.png([sample.header(), sample.chunk("eXIf", exif), sample.data, sample.end]),
            sample.png([sample.header(), sample.chunk("eXIf", orientation), sample.data, sample.end])),
        Cleaned(
            "an animated WebP", .webp,
            sample.webp([
                sample.extended(2), sample.riff("ANIM", Array(repeating: 0, count: 6)),
                sample.riff("ANMF", Array(repeating: 0, count: 16) + sample.lossless + sample.riff("NOTE", [1, 2, 3])),
            ]),
            sample.webp([
                sample.extended(2), sample.riff("ANIM", Array(repeating: 0, count: 6)),
                sample.riff("ANMF", Array(repeating: 0, count: 16) + sample.lossless),
            ])),
        Cleaned(
            "a GIF without comments and applications' data but its repetitions", .gif,
            sample.gifStart + [0x21, 0xFE, 2, 65, 66, 0] + sample.repetition + [0x21, 0xFF, 11]
                + sample.bytes("XMP DataXMP") + [1, 65, 0] + sample.control + sample.gifPicture + [0x3B, 1, 2],
            sample.gifStart + sample.repetition + sample.control + sample.gifPicture + [0x3B]),
        Cleaned("a HEIC as it is", .heic, sample.heic, sample.heic),
        Cleaned(
            "of a HEIC no Exif and XMP, and no boxes that say more", .heic, sample.heic(isClean: false),
            sample.heic(isClean: true)),
        Cleaned(
            "a HEIC with a long length", .heic,
            sample.heic + sample.bigEndian(1) + sample.bytes("mdat") + sample.bigEndian(18, 8) + [1, 2],
            sample.heic + sample.bigEndian(1) + sample.bytes("mdat") + sample.bigEndian(18, 8) + [1, 2]),
    ]

    @Test("a cleaned picture keeps exactly what shows it", arguments: cleaned)
    func cleans(_ sample: Cleaned) throws {
        let picture = try Picture(cleaning: sample.input)
        #expect(picture.format == sample.format)
        #expect(picture.bytes == sample.output)
        #expect(try Picture(cleaning: picture.bytes) == picture)
    }

    @Test("every beginning of a picture is refused, except those of JPEGs that show something", arguments: cleaned)
    func beginnings(_ sample: Cleaned) throws {
        // Without its last boxes, a HEIC still is one.
        let ends = Set([36, 46, sample.output.count - 11, sample.output.count - 24])
        for count in sample.output.indices where sample.format != .heic || !ends.contains(count) {
            let beginning = Array(sample.output[..<count])
            let scan = sample.output.indices.first { sample.output[$0...].starts(with: [0xFF, 0xDA]) } ?? count
            if sample.format == .jpeg, count > scan + 9, let picture = try? Picture(cleaning: beginning) {
                #expect(sample.output.starts(with: picture.bytes.dropLast(2)) && picture.bytes.count <= count + 2)
            } else {
                #expect(throws: PictureError.self) { try Picture(cleaning: beginning) }
            }
        }
    }

    struct Refused: Sendable, CustomTestStringConvertible {
        let name: String
        let input: [UInt8]
        let error: PictureError
        var testDescription: String { name }

        init(_ name: String, _ input: [UInt8], _ error: PictureError = .malformed) {
            (self.name, self.input, self.error) = (name, input, error)
        }
    }

    static let refused: [Refused] = [
        Refused("nothing", [], .unknownFormat),
        Refused("a text", sample.bytes("text"), .unknownFormat),
        Refused("a page", sample.bytes("<!DOCTYPE html><html></html>"), .unknownFormat),
        Refused("an SVG", sample.bytes("<svg xmlns=\"http://www.w3.org/2000/svg\"><script/></svg>"), .unknownFormat),
        Refused("a PDF", sample.bytes("%PDF-1.7"), .unknownFormat),
        Refused("a BMP", sample.bytes("BM\u{46}\0\0\0"), .unknownFormat),
        Refused("a sound in RIFF", sample.riff("RIFF", sample.bytes("WAVEfmt ")), .unknownFormat),
        Refused("a film", sample.box("ftyp", sample.bytes("isom\0\0\0\0isommp42")), .unknownFormat),
        Refused("an AVIF", sample.box("ftyp", sample.bytes("avif\0\0\0\0mif1avif")), .unknownFormat),
        Refused("a JPEG without a picture", sample.jpeg([sample.jfif])),
        Refused("a JPEG without a frame", sample.jpeg([sample.tables, sample.scan])),
        Refused("a JPEG with two frames", sample.jpeg([sample.frame(), sample.picture])),
        Refused("a JPEG whose segment is too long", [0xFF, 0xD8, 0xFF, 0xDB, 0xFF, 0xFF] + sample.picture),
        Refused("a JPEG whose segment is too short", [0xFF, 0xD8, 0xFF, 0xDB, 0, 1] + sample.picture),
        Refused("a JPEG in a JPEG", sample.jpeg([[0xFF, 0xD8], sample.picture])),
        Refused("a page in a JPEG's beginning", [0xFF, 0xD8, 0xFF] + sample.bytes("<html>")),
        Refused("a JPEG without height", sample.jpeg([sample.tables, sample.frame(1, 0), sample.scan])),
        Refused(
            "a JPEG with too many pixels", sample.jpeg([sample.tables, sample.frame(65_535, 65_535), sample.scan]),
            .tooManyPixels),
        Refused("a PNG without data", sample.png([sample.header(), sample.end])),
        Refused("a PNG without a header", sample.png([sample.data, sample.end])),
        Refused("a PNG with two headers", sample.png([sample.header(), sample.header(), sample.data, sample.end])),
        Refused(
            "a PNG with a wrong checksum",
            sample.png([sample.header(), sample.chunk("IDAT", [1], damaged: true), sample.end])),
        Refused(
            "a PNG with an unknown critical chunk",
            sample.png([sample.header(), sample.chunk("CgBI"), sample.data, sample.end])),
        Refused(
            "a PNG whose chunk has no name",
            sample.png([sample.header(), sample.chunk("a b1"), sample.data, sample.end])),
        Refused("a PNG whose chunk is too long", sample.png([[0xFF, 0xFF, 0xFF, 0xFF], sample.bytes("IHDR")])),
        Refused(
            "a PNG with too many pixels", sample.png([sample.header(32_767, 32_767), sample.data, sample.end]),
            .tooManyPixels),
        Refused(
            "a PNG of a size that overflows",
            sample.png([sample.header(0xFFFF_FFFF, 0xFFFF_FFFF), sample.data, sample.end]), .tooManyPixels),
        Refused(
            "a PNG with a frame larger than the picture",
            sample.png([sample.header(), sample.frameControl(2, 1), sample.data, sample.end])),
        Refused(
            "a PNG with a frame without a size",
            sample.png([sample.header(), sample.chunk("fcTL"), sample.data, sample.end])),
        Refused("a WebP without a picture", sample.webp([sample.extended(0)])),
        Refused("a WebP with two pictures", sample.webp([sample.extended(0), sample.lossy, sample.lossless])),
        Refused("a WebP that begins otherwise", sample.webp([sample.riff("ICCP", [1]), sample.lossy])),
        Refused("a WebP whose length lies", sample.bytes("RIFF\u{FF}\u{FF}\u{FF}\u{FF}WEBP") + sample.lossy),
        Refused("a WebP of a short length", sample.bytes("RIFF\u{3}\0\0\0WEBP") + sample.lossy),
        Refused("a WebP whose chunk is too long", sample.webp([sample.bytes("VP8 \u{FF}\u{FF}\u{FF}\u{7F}")])),
        Refused(
            "a WebP with a frame larger than the picture",
            sample.webp([
                sample.extended(2),
                sample.riff(
                    "ANMF",
                    Array(repeating: 0, count: 16) + sample.riff("VP8 ", [0, 0, 0, 0x9D, 0x01, 0x2A, 1, 0, 2, 0])),
            ])),
        Refused(
            "a GIF with a wide and a high frame, which together need too many pixels",
            sample.gifStart + sample.gifFrame(32_767, 1) + sample.gifFrame(1, 32_767) + [0x3B], .tooManyPixels),
        Refused("a GIF without a picture", sample.gifStart + [0x3B]),
        Refused("a GIF of unknown blocks", sample.gifStart + [0x2D]),
        Refused("a HEIC without tables", sample.box("ftyp", sample.bytes("heic\0\0\0\0mif1heic"))),
        Refused("a HEIC with a box that is too long", sample.heic + sample.bigEndian(99) + sample.bytes("free")),
        Refused("a HEIC with a box that is too short", sample.heic + sample.bigEndian(7) + sample.bytes("free")),
        Refused(
            "a HEIC with a length over all numbers",
            sample.heic + sample.bigEndian(1) + sample.bytes("free") + Array(repeating: 0xFF, count: 8)),
        Refused("bytes after a HEIC", sample.heic + [1]),
        Refused("a HEIC with two tables", sample.heic + sample.box("meta", [0, 0, 0, 0])),
        Refused("a HEIC whose Exif is nowhere", Array(sample.heic(isClean: false).dropLast(24))),
        Refused(
            "a HEIC with places of no length",
            sample.box("ftyp", sample.bytes("heic\0\0\0\0mif1heic"))
                + sample.box(
                    "meta",
                    [0, 0, 0, 0]
                        + sample.box(
                            "iinf",
                            [0, 0, 0, 0, 0, 1]
                                + sample.box("infe", [2, 0, 0, 0, 0, 1, 0, 0] + sample.bytes("Exif")))
                        + sample.box("iloc", [0, 0, 0, 0, 0, 0, 255, 255]))),
    ]

    @Test("a file that is no acceptable picture is refused with its error", arguments: refused)
    func refuses(_ sample: Refused) {
        #expect(throws: sample.error) { try Picture(cleaning: sample.input) }
    }

    @Test("a cleaned JPEG has no location and no camera")
    func place() throws {
        let input = Sample.jpeg([Sample.exif(orientation: 6), Sample.picture])
        let output = try Picture(cleaning: input).bytes
        #expect(contains(input, "GPS") && contains(input, "Cam"))
        #expect(!contains(output, "GPS") && !contains(output, "Cam"))
    }

    private func contains(_ bytes: [UInt8], _ text: String) -> Bool {
        String(decoding: bytes, as: Unicode.ASCII.self).contains(text)
    }
}
