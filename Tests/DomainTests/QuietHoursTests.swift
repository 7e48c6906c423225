import Domain
import SeededNumbers
import Testing

@Suite struct QuietHoursTests {
    static let night = QuietHours(start: clock("22:00"), end: clock("07:00"))
    static let siesta = QuietHours(start: clock("13:00"), end: clock("15:00"))

    static let containsCases: [(QuietHours, String, Bool)] = [
        (night, "21:59:59", false), (night, "22:00", true), (night, "00:00", true), (night, "06:59:59", true),
        (night, "07:00", false), (night, "12:00", false),
        (siesta, "12:59:59", false), (siesta, "13:00", true), (siesta, "14:59:59", true), (siesta, "15:00", false),
        (QuietHours(start: clock("09:00"), end: clock("09:00")), "09:00", false),
        (QuietHours(start: .midnight, end: .midnight), "00:00", false),
    ]

    @Test("quiet hours include their start and exclude their end", arguments: containsCases)
    func contains(_ hours: QuietHours, _ time: String, _ expected: Bool) {
        #expect(hours.contains(clock(time)) == expected)
    }

    @Test(
        "the end of a quiet night and the last moment before it are exact, in UTC",
        arguments: [
            ("2026-05-05T21:59:59.999Z", "2026-05-05T21:59:59.999Z", "2026-05-05T21:59:59.999Z"),
            ("2026-05-05T22:00:00Z", "2026-05-06T07:00:00Z", "2026-05-05T21:59:59Z"),
            ("2026-05-06T03:00:00.500Z", "2026-05-06T07:00:00Z", "2026-05-05T21:59:59Z"),
            ("2026-05-06T06:59:59.999Z", "2026-05-06T07:00:00Z", "2026-05-05T21:59:59Z"),
            ("2026-05-06T07:00:00Z", "2026-05-06T07:00:00Z", "2026-05-06T07:00:00Z"),
        ])
    func edges(_ moment: String, _ end: String, _ last: String) {
        #expect(Self.night.firstMomentOutside(from: at(moment), in: UniversalTime()) == at(end))
        #expect(Self.night.lastMomentOutside(upTo: at(moment), in: UniversalTime()) == at(last))
    }

    static let clockChangesCases: [(QuietHours, String, String, String)] = [
        // The night of 8 March is an hour shorter, that of 1 November an hour longer.
        (night, "2026-03-08T06:00:00Z", "2026-03-08T11:00:00Z", "2026-03-08T02:59:59Z"),
        (night, "2026-03-08T10:00:00Z", "2026-03-08T11:00:00Z", "2026-03-08T02:59:59Z"),
        (night, "2026-11-01T03:00:00Z", "2026-11-01T12:00:00Z", "2026-11-01T01:59:59Z"),
        (night, "2026-11-01T11:00:00Z", "2026-11-01T12:00:00Z", "2026-11-01T01:59:59Z"),
        // Quiet from 02:30, which that night never shows: quiet begins with the jump to 03:00.
        (
            QuietHours(start: clock("02:30"), end: clock("06:00")), "2026-03-08T07:15:00Z", "2026-03-08T10:00:00Z",
            "2026-03-08T06:59:59Z"
        ),
        // Quiet until 02:30, which that night never shows: the jump ends it.
        (
            QuietHours(start: clock("23:00"), end: clock("02:30")), "2026-03-08T06:30:00Z", "2026-03-08T07:00:00Z",
            "2026-03-08T03:59:59Z"
        ),
        // Quiet from 01:30, and the clock goes back into the time before it.
        (
            QuietHours(start: clock("01:30"), end: clock("06:00")), "2026-11-01T05:45:00Z", "2026-11-01T06:00:00Z",
            "2026-11-01T05:29:59Z"
        ),
    ]

    @Test(
        "the end of quiet hours and the last moment before them are exact across clock changes",
        arguments: clockChangesCases)
    func clockChanges(_ hours: QuietHours, _ moment: String, _ end: String, _ last: String) {
        #expect(hours.contains(at(moment), in: NewYork2026()))
        #expect(hours.firstMomentOutside(from: at(moment), in: NewYork2026()) == at(end))
        #expect(hours.lastMomentOutside(upTo: at(moment), in: NewYork2026()) == at(last))
    }

    @Test func randomEdgesAreTheNearestOnes() {
        var random = SeededNumbers(seed: 7)
        let zone = NewYork2026()
        for _ in 0..<2_000 {
            let hours = QuietHours(
                start: TimeOfDay(secondsSinceMidnight: Int.random(in: 0..<86_400, using: &random)) ?? .midnight,
                end: TimeOfDay(secondsSinceMidnight: Int.random(in: 0..<86_400, using: &random)) ?? .midnight)
            let change = Bool.random(using: &random) ? NewYork2026.spring : NewYork2026.autumn
            let moment = change + .seconds(Int64.random(in: -90_000...90_000, using: &random))
            let end = hours.firstMomentOutside(from: moment, in: zone)
            let last = hours.lastMomentOutside(upTo: moment, in: zone)
            #expect(!hours.contains(end, in: zone) && !hours.contains(last, in: zone))
            #expect(last <= moment && moment <= end)
            guard hours.contains(moment, in: zone) else {
                #expect(last == moment && end == moment)
                continue
            }
            // Nothing quiet-free lies between: the neighbours are quiet, and so are points in the middle.
            #expect(hours.contains(end - .seconds(1), in: zone) && hours.contains(last + .seconds(1), in: zone))
            for _ in 0..<20 {
                let inside = Int64.random(in: (last.seconds + 1)...(end.seconds - 1), using: &random)
                #expect(hours.contains(Timestamp(seconds: inside), in: zone))
            }
        }
    }
}
