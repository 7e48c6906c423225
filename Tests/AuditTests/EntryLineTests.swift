import Audit
import Domain
import Testing

@Suite("Lines of an export")
struct EntryLineTests {
    private static let id = "00000000-0000-0001-0000-00000000000a"
    private static let hash = String(repeating: "0f", count: 32)
    private static func line(
        n: String = "7", kind: String = "nag.created", subject: String = "null", position: String = "3",
        payload: String = #""whole","salt":"\#(hash)","body":"00ff""#
    ) -> String {
        #"{"entry":{"family_id":"\#(id)","n":\#(n),"at_us":1770091506789123,"kind":"\#(kind)","actor":"\#(id)","#
            + #""subject":\#(subject),"resource_id":"\#(id)","trace_id":"\#(id)","request_id":"\#(id)","#
            + #""commit":"\#(hash)","prev":"\#(hash)","hash":"\#(hash)","position":\#(position),"payload":\#(payload)}}"#
    }

    @Test("the fast reader reads an entry line with its exact values")
    func read() throws {
        guard
            case .entry(let entry, let payload, let position)? = EntryLineParser.parse(Array(Self.line().utf8)[...])
        else {
            Issue.record("not read")
            return
        }
        #expect(entry.family == FamilyID(high: 1, low: 10) && entry.number == 7 && position == 3)
        #expect(entry.at.microseconds == 1_770_091_506_789_123 && entry.act.kind == "nag.created")
        #expect(entry.act.subject == nil && entry.act.resource == ResourceID(high: 1, low: 10))
        #expect(entry.hash == [UInt8](repeating: 15, count: 32))
        #expect(payload == .whole(salt: entry.hash, body: [0, 255]))
    }

    @Test(
        "the fast reader leaves any other line to a JSON reader",
        arguments: [
            "", "{", line() + " ", line(n: "07"), line(n: "-1"), line(n: "1e1"), line(n: "9999999999999999999"),
            line(kind: #"a\u0020b"#), line(kind: "é"), line(subject: "5"), line(subject: #""\#(id.uppercased())""#),
            line(payload: #""whole","salt":"\#(hash)","body":"0""#), line(payload: #""gone","salt":null,"body":null"#),
            line(position: "nul"), line().replacing(#","n":"#, with: #", "n":"#),
        ])
    func left(line: String) {
        let record = EntryLineParser.parse(Array(line.utf8)[...])
        if case .some = record { Issue.record("read") }
    }

    @Test(
        "the fast reader reads a whole line, and refuses it cut off before or after any byte",
        arguments: [line(), line(subject: "\"\(id)\""), line(position: "null")])
    func everyByte(text: String) {
        let line = Array(text.utf8)
        #expect(EntryLineParser.parse(line[...]) != nil)
        for index in line.indices {
            if case .some = EntryLineParser.parse(line[..<index]) { Issue.record("read up to \(index)") }
            if index > 0, case .some = EntryLineParser.parse(line[index...]) { Issue.record("read from \(index)") }
        }
    }

    /// For the thread sanitizer: an array made with room for nothing writes to the one that all empty arrays share.
    @Test("lines without digits are read by several threads at once")
    func together() async {
        let line = Array(Self.line(payload: #""whole","salt":"\#(Self.hash)","body":""#).utf8.dropLast(2))
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<2000 {
                        if case .some = EntryLineParser.parse(line[...]) { Issue.record("read") }
                    }
                }
            }
        }
    }

    @Test("the check of digits sees every byte that is no digit, wherever it stands")
    func digits() throws {
        let bytes = (0..<32).map { UInt8(truncatingIfNeeded: 0x9a &+ $0 &* 0x3d) }
        let digits = bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        let line = Array(Self.line(payload: #""whole","salt":"\#(digits)","body":"\#(digits.dropLast(6))""#).utf8)
        guard case .entry(_, .whole(let salt, let body), _)? = EntryLineParser.parse(line[...]) else {
            Issue.record("not read")
            return
        }
        #expect(salt == bytes && body == Array(bytes.dropLast(3)))
        let text = String(decoding: line, as: UTF8.self)
        let places = [text.firstRange(of: digits), text.firstRange(of: Self.id)].compactMap(\.self)
        for place in places {
            let start = text.utf8.distance(from: text.utf8.startIndex, to: place.lowerBound)
            for index in start..<start + text[place].utf8.count where line[index] != UInt8(ascii: "-") {
                for byte in UInt8.min...UInt8.max
                where !(0x30...0x39).contains(byte) && !(0x61...0x66).contains(byte) {
                    var wrong = line
                    wrong[index] = byte
                    if case .some = EntryLineParser.parse(wrong[...]) { Issue.record("\(byte) at \(index)") }
                }
            }
        }
    }
}
