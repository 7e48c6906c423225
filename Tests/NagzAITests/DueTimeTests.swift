import Domain
import NagzAI
import Testing

@Suite("Due times read from words")
struct DueTimeTests {
    /// Tuesday, 10 March 2026, 15:00 UTC.
    private static let reader = DueTimeReader(now: Timestamp(seconds: 1_773_154_800), zone: UniversalTime())

    @Test(
        "a phrase of a time is understood as a whole",
        arguments: [
            // Days
            ("tomorrow", "2026-03-11T18:00"), ("today", "2026-03-10T18:00"), ("tonight", "2026-03-10T20:00"),
            ("the day after tomorrow", "2026-03-12T18:00"), ("the day after tomorrow at 5", "2026-03-12T17:00"),
            ("tomorrow morning", "2026-03-11T09:00"), ("tomorrow night at 9", "2026-03-11T21:00"),
            ("on Friday", "2026-03-13T18:00"), ("this Friday", "2026-03-13T18:00"), ("Fri at 5", "2026-03-13T17:00"),
            ("next Monday", "2026-03-16T18:00"), ("next Tuesday at noon", "2026-03-17T12:00"),
            ("meet me at 5pm, Thursday", "2026-03-12T17:00"), ("due Friday", "2026-03-13T18:00"),
            // Dates
            ("on 1 December at 5pm", "2026-12-01T17:00"), ("December 1st", "2026-12-01T18:00"),
            ("Dec 1 at noon", "2026-12-01T12:00"), ("1st of June 2027", "2027-06-01T18:00"),
            ("1 March", "2027-03-01T18:00"), ("29 February", "2028-02-29T18:00"),
            ("on Friday 13 March", "2026-03-13T18:00"), ("2026-12-01 at 17:00", "2026-12-01T17:00"),
            ("13/12/2026", "2026-12-13T18:00"), ("31.12.2026", "2026-12-31T18:00"), ("by the 5th", "2026-04-05T18:00"),
            ("at 17:30 on the 31st", "2026-03-31T17:30"),
            // Times
            ("at 5", "2026-03-10T17:00"), ("at five", "2026-03-10T17:00"), ("at 8", "2026-03-11T08:00"),
            ("at 12", "2026-03-11T12:00"), ("by 5", "2026-03-10T17:00"), ("5 o'clock", "2026-03-10T17:00"),
            ("17.00", "2026-03-10T17:00"), ("at 17h30", "2026-03-10T17:30"), ("at 00:30", "2026-03-11T00:30"),
            ("at midnight", "2026-03-11T00:00"), ("tonight at midnight", "2026-03-11T00:00"),
            ("half past 8", "2026-03-11T08:30"), ("quarter to nine", "2026-03-11T08:45"),
            ("a quarter past 7 pm", "2026-03-10T19:15"), ("20 past 5", "2026-03-10T17:20"),
            ("quarter to 1 pm", "2026-03-11T12:45"), ("at 7 in the morning", "2026-03-11T07:00"),
            ("half past eight in the evening", "2026-03-10T20:30"), ("in the morning", "2026-03-11T09:00"),
            // Distances
            ("in half an hour", "2026-03-10T15:30"), ("in an hour and a half", "2026-03-10T16:30"),
            ("in 2 hours and 15 minutes", "2026-03-10T17:15"), ("in two weeks", "2026-03-24T18:00"),
            ("in 3 days at 9am", "2026-03-13T09:00"), ("in a month", "2026-04-10T18:00"),
            ("a week from Friday", "2026-03-20T18:00"), ("2 hours from now", "2026-03-10T17:00"),
        ])
    func understood(text: String, due: String) {
        let reading = Self.reader.read(text)
        #expect(reading.dueAt == Timestamp(rfc3339: "\(due):00Z") && reading.unclearPhrases == [])
    }

    @Test(
        "a phrase that is not understood is reported in its words, and no time is guessed from the rest",
        arguments: [
            ("next week", ["next week"]), ("next Friday at 5", ["next Friday"]), ("this Monday", ["this Monday"]),
            ("every Monday at 5pm", ["every Monday"]), ("on Mondays", ["Mondays"]),
            ("every other day", ["every other day"]),
            ("clean your room weekly", ["weekly"]), ("Monday week", ["Monday week"]),
            ("Friday or Saturday", ["Saturday"]), ("on Thursday 13 March", ["13 March"]),
            ("31 November", ["31 November"]), ("1/12/2026", ["1/12/2026"]), ("on 3/4 at 5", ["on 3/4"]),
            ("2026-02-30", ["2026-02-30"]), ("1 December 2029", ["1 December 2029"]),
            ("last Friday", ["last Friday"]), ("yesterday", ["yesterday"]), ("2 days ago", ["2 days ago"]),
            ("before Friday", ["before Friday"]), ("from Monday", ["from Monday"]), ("this weekend", ["this weekend"]),
            ("end of the week", ["end of the week"]), ("in a few days", ["in a few days"]),
            ("in 1.5 hours", ["in 1.5 hours"]), ("in 1000000 days", ["in 1000000 days"]),
            ("25:00", ["25:00"]), ("at 25:00", ["at 25:00"]), ("at 24:00", ["at 24:00"]), ("at 5:7", ["at 5:7"]),
            ("at 13pm", ["at 13pm"]), ("at +5", ["at +5"]), ("half 8", ["half 8"]), ("after 5pm", ["after 5pm"]),
            ("between 5 and 6", ["between 5 and 6"]), ("from 5 to 6", ["from 5 to 6"]), ("at 5-6pm", ["at 5-6pm"]),
            ("at 8 or 9", ["at 8 or 9"]), ("tomorrow at midnight", ["tomorrow at midnight"]),
            ("at 12 tonight", ["at 12 tonight"]), ("do it today at 9am", ["do it today at 9am"]),
        ])
    func misread(text: String, words: [String]) {
        let reading = Self.reader.read(text)
        #expect(reading.dueAt == nil && reading.unclearPhrases == words)
    }

    @Test(
        "words that only look like a time give no time",
        arguments: [
            "", "tidy your room", "read 12 pages", "read chapter 8th", "you may go", "pay 12.50 euros", "by 5 euros",
            "enjoy the sun", "Sunday school", "March 3 miles", "on the 5th floor", "1/2 cup of sugar", "buy 3 for 2",
        ])
    func otherWords(text: String) {
        let reading = Self.reader.read(text)
        #expect(reading.dueAt == nil && reading.unclearPhrases == [])
    }

    @Test("a due time of today is later today, at the latest at 23:59")
    func late() {
        for (hour, due) in [(17, "18:00"), (19, "20:00"), (21, "22:00"), (23, "23:59")] as [(Int64, String)] {
            let now = Timestamp(seconds: 1_773_100_800) + .hours(hour)
            let reading = DueTimeReader(now: now, zone: UniversalTime()).read("today")
            #expect(reading.dueAt == Timestamp(rfc3339: "2026-03-10T\(due):00Z"))
        }
    }

    @Test("days and times are those of the person's zone, across a change of the clocks")
    func zones() {
        // Saturday, 7 March 2026, 10:00 in New York; the clocks go forward on Sunday.
        let reader = DueTimeReader(now: Timestamp(seconds: 1_772_895_600), zone: NewYork2026())
        #expect(reader.read("tomorrow at 9am").dueAt == Timestamp(rfc3339: "2026-03-08T13:00:00Z"))
        #expect(reader.read("today at 11").dueAt == Timestamp(rfc3339: "2026-03-07T16:00:00Z"))
    }
}
