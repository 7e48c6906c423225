import Domain
import Testing

@testable import TimeZones

/// Files in the database's format.
enum ZoneBytes {
    /// A file without changes.
    static func file(version: String = "2", footer: String, types: [[UInt8]] = [[0, 0, 0, 0, 0, 0]]) -> [UInt8] {
        let head = Array("TZif\(version)".utf8) + [UInt8](repeating: 0, count: 15)
        var part = head
        for count in [0, 0, 0, 0, types.count, 4] { part += [0, 0, 0, UInt8(count)] }
        for type in types { part += type }
        part += "UTC\0".utf8
        return part + part + Array("\n\(footer)\n".utf8)
    }
}

@Suite("Files of the time zone database")
struct ZoneFileTests {
    @Test("a zone file without changes has the rule of its last line")
    func footerOnly() throws {
        let zone = try #require(ZoneFile(ZoneBytes.file(footer: "NZST-12NZDT,M9.5.0,M4.1.0/3")))
        func hours(_ moment: String) throws -> Int {
            zone.secondsFromUTC(at: try #require(Timestamp(rfc3339: moment))) / 3_600
        }
        #expect(try hours("2026-01-01T00:00:00Z") == 13)
        #expect(try hours("2026-04-04T13:59:59Z") == 13)
        #expect(try hours("2026-04-04T14:00:00Z") == 12)
        #expect(try hours("2026-09-26T13:59:59Z") == 12)
        #expect(try hours("2026-09-26T14:00:00Z") == 13)
        #expect(try hours("2026-12-31T23:59:59Z") == 13)
    }

    @Test(
        "a rule is read as POSIX defines it",
        arguments: [
            ("UTC0", 0), ("<+0330>-3:30", 12_600), ("EST5", -18_000), ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", -7_200),
            ("XXX-1:02:03", 3_723), ("EST5EDT4,J60/2,J300", -18_000), ("EST5EDT,0/0,J365/25", -14_400),
        ])
    func rules(text: String, inJanuary: Int) throws {
        let rule = try #require(RecurringClockChange(text))
        #expect(rule.secondsFromUTC(at: 1_767_700_000) == inJanuary)
    }

    @Test("a rule's day without 29 February is the same date in every year")
    func withoutLeapDay() throws {
        let rule = try #require(RecurringClockChange("AAA0BBB-1,J60/0,J61/0"))
        for (moment, isSummer) in [
            ("2027-03-01T00:00:00Z", true), ("2027-02-28T23:59:59Z", false), ("2028-03-01T00:00:00Z", true),
            ("2028-02-29T23:59:59Z", false),
        ] {
            #expect(
                (rule.secondsFromUTC(at: try #require(Timestamp(rfc3339: moment)).seconds) == 3_600) == isSummer,
                "\(moment)")
        }
    }

    @Test(
        "a text that is no rule is refused",
        arguments: [
            "AB1", "EST", "EST25", "EST5EDT,M13.1.0,M1.1.0", "EST5EDT,M1.6.0,M1.1.0", "EST5EDT,M1.1.7,M1.1.0",
            "EST5EDT,M1.1.0", "<EST5", "EST5EDT,J0,J1", "EST5EDT,366,1", "EST99999999999999999999", "EST5 ", "EST5EDT",
            "EST5:60", "EST5EDT,M1.1.0/168,M2.1.0",
        ])
    func noRules(text: String) { #expect(RecurringClockChange(text) == nil) }

    @Test("bytes that are no zone file are refused, and so is every shorter part of one")
    func noFiles() {
        let file = ZoneBytes.file(footer: "CET-1CEST,M3.5.0,M10.5.0/3")
        #expect(ZoneFile(file) != nil)
        for length in 0..<(file.count - 1) { #expect(ZoneFile(Array(file.prefix(length))) == nil, "\(length)") }
        #expect(ZoneFile(ZoneBytes.file(version: "1", footer: "UTC0")) == nil)
        #expect(ZoneFile(ZoneBytes.file(footer: "UTC0", types: [])) == nil)
        #expect(
            ZoneFile(ZoneBytes.file(footer: "UTC0", types: [[0x7f, 0xff, 0xff, 0xff, 0, 0]])) == nil,
            "an offset of 68 years")
        var huge = file
        huge.replaceSubrange(36..<40, with: [0x7f, 0xff, 0xff, 0xff])
        #expect(ZoneFile(huge) == nil, "a count beyond the file")
    }

    @Test("no changed byte makes a zone file that traps")
    func changedBytes() {
        let file = ZoneBytes.file(footer: "CET-1CEST,M3.5.0,M10.5.0/3")
        for position in file.indices {
            for value in [0, 1, 0x7f, 0x80, 0xff] as [UInt8] {
                var changed = file
                changed[position] = value
                _ = ZoneFile(changed)?.secondsFromUTC(at: Timestamp(seconds: 1_790_000_000))
            }
        }
    }
}
