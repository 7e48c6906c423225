import Domain

/// The mediator's texts and the phrases it recognises in one language, parsed from a pool file.
public struct Phrasebook: Sendable {
    var categoryNames: [NagCategory: String] = [:]
    var tips: [TipPoolKey: [Template<PhraseSlot>]] = [:]
    var messages: [MessagePoolKey: [Template<PhraseSlot>]] = [:]
    var toneReasons: [HeuristicRule: String] = [:]
    var digestSentences: [DigestSentence: Template<PhraseSlot>] = [:]
    /// The phrases that are recognised in excuses.
    var excusePhrases = PhraseMatcher<ExcuseCategory>()
    var excuseSentences: [ExcuseCategory: [String]] = [:]
    var coachSentences: [CoachSentence: Template<PhraseSlot>] = [:]
    /// The phrases that show the topic of a question to the coach. The phrases of `unknown` ask about somebody
    /// else or for a secret.
    var coachTopics = PhraseMatcher<CoachTopic>()
    /// The questions that ask for more about the topic of the previous question, each as the list of its words.
    var coachFollowUps: Set<[String]> = []
    /// The phrases that no text for people may have.
    var avoidList = PhraseMatcher<String>()

    /// The minimum number of tips in a pool.
    public static let minTipsPerPool = 3
    /// The minimum number of push-back messages in a pool.
    public static let minMessagesPerPool = 4

    /// Returns the English phrasebook, which is embedded in the program and parsed once, at the first call.
    /// - Throws: an error if the embedded file is invalid.
    public static func english() throws(PoolError) -> Phrasebook { try parsedEnglish.get() }

    private static let parsedEnglish = Result { () throws(PoolError) in
        try Phrasebook(parsing: PackageResources.english_pool)
    }

    /// Returns the phrases of the avoid list that occur in the text: shaming, threats, insults, coercion. The
    /// mediator's own texts contain none.
    public func disrespectfulPhrases(in text: String) -> Set<String> { avoidList.labels(in: text) }

    /// Returns the number of tips for a scenario and tone.
    public func tipCount(_ scenario: CoachingScenario, _ tone: AITone) -> Int {
        tips[TipPoolKey(scenario: scenario, tone: tone)]?.count ?? 0
    }

    /// Returns the number of push-back messages for a timing and tone.
    public func pushBackMessageCount(_ timing: PushBackTiming, _ tone: AITone) -> Int {
        messages[MessagePoolKey(timing: timing, tone: tone)]?.count ?? 0
    }

    /// Returns a tip of the pool; `number` is taken modulo its size.
    public func tip(_ number: UInt64, scenario: CoachingScenario, tone: AITone, category: NagCategory) -> String {
        Self.pick(number, tips[TipPoolKey(scenario: scenario, tone: tone)])?.filled([.task: name(of: category)]) ?? ""
    }

    /// Returns a push-back message of the pool; `number` is taken modulo its size.
    public func pushBackMessage(
        _ number: UInt64, _ timing: PushBackTiming, tone: AITone, category: NagCategory
    ) -> String {
        Self.pick(number, messages[MessagePoolKey(timing: timing, tone: tone)])?.filled([.task: name(of: category)])
            ?? ""
    }

    /// Returns a sentence of the pool for an excuse category; `number` is taken modulo its size.
    func excuseSentence(_ number: UInt64, for category: ExcuseCategory) -> String {
        Self.pick(number, excuseSentences[category]) ?? ""
    }

    func name(of category: NagCategory) -> String { categoryNames[category] ?? category.rawValue }

    func digestSentence(_ sentence: DigestSentence, _ values: [PhraseSlot: String] = [:]) -> String {
        digestSentences[sentence]?.filled(values) ?? ""
    }

    func coachSentence(_ sentence: CoachSentence, _ values: [PhraseSlot: String] = [:]) -> String {
        coachSentences[sentence]?.filled(values) ?? ""
    }

    private static func pick<Entry>(_ number: UInt64, _ pool: [Entry]?) -> Entry? {
        guard let pool, !pool.isEmpty else { return nil }
        return pool[Int(number % UInt64(pool.count))]
    }
}

/// The placeholders of a phrasebook's texts.
enum PhraseSlot: String, Sendable, CaseIterable {
    /// The name of a nag's category.
    case task
    /// The name of a member.
    case name
    /// A number of nags.
    case completed, total
    /// The completion rate in whole percent.
    case percent
    /// The number of nags that the sentence is about.
    case count
    /// The number of overdue nags among them.
    case overdue
    /// A due time, worded by one of the last cases of `CoachSentence`.
    case when
    /// A time of day, such as `16:30`.
    case time
    /// A weekday or a date.
    case day
    /// The number of nags that the person missed in the last seven days.
    case misses
    /// The number of nags that the person completed on time since the last miss.
    case streak
}

/// The key of a pool of tips.
struct TipPoolKey: Hashable {
    var scenario: CoachingScenario
    var tone: AITone
}

/// The key of a pool of push-back messages.
struct MessagePoolKey: Hashable {
    var timing: PushBackTiming
    var tone: AITone
}

/// The sentences of a digest, with their placeholders.
enum DigestSentence: String, CaseIterable {
    /// No nag was completed or missed in the last seven days, and none is overdue.
    case nothingDue = "nothing_due"
    /// The family's completion rate.
    case rate
    /// Praise for the member with the highest completion rate.
    case best
    /// `nothingDue` for a digest that one member gets about themselves.
    case ownNothingDue = "own_nothing_due"
    /// `rate` for a digest that one member gets about themselves.
    case ownRate = "own_rate"
    /// One nag is open, and it is not overdue.
    case openOne = "open_one"
    /// Several nags are open, and none of them is overdue.
    case openMany = "open_many"
    /// One nag is open, and it is overdue.
    case overdueOne = "overdue_one"
    /// Several nags are open, and all of them are overdue.
    case overdueMany = "overdue_many"
    /// Several nags are open, and some but not all of them are overdue.
    case openSomeOverdue = "open_some_overdue"
    /// No nag is open, and one was missed.
    case missedOne = "missed_one"
    /// No nag is open, and several were missed.
    case missedMany = "missed_many"
    /// No nag is open, and none was missed.
    case allDone = "all_done"
    /// The words for a member whose name is missing or refused by the avoid list.
    case someone

    var slots: Set<PhraseSlot> {
        switch self {
        case .rate, .ownRate: [.percent, .completed, .total]
        case .best: [.name, .completed, .total]
        case .openMany, .overdueMany, .missedMany: [.count]
        case .openSomeOverdue: [.count, .overdue]
        case .nothingDue, .ownNothingDue, .openOne, .overdueOne, .missedOne, .allDone, .someone: []
        }
    }
}

/// The sentences of the coach's answers, with their placeholders.
enum CoachSentence: String, CaseIterable {
    case nothingOpen = "nothing_open"
    /// The only open nag that is not overdue.
    case dueOne = "due_one"
    /// The number of open nags that are not overdue, and the next of them.
    case dueMany = "due_many"
    /// The only overdue nag.
    case overdueOne = "overdue_one"
    /// The number of overdue nags, and the oldest of them.
    case overdueMany = "overdue_many"
    /// One more open nag, in the answer to a follow-up question.
    case furtherOne = "further_one"
    /// The answer to a follow-up question if there is nothing more to tell.
    case noMore = "no_more"
    /// The misses and the streak that selected the tone.
    case toneFigures = "tone_figures"
    /// The coach cannot answer the question.
    case unknown
    /// Due times, which replace `{when}`.
    case today, tomorrow, yesterday, weekday, date

    var slots: Set<PhraseSlot> {
        switch self {
        case .nothingOpen, .noMore, .unknown: []
        case .dueOne, .overdueOne, .furtherOne: [.task, .when]
        case .dueMany, .overdueMany: [.count, .task, .when]
        case .toneFigures: [.misses, .streak]
        case .today, .tomorrow, .yesterday: [.time]
        case .weekday, .date: [.day, .time]
        }
    }
}
