import Domain
import SeededNumbers
import Testing

@Suite struct RecurrenceTests {
    let zone = NewYork2026()

    private func next(_ recurrence: Recurrence, first: String, previous: String, now: String? = nil) -> Timestamp? {
        recurrence.nextDue(
            after: at(previous), now: at(now ?? previous), anchor: RecurrenceAnchor(firstDue: at(first), in: zone),
            in: zone)
    }

    @Test(
        "recurrences within a day step by absolute time, and never into the past",
        arguments: [
            (Recurrence.every5Minutes, "2026-05-05T12:00:00Z", "2026-05-05T11:00:00Z", "2026-05-05T12:05:00Z"),
            (.every15Minutes, "2026-05-05T12:00:00Z", "2026-05-05T12:14:59Z", "2026-05-05T12:15:00Z"),
            (.every15Minutes, "2026-05-05T12:00:00Z", "2026-05-05T12:15:00Z", "2026-05-05T12:30:00Z"),
            (.every30Minutes, "2026-05-05T12:00:00Z", "2026-05-09T12:20:00Z", "2026-05-09T12:30:00Z"),
            (.hourly, "2026-03-08T06:30:00Z", "2026-03-08T06:31:00Z", "2026-03-08T07:30:00Z"),
        ])
    func absolute(_ recurrence: Recurrence, _ previous: String, _ now: String, _ expected: String) {
        #expect(next(recurrence, first: previous, previous: previous, now: now) == at(expected))
    }

    @Test(
        "a daily recurrence keeps the wall clock",
        arguments: [
            // 08:00 in New York, before and after each change.
            ("2026-03-07T13:00:00Z", "2026-03-07T13:00:00Z", "2026-03-08T12:00:00Z"),
            ("2026-10-31T12:00:00Z", "2026-10-31T12:00:00Z", "2026-11-01T13:00:00Z"),
            // 02:30 does not exist on 8 March: 03:30 that day, 02:30 again on the next.
            ("2026-03-07T07:30:00Z", "2026-03-07T07:30:00Z", "2026-03-08T07:30:00Z"),
            ("2026-03-07T07:30:00Z", "2026-03-08T07:30:00Z", "2026-03-09T06:30:00Z"),
            // 01:30 is shown twice on 1 November: the first showing, once.
            ("2026-10-31T05:30:00Z", "2026-10-31T05:30:00Z", "2026-11-01T05:30:00Z"),
            ("2026-10-31T05:30:00Z", "2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"),
            // A snoozed instance does not move the series.
            ("2026-05-05T12:00:00Z", "2026-05-05T12:25:00Z", "2026-05-06T12:00:00Z"),
        ])
    func daily(_ first: String, _ previous: String, _ expected: String) {
        #expect(next(.daily, first: first, previous: previous) == at(expected))
    }

    @Test func aLongPauseCausesNoBurst() {
        #expect(
            next(.daily, first: "2026-05-05T12:00:00Z", previous: "2026-05-05T12:00:00Z", now: "2026-06-20T12:00:00Z")
                == at("2026-06-21T12:00:00Z"))
        #expect(
            next(.weekly, first: "2026-05-05T12:00:00Z", previous: "2026-05-05T12:00:00Z", now: "2026-06-20T11:00:00Z")
                == at("2026-06-23T12:00:00Z"))
        #expect(
            next(.monthly, first: "2026-05-05T12:00:00Z", previous: "2026-05-05T12:00:00Z", now: "2026-08-05T12:00:00Z")
                == at("2026-09-05T12:00:00Z"))
    }

    @Test(
        "a weekly recurrence keeps weekday and wall clock",
        arguments: [
            ("2026-03-03T13:00:00Z", "2026-03-03T13:00:00Z", "2026-03-10T12:00:00Z"),
            // Snoozed past midnight into Wednesday: Tuesday again.
            ("2026-05-06T03:50:00Z", "2026-05-06T04:10:00Z", "2026-05-13T03:50:00Z"),
        ])
    func weekly(_ first: String, _ previous: String, _ expected: String) {
        #expect(next(.weekly, first: first, previous: previous) == at(expected))
    }

    @Test func monthsClampAndRememberTheDay() {
        let series = [
            "2026-01-31T13:00:00Z", "2026-02-28T13:00:00Z", "2026-03-31T12:00:00Z", "2026-04-30T12:00:00Z",
            "2026-05-31T12:00:00Z",
        ]
        for (previous, expected) in zip(series, series.dropFirst()) {
            #expect(next(.monthly, first: series[0], previous: previous) == at(expected))
        }
        #expect(
            next(.monthly, first: "2027-10-31T13:00:00Z", previous: "2028-01-31T13:00:00Z")
                == at("2028-02-29T13:00:00Z"))
        #expect(
            next(.monthly, first: "2026-12-15T13:00:00Z", previous: "2026-12-15T13:00:00Z")
                == at("2027-01-15T13:00:00Z"))
    }

    @Test("no recurrence goes beyond the year 9999, in UTC", arguments: Recurrence.allCases)
    func lastYear(_ recurrence: Recurrence) {
        #expect(next(recurrence, first: "9999-12-31T23:58:00Z", previous: "9999-12-31T23:58:00Z") == nil)
        #expect(next(recurrence, first: "9999-12-31T01:00:00Z", previous: "9999-12-31T23:58:00Z") == nil)
        #expect(next(recurrence, first: "0001-01-01T13:00:00Z", previous: "0001-01-01T13:00:00Z") != nil)
    }

    @Test("random series move forward by one instance", arguments: Recurrence.allCases)
    func property(_ recurrence: Recurrence) {
        var random = SeededNumbers(seed: 11)
        for _ in 0..<1_000 {
            let first = at("2026-01-01T00:00:00Z") + .seconds(Int64.random(in: 0..<31_536_000, using: &random))
            let now = first + .seconds(Int64.random(in: -1_000_000...40_000_000, using: &random))
            let anchor = RecurrenceAnchor(firstDue: first, in: zone)
            guard let due = recurrence.nextDue(after: first, now: now, anchor: anchor, in: zone) else {
                Issue.record("no next instance")
                continue
            }
            #expect(due > first && due > now)
            let longest: Timestamp.Span = recurrence == .monthly ? .days(32) : .days(8)
            #expect(due - max(first, now) <= longest)
            // Asking again just before it gives the same instance: none is skipped.
            #expect(recurrence.nextDue(after: first, now: due - .seconds(1), anchor: anchor, in: zone) == due)
        }
    }
}
