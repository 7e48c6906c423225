import Domain
import NagzAI
import Testing

@Suite struct PhrasebookTests {
    /// Written apart from the pool's own list, and compared by plain text: what one misses the other may catch.
    static let disrespectful = [
        "lazy", "stupid", "dumb", "idiot", "useless", "worthless", "pathetic", "loser", "shame", "ashamed", "guilt",
        "disappoint", "embarrass", "fail", "fault", "blame", "bad", "terrible", "worst", "hopeless", "careless",
        "irresponsible", "selfish", "childish", "never", "always", "punish", "consequence", "threat", "warning",
        "or else", "regret", "grounded", "trouble", "taken away", "take away", "lose", "angry", "furious", "mad ",
        "hate", "must", "have to", "had better", "obey", "force", "demand", "no choice", "no excuse", "immediately",
        "right now", "because i said", "shut up", "hurt", "damn", "again and again", "yet again", "everyone else",
        "why can't", "what is wrong", "wrong with you", "!!", "last chance",
    ]

    static func everyText(_ book: Phrasebook) -> [String] {
        var texts: [String] = []
        for category in NagCategory.allCases {
            for tone in AITone.allCases {
                for scenario in CoachingScenario.allCases {
                    texts += (0..<book.tipCount(scenario, tone)).map {
                        book.tip(UInt64($0), scenario: scenario, tone: tone, category: category)
                    }
                }
                for timing in PushBackTiming.allCases { texts += messages(book, timing, tone, category) }
            }
        }
        for category in ExcuseCategory.allCases {
            // Which one it is goes by the nag.
            let sentences = (0..<64).map {
                Heuristics(phrasebook: book).excuseSentence(for: category, nagID: NagID(high: 7, low: $0))
            }
            texts += Set(sentences)
        }
        return texts
    }

    static func messages(
        _ book: Phrasebook, _ timing: PushBackTiming, _ tone: AITone, _ category: NagCategory
    ) -> [String] {
        (0..<book.pushBackMessageCount(timing, tone)).map {
            book.pushBackMessage(UInt64($0), timing, tone: tone, category: category)
        }
    }

    @Test("a push-back fits its nag's time: it calls nothing late that is ahead, and nothing ahead that is late")
    func timing() throws {
        let book = try Phrasebook.english()
        let late = ["past", "passed", "was due", "overdue", "not marked", "still open", " late "]
        let coming = ["coming up", "ahead", "for later", "still time", "by then", "before", "in time"]
        var all: Set<String> = []
        for tone in AITone.allCases {
            for message in Self.messages(book, .upcoming, tone, .chores) {
                #expect(!late.contains { message.lowercased().contains($0) }, "\(message)")
                #expect(all.insert(message).inserted)
            }
            for message in Self.messages(book, .overdue, tone, .chores) {
                #expect(!coming.contains { message.lowercased().contains($0) }, "\(message)")
                #expect(late.prefix(4).contains { message.lowercased().contains($0) }, "\(message)")
                #expect(all.insert(message).inserted)
            }
        }
    }

    @Test("texts about medicine and appointments never say to split, shorten, move or catch up")
    func careful() throws {
        let book = try Phrasebook.english()
        let careless = [
            "split", "part", "half of", "minutes", "another time", "better time", "other time", "a little",
            "right after",
            "catch up", "make up", "double", "twice", "extra", "instead", "skip", "later today",
            "today, or",
        ]
        for category in [NagCategory.meds, .appointments] {
            for tone in AITone.allCases {
                var texts = PushBackTiming.allCases.flatMap { Self.messages(book, $0, tone, category) }
                for scenario in CoachingScenario.allCases where scenario != .highCompletionHomework {
                    texts += (0..<book.tipCount(scenario, tone)).map {
                        book.tip(UInt64($0), scenario: scenario, tone: tone, category: category)
                    }
                }
                let name = category == .meds ? "medicine" : "appointment"
                for text in texts where text.contains(name) {
                    #expect(!careless.contains { text.lowercased().contains($0) }, "\(text)")
                }
            }
        }
    }

    @Test func everyTipAndMessageIsRespectful() throws {
        let book = try Phrasebook.english()
        let texts = Self.everyText(book)
        #expect(texts.count > 5 * (45 + 24) + 6 - 1)
        for text in texts {
            #expect(book.disrespectfulPhrases(in: text) == [])
            // Only bounded by a letter before it, so that inflections are found as well.
            let padded = " " + text.lowercased()
            for word in Self.disrespectful {
                #expect(!padded.contains(word.first?.isLetter == true ? " " + word : word), "\(text)")
            }
            #expect(!text.contains("{") && !text.contains("}"))
            #expect(text.count <= 200)
            #expect(text == text.filter { $0 != "\n" })
        }
    }

    @Test(
        "digests are respectful whatever people are called",
        arguments: [
            "Lazy", "{name}", "you must obey, or else", "\u{202E}stupid", "LO\u{200D}SER", "idiot\nidiot", "Ann", "",
            "what’s wrong with you", "S\u{0301}tupid",
        ])
    func digests(_ name: String) throws {
        let rules = try heuristics()
        for completed in 0...2 {
            for missed in 0...2 {
                for open in 0...2 {
                    let nags = [(NagStatus.completed, completed), (.missed, missed), (.open, open)].flatMap {
                        Array(
                            repeating: DigestFacts.Nag(
                                recipientID: user(1), status: $0, dueAt: noon - .days(1), closedAt: noon - .hours(1)),
                            count: $1)
                    }
                    let facts = DigestFacts(
                        familyID: familyID, members: [.init(userID: user(1), displayName: name)], nags: nags)
                    let text = rules.digest(for: Snapshot(facts)).response.summaryText
                    #expect(rules.phrasebook.disrespectfulPhrases(in: text) == [])
                    #expect(!text.contains("\n") && !text.unicodeScalars.contains("\u{202E}"))
                }
            }
        }
    }

    @Test(
        "each pool has at least three different tips and four messages", arguments: CoachingScenario.allCases,
        AITone.allCases)
    func pools(_ scenario: CoachingScenario, _ tone: AITone) throws {
        let book = try Phrasebook.english()
        #expect(book.tipCount(scenario, tone) >= 3)
        for timing in PushBackTiming.allCases { #expect(book.pushBackMessageCount(timing, tone) >= 4) }
        let tips = Set(
            (0..<book.tipCount(scenario, tone)).map {
                book.tip(UInt64($0), scenario: scenario, tone: tone, category: .other)
            })
        #expect(tips.count == book.tipCount(scenario, tone))
        #expect(book.tip(.max, scenario: scenario, tone: tone, category: .other).isEmpty == false)
    }

    // MARK: Pool files

    /// The smallest pool that loads, in a made-up language.
    static let smallest: [String] = {
        var lines = NagCategory.allCases.map { "category \($0.rawValue) | \($0.rawValue)o" }
        for tone in AITone.allCases {
            for scenario in CoachingScenario.allCases {
                lines += (1...3).map { "tip \(scenario.rawValue) \(tone.rawValue) | tipo \($0) {task}" }
            }
            for timing in PushBackTiming.allCases {
                lines += (1...4).map { "message \(timing.rawValue) \(tone.rawValue) | messago \($0) {task}" }
            }
        }
        lines += ExcuseCategory.allCases.map { "excuse_sentence \($0.rawValue) | frazo" }
        lines += ["tone.recent_misses", "tone.steady_streak", "tone.default"].map { "reason \($0) | \($0)" }
        lines += [
            "nothing_due", "open_one", "overdue_one", "missed_one", "all_done", "someone", "own_nothing_due",
        ].map { "digest \($0) | \($0)o" }
        lines += [
            "digest rate | {percent}", "digest own_rate | {percent}", "digest best | {name}",
            "digest open_many | {count}", "digest overdue_many | {count}",
            "digest open_some_overdue | {count} {overdue}",
        ]
        lines += [
            "coach nothing_open | nulo", "coach due_one | {task}", "coach due_many | {count}",
            "coach overdue_one | {task}", "coach overdue_many | {count}", "coach further_one | {task}",
            "coach no_more | nenio", "coach tone_figures | {misses}",
            "coach unknown | ne", "coach today | {time}", "coach tomorrow | {time}", "coach yesterday | {time}",
            "coach weekday | {day}", "coach date | {day}", "coach_topic due | kio", "coach_follow_up | kio alia",
        ]
        lines += [
            "digest missed_many | {count}", "excuse forgot | olvidé", "variant olvidé | forgesis", "avoid | bobo",
        ]
        return lines
    }()

    private func load(_ lines: [String]) throws -> Phrasebook {
        try Phrasebook(parsing: Array(lines.joined(separator: "\n").utf8))
    }

    @Test func anotherLanguageNeedsNoCode() throws {
        let book = try load(["# Esperanto, nearly", "", "\t"] + Self.smallest)
        let rules = Heuristics(phrasebook: book)
        #expect(rules.excuseSummary(of: "lo OLVIDE\u{0301}", nagID: nagID).response.category == .forgot)
        #expect(rules.pushBack(for: Snapshot(NagFacts(nag: nag()))).response.message?.hasSuffix("choreso") == true)
        #expect(rules.excuseSummary(of: "mi forgesis", nagID: nagID).response.category == .forgot)
        #expect(rules.excuseSentence(for: .refused, nagID: nagID) == "frazo")
        #expect(book.disrespectfulPhrases(in: "Bobo!") == ["bobo"])
        #expect(
            try Phrasebook(parsing: Array(Self.smallest.joined(separator: "\r\n").utf8)).pushBackMessageCount(
                .overdue, .firm)
                == 4)
    }

    static let faults: [(String, String)] = [
        ("tip general neutral", "no bar between key and text"), ("joke | ha", "unknown key"), ("| ha", "unknown key"),
        ("tip general | ha", "tip takes 2 keys"), ("message firm | ha", "message takes 2 keys"),
        ("message soon firm | ha", "unknown soon"), ("excuse_sentence lost | ha", "unknown lost"),
        ("variant a-b | ab", "not one word before the bar"), ("variant ab | ...", "no word in it"),
        ("avoid much | ha", "avoid takes 0 keys"),
        ("tip general grumpy | ha", "unknown grumpy"), ("tip banter firm | ha", "unknown banter"),
        ("message overdue firm |  ", "no text"), ("message overdue firm | {who}", "a brace that is no gap"),
        ("message overdue firm | {task", "a brace that is no gap"),
        ("message overdue firm | }", "a brace that is no gap"),
        ("message overdue firm | {name}", "a gap that has no value here"),
        ("message upcoming neutral | {percent}", "a gap that has no value here"),
        ("category other | otra", "this line stands here twice"),
        ("message overdue firm | messago 1 {task}", "this line stands here twice"),
        ("message overdue firm | " + String(repeating: "x", count: 281), "more than 280 characters"),
        ("message overdue firm | you bobo", "says \u{201C}bobo\u{201D}, which is to be avoided"),
        ("excuse forgot | !!!", "no word in it"), ("avoid | ...", "no word in it"),
        ("excuse other | x", "other is what no phrase belongs to"),
    ]

    @Test("the error of a malformed pool has the line and the problem", arguments: faults)
    func fault(_ line: String, _ problem: String) throws {
        #expect {
            try load(Self.smallest + [line])
        } throws: { error in
            let error = error as? PoolError
            return error?.line == Self.smallest.count + 1 && error?.problem == problem
        }
    }

    @Test("a phrasebook without one of its required lines does not load", arguments: smallest.indices)
    func missing(_ index: Int) {
        var lines = Self.smallest
        let removed = lines.remove(at: index)
        let isOptional = ["excuse ", "coach_topic ", "coach_follow_up ", "variant ", "avoid "].contains {
            removed.hasPrefix($0)
        }
        #expect(((try? load(lines)) != nil) == isOptional, "\(removed)")
    }

    @Test func onlyUTF8() {
        #expect(throws: PoolError.self) { try Phrasebook(parsing: [0xFF]) }
        #expect(throws: PoolError.self) { try Phrasebook(parsing: []) }
    }
}
