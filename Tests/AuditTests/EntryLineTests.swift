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

    @Test("are read as they are")
    func read() throws {
        guard case .entry(let entry, let payload, let position)? = EntryLine.record(Array(Self.line().utf8)[...]) else {
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
        "anything else is left to a JSON reader",
        arguments: [
            "", "{", line() + " ", line(n: "07"), line(n: "-1"), line(n: "1e1"), line(n: "9999999999999999999"),
            line(kind: #"a\u0020b"#), line(kind: "é"), line(subject: "5"), line(subject: #""\#(id.uppercased())""#),
            line(payload: #""whole","salt":"\#(hash)","body":"0""#), line(payload: #""gone","salt":null,"body":null"#),
            line(position: "nul"), line().replacing(#","n":"#, with: #", "n":"#),
        ])
    func left(line: String) {
        let record = EntryLine.record(Array(line.utf8)[...])
        if case .some = record { Issue.record("read") }
    }

    @Test("no octet of a line can be cut off or doubled")
    func everyOctet() {
        let line = Array(Self.line().utf8)
        for index in line.indices {
            if case .some = EntryLine.record(line[..<index]) { Issue.record("read up to \(index)") }
        }
    }
}
