import Domain
import Testing

@testable import TimeZones

@Suite("Turns of a daily digest")
struct DigestDecisionTests {
    private static let newYork = ZoneDatabase.system.zone("America/New_York")
    private static let six = TimeOfDay("18:00") ?? .midnight

    private func moment(_ text: String) throws -> Timestamp { try #require(Timestamp(rfc3339: text)) }

    private func decide(
        _ now: String, last: CivilDate? = nil, at time: TimeOfDay = six
    ) throws -> (dueOn: String?, next: Timestamp) {
        let zone = try #require(Self.newYork)
        let decision = DigestDecision(at: time, last: last, now: try moment(now), zone: zone)
        return (decision.dueDate?.description, decision.nextCheck)
    }

    @Test("a digest is due at its time in the person's zone, before and after a change of the clocks")
    func clockChange() throws {
        #expect(try decide("2026-03-07T22:59:59Z") == (nil, try moment("2026-03-07T23:00:00Z")))
        #expect(try decide("2026-03-07T23:00:00Z") == ("2026-03-07", try moment("2026-03-08T22:00:00Z")))
        let seventh = CivilDate(year: 2026, month: 3, day: 7)
        #expect(try decide("2026-03-07T23:00:01Z", last: seventh) == (nil, try moment("2026-03-08T22:00:00Z")))
        #expect(try decide("2026-03-08T22:00:00Z", last: seventh) == ("2026-03-08", try moment("2026-03-09T22:00:00Z")))
        let first = CivilDate(year: 2026, month: 11, day: 1)
        #expect(
            try decide("2026-11-01T23:00:00Z", last: first?.adding(days: -1)) == (
                "2026-11-01", try moment("2026-11-02T23:00:00Z")
            ))
    }

    @Test("a digest's time that the clocks skip comes an hour later, and one that they repeat counts once")
    func skipped() throws {
        let time = try #require(TimeOfDay("02:30"))
        #expect(try decide("2026-03-08T07:00:00Z", at: time) == (nil, try moment("2026-03-08T07:30:00Z")))
        let night = try #require(TimeOfDay("01:30"))
        let first = CivilDate(year: 2026, month: 11, day: 1)
        #expect(try decide("2026-11-01T05:30:00Z", at: night) == ("2026-11-01", try moment("2026-11-02T06:30:00Z")))
        #expect(try decide("2026-11-01T06:30:00Z", last: first, at: night) == (nil, try moment("2026-11-02T06:30:00Z")))
    }

    @Test("after a stop one digest of today is due, and a zone further west waits for its next date")
    func late() throws {
        #expect(
            try decide("2026-03-10T03:59:59Z", last: CivilDate(year: 2026, month: 3, day: 1))
                == ("2026-03-09", try moment("2026-03-10T22:00:00Z")))
        #expect(
            try decide("2026-03-10T03:59:59Z", last: CivilDate(year: 2026, month: 3, day: 10))
                == (nil, try moment("2026-03-11T22:00:00Z")))
    }

    @Test(
        "a digest's time of today counts as passed from its moment to the end of the person's day, and is due no more")
    func begun() throws {
        let zone = try #require(Self.newYork)
        for (now, date) in [
            ("2026-03-09T03:59:59Z", "2026-03-08"), ("2026-03-09T04:00:00Z", nil), ("2026-03-09T21:59:59Z", nil),
            ("2026-03-09T22:00:00Z", "2026-03-09"), ("2026-03-10T03:59:59Z", "2026-03-09"),
            ("2026-03-10T04:00:00Z", nil),
        ] {
            let passed = DigestDecision.skippedDate(at: Self.six, now: try moment(now), zone: zone)
            #expect(passed?.description == date, "\(now)")
            if let passed { #expect(try decide(now, last: passed).dueOn == nil, "\(now)") }
        }
    }
}
