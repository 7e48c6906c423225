import Pictures
import Testing

/// A profile with primaries, curves and words about who made it, as `ColourProfile` is to find and to leave it.
private struct SampleProfile {
    /// The version's first number.
    var version: UInt8 = 4
    var space = "RGB "
    var curve = Sample.bytes("para\0\0\0\0\0\u{3}\0\0") + [UInt8](repeating: 7, count: 20)
    var words: [(name: String, content: [UInt8])] = [
        ("desc", Sample.bytes("mluc\0\0\0\0Ada's screen")), ("dmnd", Sample.bytes("text\0\0\0\0serial 4711")),
        ("vcgt", Sample.bytes("vcgt\0\0\0\0whatever fits")),
    ]

    static func colour(_ value: UInt8) -> [UInt8] {
        Sample.bytes("XYZ \0\0\0\0") + [UInt8](repeating: value, count: 12)
    }

    var bytes: [UInt8] {
        var tags = words
        let curves = space == "RGB " ? ["rTRC", "gTRC", "bTRC"] : ["kTRC"]
        tags += curves.map { ($0, curve) } + [("wtpt", Self.colour(9))]
        if space == "RGB " {
            tags += zip(["rXYZ", "gXYZ", "bXYZ"], 1...3).map { ($0, Self.colour($1) + [66, 66, 66, 66]) }
        }
        var (list, contents): ([UInt8], [UInt8]) = ([], [])
        for (name, content) in tags {
            let place = 132 + 12 * tags.count + contents.count
            list += Sample.bytes(name) + Sample.bigEndian(place) + Sample.bigEndian(content.count)
            contents += content + Sample.bytes("hidden between tags!")
        }
        let size = 132 + list.count + contents.count
        var head =
            Sample.bigEndian(size) + Sample.bytes("APPL") + [version, 0x20, 66, 66] + Sample.bytes("mntr\(space)XYZ ")
        head +=
            Sample.bytes("20261127hhmmacspAPPLflagmanumode") + [UInt8](repeating: 66, count: 8) + Sample.bigEndian(1)
        head += [0, 0, 0xF6, 0xD6, 0, 1, 0, 0, 0, 0, 0xD3, 0x2D] + Sample.bytes("creator and identifier")
        head += [UInt8](repeating: 66, count: 128 - head.count)
        return head + Sample.bigEndian(tags.count) + list + contents
    }
}

@Suite("Colour profiles")
struct ColourProfileTests {
    /// Whether a cleaned picture has the colours, and none of the words.
    private func expectClean(_ picture: [UInt8], of profile: SampleProfile) {
        #expect(contains(picture, "acsp") && contains(picture, profile.curve))
        for value in UInt8(1)...3 where profile.space == "RGB " {
            #expect(contains(picture, SampleProfile.colour(value)))
        }
        for word in ["Ada", "4711", "vcgt", "hidden", "2026", "APPL", "manu", "creator", "BBBB"] {
            #expect(!contains(picture, word), "\(word)")
        }
    }

    private func contains(_ bytes: [UInt8], _ text: String) -> Bool { contains(bytes, Sample.bytes(text)) }

    private func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        bytes.indices.contains { bytes[$0...].starts(with: part) }
    }

    /// A JPEG's segments with the profile, in that many parts.
    private func segments(_ profile: [UInt8], parts: Int) -> [[UInt8]] {
        let size = (profile.count + parts - 1) / parts
        return (0..<parts).map { part in
            Sample.segment(
                0xE2,
                Sample.bytes("ICC_PROFILE\0") + [UInt8(part + 1), UInt8(parts)]
                    + profile[part * size..<min(profile.count, (part + 1) * size)])
        }
    }

    /// The content of a PNG's chunk: a name, and the profile in zlib's format without compression (RFC 1950, RFC 1951).
    private func chunk(_ profile: [UInt8]) -> [UInt8] {
        var (a, b): (UInt32, UInt32) = (1, 0)
        for byte in profile { (a, b) = ((a + UInt32(byte)) % 65_521, (b + a + UInt32(byte)) % 65_521) }
        let length = Sample.littleEndian(profile.count, 2)
        return Sample.chunk(
            "iCCP",
            Sample.bytes("Ada's screen\0\0") + [0x78, 1, 1] + length + length.map { ~$0 } + profile
                + Sample.bigEndian(Int(b << 16 | a)))
    }

    private func heic(_ colours: [UInt8]) -> [UInt8] {
        Sample.box("ftyp", Sample.bytes("heic\0\0\0\0mif1heic"))
            + Sample.box("meta", [0, 0, 0, 0] + Sample.box("iprp", Sample.box("ipco", Sample.box("colr", colours))))
            + Sample.box("mdat", [1, 2])
    }

    @Test(
        "cleaning a JPEG keeps only the colours of its profile, also in several segments", arguments: [1, 2, 5],
        [2, 4] as [UInt8])
    func jpeg(parts: Int, version: UInt8) throws {
        var profile = SampleProfile()
        profile.version = version
        let input = Sample.jpeg([Sample.jfif] + segments(profile.bytes, parts: parts) + [Sample.picture])
        let output = try Picture(cleaning: input).bytes
        expectClean(output, of: profile)
        #expect(output.starts(with: [0xFF, 0xD8] + Sample.jfif + [0xFF, 0xE2]))
        #expect(try Picture(cleaning: output).bytes == output)
    }

    @Test("cleaning a PNG keeps only the colours of its profile")
    func png() throws {
        var profile = SampleProfile()
        (profile.space, profile.curve) = ("GRAY", Sample.bytes("curv\0\0\0\0\0\0\0\u{1}\u{2}\u{33}"))
        let output = try Picture(
            cleaning: Sample.png([Sample.header(), chunk(profile.bytes), Sample.data, Sample.end])
        ).bytes
        #expect(contains(output, "iCCPColours\0\0") && !contains(output, "Ada"))
        #expect(try Picture(cleaning: output).bytes == output)
        // The profile is compressed. A second one is not kept.
        let twice = Sample.png([Sample.header(), chunk(profile.bytes), chunk(profile.bytes), Sample.data, Sample.end])
        #expect(try Picture(cleaning: twice).bytes == output)
    }

    @Test("cleaning a WebP keeps only the colours of its profile, and its flag")
    func webp() throws {
        let profile = SampleProfile()
        let output = try Picture(
            cleaning: Sample.webp([Sample.extended(0x20), Sample.riff("ICCP", profile.bytes), Sample.lossy])
        ).bytes
        expectClean(output, of: profile)
        #expect(output[20] == 0x20)
        #expect(try Picture(cleaning: output).bytes == output)
    }

    @Test("cleaning a HEIC keeps only the colours of its profile, in its place")
    func heic() throws {
        let profile = SampleProfile()
        let input = heic(Sample.bytes("prof") + profile.bytes)
        let output = try Picture(cleaning: input).bytes
        expectClean(output, of: profile)
        #expect(output.count == input.count)
        #expect(try Picture(cleaning: output).bytes == output)
        let numbers = heic(Sample.bytes("nclx") + [0, 12, 0, 13, 0, 6, 0x80])
        #expect(try Picture(cleaning: numbers).bytes == numbers)
        for other in [Sample.bytes("nclxhidden words"), Sample.bytes("prof"), Sample.bytes("profhidden words"), [1]] {
            let output = try Picture(cleaning: heic(other)).bytes
            #expect(
                output
                    == heic(other).map(\.self).replacing(
                        Sample.bytes("colr") + other, with: Sample.bytes("free") + other.map { _ in 0 }))
        }
    }

    @Test("cleaning removes a profile that is damaged, of tables, or of a kind that pictures do not have")
    func removed() throws {
        let whole = SampleProfile().bytes
        var others = [whole.dropLast(whole.count - 200), [], Array(repeating: 0xFF, count: 400)].map { Array($0) }
        for (place, byte) in [(8, 3), (12, 0x6C), (16, 0x43), (36, 0), (64, 1), (128, 1), (131, 3)] as [(Int, UInt8)] {
            var profile = whole
            profile[place] = byte
            others.append(profile)
        }
        var profile = SampleProfile()
        profile.curve = Sample.bytes("curv\0\0\u{FF}\u{FF}") + Sample.bigEndian(1 << 20)
        others.append(profile.bytes)
        for other in others {
            let input = Sample.jpeg([Sample.jfif] + segments(other, parts: 1) + [Sample.picture])
            #expect(try Picture(cleaning: input).bytes == Sample.jpeg([Sample.jfif, Sample.picture]))
        }
        // Parts that are missing, and zlib's bytes that are none or too many.
        let part = segments(whole, parts: 3).dropLast()
        #expect(
            try Picture(cleaning: Sample.jpeg([Sample.jfif] + part + [Sample.picture])).bytes
                == Sample.jpeg([Sample.jfif, Sample.picture]))
        for content in ["", "name", "name\0", "name\0\0", "name\0\0junk", "name\0\u{1}junk"] {
            let chunk = Sample.chunk("iCCP", Sample.bytes(content))
            #expect(
                try Picture(cleaning: Sample.png([Sample.header(), chunk, Sample.data, Sample.end])).bytes
                    == Sample.png([Sample.header(), Sample.data, Sample.end]))
        }
    }
}

extension Array where Element == UInt8 {
    /// With the first occurrence of a part replaced.
    fileprivate func replacing(_ part: [UInt8], with other: [UInt8]) -> [UInt8] {
        guard let place = indices.first(where: { self[$0...].starts(with: part) }) else { return self }
        var result = self
        result.replaceSubrange(place..<place + part.count, with: other)
        return result
    }
}
