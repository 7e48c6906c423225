import JSON
import SeededNumbers
import Testing

@Suite("JSON writer")
struct WriterTests {
    private func written(_ write: (inout JSONWriter) -> Void) -> String {
        String(decoding: JSONWriter.document(write), as: UTF8.self)
    }

    @Test("the writer puts commas where they belong")
    func commas() {
        let text = written { json in
            json.object { json in
                json.key("a")
                json.integer(1)
                json.key("b")
                json.array { json in
                    json.null()
                    json.object { _ in }
                    json.array { _ in }
                    json.bool(true)
                    json.bool(false)
                }
                json.key("c")
                json.object { json in
                    json.key(escaping: "q\"")
                    json.string("v")
                }
            }
        }
        #expect(text == #"{"a":1,"b":[null,{},[],true,false],"c":{"q\"":"v"}}"#)
    }

    @Test("the writer writes integers of any size", arguments: [0, 7, -7, 10, 1_234_567_890, Int64.max, .min, -1])
    func integers(value: Int64) {
        #expect(written { $0.integer(value) } == String(value))
    }

    @Test(
        "the writer writes doubles so that they read back",
        arguments: [
            (0.1, "0.1", "0.1"), (1, "1.0", "1"), (-2, "-2.0", "-2"), (0.05, "0.05", "0.05"), (1e21, "1e+21", "1e+21"),
            (.leastNonzeroMagnitude, "5e-324", "5e-324"), (.infinity, "null", "null"), (.nan, "null", "null"),
            (-0.0, "-0.0", "0"),
        ] as [(Double, String, String)])
    func doubles(value: Double, asDouble: String, asNumber: String) {
        #expect(written { $0.double(value) } == asDouble)
        #expect(written { $0.number(value) } == asNumber)
    }

    @Test("the writer escapes what must be and nothing else")
    func strings() {
        #expect(written { $0.string("") } == "\"\"")
        #expect(written { $0.string("a\"b\\c/d") } == #""a\"b\\c/d""#)
        #expect(written { $0.string("\u{8}\t\n\u{C}\r\u{0}\u{1F}\u{7F}") } == "\"\\b\\t\\n\\f\\r\\u0000\\u001f\u{7F}\"")
        #expect(written { $0.string("é😀\u{2028}") } == "\"é😀\u{2028}\"")
        #expect(written { $0.string(utf8: Array("\"x".utf8).span) } == #""\"x""#)
    }

    @Test("the writer escapes a character wherever it stands in a string, and no other", arguments: 0..<24)
    func escapes(place: Int) {
        for byte in UInt8(0)..<0x80 {
            var text = [UInt8](repeating: UInt8(ascii: "x"), count: 24)
            text[place] = byte
            let json = written { $0.string(utf8: text.span) }
            #expect((json.utf8.count == 26) == (byte >= 0x20 && byte != 0x22 && byte != 0x5C), "\(byte)")
            let read = try? JSONValue(parsing: Array(json.utf8).span)
            #expect(read == .string(String(decoding: text, as: UTF8.self)))
        }
        let wide = String(repeating: "é", count: place) + "😀\""
        #expect(written { $0.string(wide) } == "\"\(wide.dropLast())\\\"\"")
    }

    @Test("the writer writes UUIDs in lower case")
    func uuid() {
        let text = written { $0.uuid(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210) }
        #expect(text == "\"01234567-89ab-cdef-fedc-ba9876543210\"")
        #expect(written { $0.uuid(high: 0, low: .max) } == "\"00000000-0000-0000-ffff-ffffffffffff\"")
    }

    @Test(
        "a written document is whole however much memory was reserved for it",
        arguments: [0, 1, 63, 64, 400, 1_000_000])
    func outgrown(reserved: Int) {
        let words = (0..<40).map { "word \($0)" }
        let json = JSONWriter.document(reserving: reserved) { json in
            json.array { json in
                for word in words { json.string(word) }
            }
        }
        #expect(String(decoding: json, as: UTF8.self) == "[\"\(words.joined(separator: "\",\""))\"]")
    }

    @Test("an error of the writing closure is thrown, before and after the document has outgrown its memory")
    func failure() {
        struct Stop: Error {}
        for length in [1, 1_000] {
            #expect(throws: Stop.self) {
                try JSONWriter.document { json throws(Stop) in
                    json.string(String(repeating: "x", count: length))
                    throw Stop()
                }
            }
        }
    }

    @Test("the writer lets a caller append finished JSON")
    func unescaped() {
        let text = written { json in
            json.array { json in
                json.integer(1)
                json.rawJSON(utf8: Array("{\"x\":2}".utf8).span)
                json.integer(3)
            }
        }
        #expect(text == #"[1,{"x":2},3]"#)
    }

    @Test("every written value reads back the same", arguments: 0..<200)
    func roundTrip(seed: Int) throws {
        var generator = SeededNumbers(seed: UInt64(seed))
        let value = generator.value(depth: 5)
        #expect(try JSONValue(parsing: value.bytes) == value)
    }

    @Test("a damaged document is refused or read, and never crashes the parser", arguments: 0..<200)
    func damage(seed: Int) {
        var generator = SeededNumbers(seed: UInt64(seed))
        var bytes = generator.value(depth: 4).bytes
        for _ in 0..<20 {
            guard !bytes.isEmpty else { break }
            let place = Int(generator.next() % UInt64(bytes.count))
            switch generator.next() % 4 {
            case 0: bytes[place] = UInt8(truncatingIfNeeded: generator.next())
            case 1: bytes.remove(at: place)
            case 2: bytes.insert(UInt8(truncatingIfNeeded: generator.next()), at: place)
            default: bytes.removeLast()
            }
            do {
                let value = try JSONValue(parsing: bytes)
                #expect(throws: Never.self) { try JSONValue(parsing: value.bytes) }
            } catch {
                #expect((0...bytes.count).contains(error.offset))
            }
        }
    }
}

extension SeededNumbers {
    mutating func value(depth: Int) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &self) {
        case 0: return .null
        case 1: return .bool(.random(using: &self))
        case 2: return .integer(Int64(bitPattern: next()) >> Int64(next() % 64))
        case 3:
            let number = Double(bitPattern: next())
            return .double(number.isFinite ? number : 0.5)
        case 4, 5: return .string(text())
        case 6: return .array((0..<Int(next() % 6)).map { _ in value(depth: depth - 1) })
        default:
            var object = JSONObject()
            for _ in 0..<Int(next() % 20) { object[text()] = value(depth: depth - 1) }
            return .object(object)
        }
    }

    private mutating func text() -> String {
        var text = ""
        for _ in 0..<Int(next() % 12) {
            let limit: UInt32 = Bool.random(using: &self) ? 0x80 : 0x110000
            text.unicodeScalars.append(Unicode.Scalar(.random(in: 0..<limit, using: &self)) ?? "\u{FFFD}")
        }
        return text
    }
}
