import JSON
import Testing

@Suite("JSON parser")
struct ParserTests {
    @Test(
        "the parser reads valid JSON",
        arguments: [
            ("null", JSONValue.null), (" true ", true), ("\t\r\nfalse\n", false), ("\"\"", ""), ("[]", []), ("{}", [:]),
            ("0", 0), ("-0", 0), ("-1", -1), ("10", 10), ("9223372036854775807", .integer(.max)),
            ("-9223372036854775808", .integer(.min)), ("9223372036854775808", .double(9_223_372_036_854_775_808)),
            ("1.0", 1.0), ("1e2", 100.0), ("1E+2", 100.0), ("25e-2", 0.25), ("-0.0", -0.0), ("1e-400", 0.0),
            ("5e-324", .double(.leastNonzeroMagnitude)), ("1.7976931348623157e308", .double(.greatestFiniteMagnitude)),
            ("0.1", 0.1), ("123456789012345678901234567890", .double(123456789012345677877719597056)),
            (#""\"\\\/\b\f\n\r\t""#, .string("\"\\/\u{8}\u{C}\n\r\t")), (#""\u0041\u00e9\u00E9""#, "Aéé"),
            (#""\ud83d\ude00""#, "😀"), (#""\uD800\uDC00""#, "\u{10000}"), (#""\udbff\udfff""#, "\u{10FFFF}"),
            (#""\u0000""#, "\0"), ("\"\u{7F}\u{80}é😀\"", "\u{7F}\u{80}é😀"), (#""\uFFFD\ue000""#, "\u{FFFD}\u{E000}"),
            ("[1,[2,[]],{}]", [1, [2, []], [:]]), (#"{"a":1,"b":{"a":2}}"#, ["a": 1, "b": ["a": 2]]),
            (#"{ "" : [ ] }"#, ["": []]), (#"{"a":null , "A":null}"#, ["a": nil, "A": nil]),
        ] as [(String, JSONValue)])
    func accepts(text: String, expected: JSONValue) throws {
        #expect(try JSONValue(parsing: text) == expected)
    }

    @Test(
        "the parser refuses invalid JSON with error and position",
        arguments: [
            ("", .unexpectedEnd, 0), ("  ", .unexpectedEnd, 2), ("nul", .unexpectedEnd, 3),
            ("nulL", .unexpectedByte, 3),
            ("True", .unexpectedByte, 0), ("NaN", .unexpectedByte, 0), ("Infinity", .unexpectedByte, 0),
            ("-Infinity", .invalidNumber, 1), ("+1", .unexpectedByte, 0), ("01", .invalidNumber, 0),
            ("-01", .invalidNumber, 1),
            ("00", .invalidNumber, 0), ("1.", .unexpectedEnd, 2), (".5", .unexpectedByte, 0),
            ("1.e5", .invalidNumber, 2),
            ("1e", .unexpectedEnd, 2), ("1e+", .unexpectedEnd, 3), ("1e+-1", .invalidNumber, 3),
            ("0x10", .trailingBytes, 1),
            ("-", .unexpectedEnd, 1), ("1e400", .numberOutOfRange, 0), ("-1e999999999999", .numberOutOfRange, 0),
            ("1 2", .trailingBytes, 2), ("[]]", .trailingBytes, 2), ("{}{}", .trailingBytes, 2),
            ("null\0", .trailingBytes, 4),
            ("[1,]", .unexpectedByte, 3), ("[,1]", .unexpectedByte, 1), ("[1 2]", .unexpectedByte, 3),
            ("[1", .unexpectedEnd, 2),
            ("[", .unexpectedEnd, 1), ("]", .unexpectedByte, 0), ("{", .unexpectedEnd, 1), ("{,}", .unexpectedByte, 1),
            (#"{"a"}"#, .unexpectedByte, 4), (#"{"a":}"#, .unexpectedByte, 5), (#"{"a":1,}"#, .unexpectedByte, 7),
            ("{a:1}", .unexpectedByte, 1), ("{'a':1}", .unexpectedByte, 1), (#"{1:1}"#, .unexpectedByte, 1),
            (#"{"a":1 "b":2}"#, .unexpectedByte, 7), (#"{"a":1,"a":1}"#, .duplicateKey, 7),
            (#"{"a":1,"\u0061":2}"#, .duplicateKey, 7), ("\"", .unexpectedEnd, 1), ("\"a", .unexpectedEnd, 2),
            ("\"\\", .unexpectedEnd, 2), ("\"\\\"", .unexpectedEnd, 3), ("\"\n\"", .controlCharacter, 1),
            ("\"ab\0\"", .controlCharacter, 3), ("\"\u{1F}\"", .controlCharacter, 1), (#""\x""#, .invalidEscape, 1),
            (#""\u12""#, .invalidEscape, 1), (#""\u123g""#, .invalidEscape, 1), (#""\U0041""#, .invalidEscape, 1),
            (#""ab\ud800""#, .loneSurrogate, 3), (#""\udc00""#, .loneSurrogate, 1),
            (#""\ud800\u0041""#, .loneSurrogate, 1),
            (#""\ud800\ud800""#, .loneSurrogate, 1), (#""\ud800x""#, .loneSurrogate, 1), ("/* */1", .unexpectedByte, 0),
            ("1//", .trailingBytes, 1), ("\u{FEFF}1", .unexpectedByte, 0), ("\u{A0}1", .unexpectedByte, 0),
            ("١", .unexpectedByte, 0),
        ] as [(String, JSONError.Reason, Int)])
    func refuses(text: String, reason: JSONError.Reason, offset: Int) {
        #expect(throws: JSONError(reason, at: offset)) { try JSONValue(parsing: text) }
    }

    @Test(
        "the parser refuses bytes that are not UTF-8, with their position",
        arguments: [
            ([0x22, 0x61, 0xFF, 0x22], 2), ([0x22, 0xC3, 0x22], 1), ([0x22, 0x80, 0x22], 1),
            ([0x22, 0xC0, 0xAF, 0x22], 1), ([0x22, 0xE0, 0x80, 0x80, 0x22], 1), ([0x22, 0xED, 0xA0, 0x80, 0x22], 1),
            ([0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], 1), ([0x22, 0xF8, 0x88, 0x80, 0x80, 0x80, 0x22], 1),
            ([0x22, 0x5C, 0x6E, 0x61, 0xE2, 0x82, 0x22], 4),
        ] as [([UInt8], Int)])
    func refusesInvalidUTF8(bytes: [UInt8], offset: Int) {
        #expect(throws: JSONError(.invalidUTF8, at: offset)) { try JSONValue(parsing: bytes) }
    }

    @Test("the parser reads 64 nested levels and no more")
    func depth() throws {
        func nested(_ levels: Int, _ open: String, _ close: String) -> String {
            String(repeating: open, count: levels) + "1" + String(repeating: close, count: levels)
        }
        #expect(throws: Never.self) { try JSONValue(parsing: nested(64, "[", "]")) }
        #expect(throws: Never.self) { try JSONValue(parsing: nested(64, "{\"a\":", "}")) }
        #expect(throws: JSONError(.tooDeep, at: 64)) { try JSONValue(parsing: nested(65, "[", "]")) }
        #expect(throws: JSONError(.tooDeep, at: 320)) { try JSONValue(parsing: nested(65, "{\"a\":", "}")) }
        #expect(throws: JSONError(.tooDeep, at: 64)) {
            try JSONValue(parsing: [UInt8](repeating: UInt8(ascii: "["), count: 1_000_000))
        }
        #expect(throws: JSONError(.tooDeep, at: 2)) {
            try JSONValue(parsing: "[[[]]]", limits: .init(maxDepth: 2))
        }
    }

    @Test("the parser refuses a document over the size limit before reading it")
    func size() {
        #expect(throws: JSONError(.tooLarge, at: 3)) { try JSONValue(parsing: "nonsense", limits: .init(maxBytes: 3)) }
    }

    @Test("the parser refuses a number of 2,000 digits")
    func longNumber() {
        let text = "0." + String(repeating: "1", count: 2_000)
        #expect(throws: JSONError(.numberOutOfRange, at: 0)) { try JSONValue(parsing: text) }
    }

    @Test("the parser reads an object of 100,000 members and a string of 1,000,000 bytes")
    func large() throws {
        let members = (0..<100_000).map { "\"key\($0)\":\($0)" }.joined(separator: ",")
        let object = try #require(try JSONValue(parsing: "{\(members)}").objectValue)
        #expect(object.count == 100_000)
        #expect((0..<100_000).allSatisfy { object["key\($0)"] == .integer(Int64($0)) })
        #expect(object["key100000"] == nil)
        #expect(throws: JSONError.self) { try JSONValue(parsing: "{\(members),\"key7\":0}") }
        let text = String(repeating: "a\\n", count: 500_000)
        let expected = String(repeating: "a\n", count: 500_000)
        #expect(try JSONValue(parsing: "\"\(text)\"").stringValue == expected)
    }

    @Test("the parser tells names apart by their bytes")
    func exactNames() throws {
        let value = try JSONValue(parsing: "{\"\u{E9}\":1,\"e\u{301}\":2}")
        #expect(value["\u{E9}"] == 1)
        #expect(value["e\u{301}"] == 2)
    }
}

@Suite("JSON object")
struct ObjectTests {
    @Test("a JSON object keeps order, replaces in place, and removes", arguments: [3, 15, 16, 17, 40])
    func order(count: Int) {
        var object = JSONObject()
        for number in 0..<count { object["k\(number)"] = .integer(Int64(number)) }
        object["k1"] = "one"
        object["k0"] = nil
        #expect(object.members.map(\.key) == (1..<count).map { "k\($0)" })
        #expect(object["k1"] == "one")
        #expect(object["k0"] == nil)
        #expect(object["k\(count - 1)"] == .integer(Int64(count - 1)))
        let taken = object.insert(true, for: "k2")
        #expect(!taken)
        let added = object.insert(true, for: "last")
        #expect(added)
        #expect(object.members.last?.key == "last")
    }

    @Test("two JSON objects are equal whatever their order")
    func equality() {
        #expect(JSONValue.object(["a": 1, "b": 2]) == ["b": 2, "a": 1])
        #expect(Set<JSONValue>([["a": 1, "b": 2], ["b": 2, "a": 1]]).count == 1)
        #expect(JSONValue.object(["a": 1]) != ["a": 2])
    }

    @Test("a JSON value converts only to its own type")
    func accessors() {
        let value: JSONValue = ["list": [1, 2.5, "x", true, nil]]
        #expect(value["list"]?[0]?.integerValue == 1)
        #expect(value["list"]?[1]?.integerValue == nil)
        #expect(value["list"]?[1]?.doubleValue == 2.5)
        #expect(value["list"]?[2]?.stringValue == "x")
        #expect(value["list"]?[3]?.boolValue == true)
        #expect(value["list"]?[4] == .null)
        #expect(value["list"]?[5] == nil)
        #expect(value[0] == nil)
        #expect(JSONValue.double(3).integerValue == 3)
        #expect(JSONValue.double(1e300).integerValue == nil)
    }
}
