import Domain
import SeededNumbers
import Testing

@Suite("Opening times of a series' instances")
struct OpeningTests {
    let zone = NewYork2026()

    @Test(
        "an instance opens at the previous due time, from one interval to half of one or a day before its own",
        arguments: [
            // The one before it is due an interval earlier.
            (Recurrence.daily, "2026-05-06T22:00:00Z", "2026-05-05T22:00:00Z", "2026-05-05T22:00:00Z"),
            (.weekly, "2026-05-12T22:00:00Z", "2026-05-05T22:00:00Z", "2026-05-05T22:00:00Z"),
            (.monthly, "2026-06-05T22:00:00Z", "2026-05-05T22:00:00Z", "2026-05-05T22:00:00Z"),
            (.hourly, "2026-05-05T13:00:00Z", "2026-05-05T12:00:00Z", "2026-05-05T12:00:00Z"),
            // The one before it was moved later: to a day, or half an interval, before its own time at the latest.
            (.daily, "2026-05-06T22:00:00Z", "2026-05-06T10:00:00Z", "2026-05-05T22:00:00Z"),
            (.weekly, "2026-05-12T22:00:00Z", "2026-05-08T10:00:00Z", "2026-05-08T10:00:00Z"),
            (.weekly, "2026-05-12T22:00:00Z", "2026-05-12T10:00:00Z", "2026-05-11T22:00:00Z"),
            (.hourly, "2026-05-05T13:00:00Z", "2026-05-05T12:20:00Z", "2026-05-05T12:20:00Z"),
            (.hourly, "2026-05-05T13:00:00Z", "2026-05-05T12:50:00Z", "2026-05-05T12:30:00Z"),
            (.every5Minutes, "2026-05-05T12:05:00Z", "2026-05-05T12:04:00Z", "2026-05-05T12:02:30Z"),
            // The one before it was long ago: an interval before its own time.
            (.daily, "2026-05-09T22:00:00Z", "2026-05-01T22:00:00Z", "2026-05-08T22:00:00Z"),
            (.monthly, "2026-06-05T22:00:00Z", "2026-01-05T23:00:00Z", "2026-05-05T22:00:00Z"),
            // The first one.
            (.daily, "2026-05-09T22:00:00Z", nil, "2026-05-08T22:00:00Z"),
            (.weekly, "2026-05-12T22:00:00Z", nil, "2026-05-05T22:00:00Z"),
            (.every30Minutes, "2026-05-05T12:00:00Z", nil, "2026-05-05T11:30:00Z"),
            // Local days: the clocks go forward in New York at 02:00 on 8 March, back at 02:00 on 1 November.
            (.weekly, "2026-03-08T22:00:00Z", nil, "2026-03-01T23:00:00Z"),
            (.daily, "2026-11-01T23:00:00Z", "2026-10-31T22:00:00Z", "2026-10-31T22:00:00Z"),
            // A month is as long as it is; the 31st of a month without one is its last day.
            (.monthly, "2026-03-31T22:00:00Z", nil, "2026-02-28T23:00:00Z"),
            (.monthly, "2026-01-15T15:00:00Z", nil, "2025-12-15T15:00:00Z"),
        ] as [(Recurrence, String, String?, String)])
    func opening(_ recurrence: Recurrence, _ due: String, _ previous: String?, _ expected: String) {
        #expect(recurrence.openingTime(of: at(due), after: previous.map { at($0) }, in: zone) == at(expected))
    }

    @Test(
        "however instances lie, one is open a day, or half an interval, before it is due",
        arguments: Recurrence.allCases)
    func bounds(_ recurrence: Recurrence) {
        var numbers = SeededNumbers(seed: 7)
        for _ in 0..<2_000 {
            let due = at("2026-01-01T00:00:00Z") + .seconds(Int64(numbers.next() % (360 * 86_400)))
            let previous = due - .seconds(Int64(numbers.next() % (90 * 86_400)))
            let opening = recurrence.openingTime(of: due, after: previous, in: zone)
            #expect(opening < due && opening >= due - .hours(31 * 24 + 1))
            #expect(opening <= due - .seconds(150) && (opening <= due - .days(1) || opening >= due - .hours(1)))
        }
    }

    @Test(
        "an instance keeps its distance from the one before it",
        arguments: [
            (Recurrence.every5Minutes, Timestamp.Span.seconds(150)), (.hourly, .minutes(30)), (.daily, .hours(12)),
            (.weekly, .hours(12)), (.monthly, .hours(12)),
        ])
    func distance(_ recurrence: Recurrence, _ distance: Timestamp.Span) {
        let previous = at("2026-05-05T22:00:00Z")
        #expect(recurrence.earliestMovedDueTime(after: previous) == previous + distance)
    }
}
