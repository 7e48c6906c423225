import Domain
import Testing

@Suite struct TimestampTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0),
        ("2026-11-21T06:16:19.5Z", 1_795_241_779_500_000),
        ("2026-11-21T07:16:19+01:00", 1_795_241_779_000_000),
        ("1969-12-31T23:59:59.999999Z", -1),
        ("0001-01-01T00:00:00Z", -62_135_596_800_000_000),
        ("2024-02-29T12:00:00.1234567890Z", 1_709_208_000_123_456),
        ("2016-12-31T23:59:60Z", 1_483_228_799_000_000),
    ])
    func reads(_ text: String, _ microseconds: Int64) {
        #expect(Timestamp(rfc3339: text)?.microseconds == microseconds)
    }

    @Test(arguments: [
        "", "2026-11-21", "2026-11-21T06:16:19", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
        "2026-11-21T24:00:00Z", "2026-11-21T06:16:19.Z", "+026-11-21T06:16:19Z", "2026-11-21T06:16:19Zx",
        "2026-11-21T06:16:19+24:00", "0000-01-01T00:00:00Z", "２026-11-21T06:16:19Z",
    ])
    func refuses(_ text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }

    @Test func printsThreeFractionDigitsFloored() {
        #expect(Timestamp(microseconds: 1_795_241_779_999_999).rfc3339 == "2026-11-21T06:16:19.999Z")
        #expect(Timestamp(microseconds: -1).rfc3339 == "1969-12-31T23:59:59.999Z")
        #expect(Timestamp.epoch.rfc3339 == "1970-01-01T00:00:00.000Z")
    }

    @Test func everyDayOfFourCenturiesRoundTrips() {
        for days in Int64(-10_000)..<146_097 {
            #expect(CivilDate(daysSinceEpoch: days).daysSinceEpoch == days)
        }
        #expect(CivilDate(year: 2026, month: 11, day: 21)?.weekday == .saturday)
    }
}
