import Domain
import NagzAI
import Testing

@Suite("Nags drafted from words")
struct DraftedNagTests {
    /// Tuesday, 10 March 2026, 15:00 UTC.
    private static let now = Timestamp(seconds: 1_773_154_800)
    private static let author = UserID(high: 1, low: 1)
    private static let emma = UserID(high: 1, low: 2)
    private static let sam = UserID(high: 1, low: 3)
    private static let samLee = UserID(high: 1, low: 4)
    private static let ann = UserID(high: 1, low: 5)

    private static func read(_ text: String) -> DraftedNag {
        DraftedNag(
            reading: text,
            IntentFacts(
                author: author,
                members: [(author, "Pat"), (emma, "Emma"), (sam, "Sam Kay"), (samLee, "Sam Lee"), (ann, "Ann-Marie")]
                    .map { IntentFacts.Member(id: $0.0, name: $0.1) },
                now: now, zone: UniversalTime()))
    }

    /// A day of March 2026 and a time.
    private static func march(_ day: Int64, _ hour: Int64, _ minute: Int64 = 0) -> Timestamp {
        Timestamp(seconds: 1_772_323_200) + .days(day - 1) + .minutes(hour * 60 + minute)
    }

    @Test(
        "words give a drafted nag its due time",
        arguments: [
            ("Emma has to tidy her room", march(11, 18)),
            ("tomorrow", march(11, 18)),
            ("today", march(10, 18)),
            ("do it today at 9am", march(11, 18)),
            ("tonight", march(10, 20)),
            ("at 9 tonight", march(10, 21)),
            ("at 5", march(10, 17)),
            ("at 2", march(11, 14)),
            ("at 8", march(11, 8)),
            ("at 11:30 PM.", march(10, 23, 30)),
            ("by 7 p.m. please", march(10, 19)),
            ("dishes, 7:45pm!", march(10, 19, 45)),
            ("at 19:05", march(10, 19, 5)),
            ("at 07:30", march(11, 7, 30)),
            ("on Friday", march(13, 18)),
            ("next tuesday at noon", march(17, 12)),
            ("Monday at 12am", march(16, 0)),
            ("in 20 minutes", march(10, 15, 20)),
            ("in an hour", march(10, 16)),
            ("in 3 days", march(13, 18)),
            ("in two weeks", march(24, 18)),
            ("in 1000000 days", march(11, 18)),
            ("at 25:00", march(11, 18)),
            ("at 5:7", march(11, 18)),
            ("at +5", march(11, 18)),
            ("read 12 pages", march(11, 18)),
        ])
    func times(text: String, due: Timestamp) {
        #expect(Self.read(text).dueAt == due, "\(text)")
    }

    @Test("words without a time, or with one that is not understood, are due tomorrow at 18:00")
    func noTime() {
        #expect(DueTimeReader(now: Self.now, zone: UniversalTime()).defaultDueTime == Self.march(11, 18))
        #expect(Self.read("tidy your room").unclearPhrases == [])
        let nag = Self.read("Emma: bins out every Monday")
        #expect(nag.unclearPhrases == ["every Monday"] && nag.dueAt == Self.march(11, 18) && nag.recipient == Self.emma)
    }

    @Test("the recipient of a drafted nag is the member whom the words name, and otherwise the author")
    func recipients() {
        #expect(Self.read("EMMA, take out the trash").recipient == Self.emma)
        #expect(Self.read("tell Emma's brother").recipient == Self.emma)
        #expect(Self.read("Sam Lee does the dishes").recipient == Self.samLee)
        #expect(Self.read("Sam does the dishes").recipient == Self.author)
        #expect(Self.read("Sam and Emma do the dishes").recipient == Self.emma)
        #expect(Self.read("remind me to call").recipient == Self.author)
        #expect(Self.read("ann-marie at 5").recipient == Self.ann)
        #expect(Self.read("").recipient == Self.author)
    }

    @Test("the category of a drafted nag is the first that a word belongs to, and otherwise `other`")
    func categories() {
        #expect(Self.read("Emma: pills and dishes").category == .meds)
        #expect(Self.read("math worksheet").category == .homework)
        #expect(Self.read("Dentist!").category == .appointments)
        #expect(Self.read("clean the bathroom").category == .chores)
        #expect(Self.read("call grandma").category == .other)
    }

    @Test("the description of a drafted nag is the words, on one line")
    func descriptions() {
        let nag = Self.read("Emma:\n take   her pills\u{202E}")
        #expect(nag.description == "Emma: take her pills" && nag.doneDefinition == .binaryCheck)
        #expect(DraftedNag.ruleConfidence == 0.3)
    }

    @Test("a drafted nag from long or hostile text is due in the future")
    func bounds() {
        for text in [
            String(repeating: "at ", count: 10_000), String(repeating: "9", count: 20_000), "in \u{0665} days",
        ] {
            #expect(Self.read(text).dueAt > Self.now)
        }
    }
}

@Suite("Nags that a model reads from words")
struct IntentReadingTests {
    private static let author = UserID(high: 1, low: 1)
    private static let emma = UserID(high: 1, low: 2)

    private static func reading(_ text: String, _ names: [String] = ["Emma Stone", "Sam Kay", "Sam Lee"])
        -> IntentReading
    {
        let members = names.enumerated().map {
            IntentFacts.Member(id: UserID(high: 1, low: UInt64($0.0 + 2)), name: $0.1)
        }
        // Tuesday, 10 March 2026, 15:00 UTC.
        return IntentReading(
            text,
            IntentFacts(
                author: author, members: members, now: Timestamp(seconds: 1_773_154_800), zone: UniversalTime()))
    }

    private static func answer(_ recipient: String, _ due: String) -> [String: String] {
        [
            "recipient": recipient, "category": "meds", "description": "Pills", "due_local": due,
            "done_definition": "ack_only",
        ]
    }

    @Test("a model may name as recipient the author or a member, only as the words name them")
    func recipients() throws {
        let due = "2026-03-10T15:01"
        for (text, name) in [("pills for Emma", "Emma"), ("emma stone: pills", "Emma Stone"), ("pills", "me")] {
            let nag = try Self.reading(text).draftedNag(from: Self.answer(name, due))
            #expect(nag.recipient == (name == "me" ? Self.author : Self.emma), "\(text)")
            #expect(nag.category == .meds && nag.dueAt == Timestamp(seconds: 1_773_154_860))
        }
        // Unnamed, named in part, shared by two, and the author's word.
        for (text, name) in [("pills", "Emma"), ("Emma", "Emma Stone"), ("Sam", "Sam")] {
            #expect(throws: OutputCheck.Refusal.self) {
                try Self.reading(text).draftedNag(from: Self.answer(name, due))
            }
        }
        #expect(try Self.reading("me", ["Me"]).draftedNag(from: Self.answer("me", due)).recipient == Self.author)
    }

    @Test(
        "a model's due time that is no local time in the future is refused",
        arguments: [
            "2026-03-10T15:00", "2026-03-10", "2026-03-10T25:00", "2026-02-30T10:00", "2026-3-11T10:00", "", "T",
            "2026-03-11T10:00Z", "+026-03-11T10:00", "2026-03-11T1\u{661}:00", "0000-03-11T10:00", "tomorrow",
            "2026-03-11T10:00T10:00",
        ])
    func dueTimes(due: String) {
        #expect(throws: OutputCheck.Refusal.due) { try Self.reading("Emma").draftedNag(from: Self.answer("Emma", due)) }
    }
}
