import Domain

extension Phrasebook {
    /// Parses a pool file: UTF-8, one `key | text` per line; `#` comments and empty lines are allowed.
    ///
    /// These are errors: a malformed line, an unknown key or placeholder, a repeated text in one pool, a second text
    /// for a key that is no pool, a required text that is missing, a pool that is too small, a text of more than 280
    /// characters, and a text for people with a phrase of the file's own avoid list.
    public init(parsing bytes: [UInt8]) throws(PoolError) {
        self.init()
        var shownTexts: [(line: Int, text: String)] = []
        var recognized = RecognizedPhrases()
        var identities: Set<String> = []
        try PoolLine.read(bytes, maxTextLength: 280) { line throws(PoolProblem) in
            let entry = try Entry(line)
            guard identities.insert(entry.identity).inserted else { throw PoolProblem("this line stands here twice") }
            try add(entry, &recognized)
            if entry.isShown { shownTexts.append((line.number, entry.text)) }
        }
        for (phrase, category) in recognized.respelledPhrases { _ = excusePhrases.add(phrase, as: category) }
        try checkComplete()
        for (line, text) in shownTexts {
            if let word = disrespectfulPhrases(in: text).min() {
                throw PoolError(line: line, problem: "says \u{201C}\(word)\u{201D}, which is to be avoided")
            }
        }
    }

    private mutating func add(_ entry: Entry, _ recognized: inout RecognizedPhrases) throws(PoolProblem) {
        switch entry.kind {
        case .categoryName:
            categoryNames[try entry.key(0)] = try entry.plainText()
        case .tip:
            let pool = TipPoolKey(scenario: try entry.key(0), tone: try entry.key(1))
            tips[pool, default: []].append(try entry.template([.task]))
        case .message:
            let pool = MessagePoolKey(timing: try entry.key(0), tone: try entry.key(1))
            messages[pool, default: []].append(try entry.template([.task]))
        case .reason:
            toneReasons[try entry.key(0)] = try entry.plainText()
        case .digest:
            let sentence: DigestSentence = try entry.key(0)
            digestSentences[sentence] = try entry.template(sentence.slots)
        case .excuse:
            let category: ExcuseCategory = try entry.key(0)
            guard category != .other else { throw PoolProblem("other is what no phrase belongs to") }
            guard excusePhrases.add(entry.text, as: category) else { throw PoolProblem("no word in it") }
            recognized.excuses.append((entry.text, category))
        case .excuseSentence:
            excuseSentences[try entry.key(0), default: []].append(try entry.plainText())
        case .coach:
            let sentence: CoachSentence = try entry.key(0)
            coachSentences[sentence] = try entry.template(sentence.slots)
        case .coachTopic:
            guard coachTopics.add(entry.text, as: try entry.key(0)) else { throw PoolProblem("no word in it") }
        case .coachFollowUp:
            let question = words(in: entry.text).map(\.text)
            guard !question.isEmpty else { throw PoolProblem("no word in it") }
            coachFollowUps.insert(question)
        case .variant:
            let key = words(in: String(entry.keys[0]))
            guard let word = key.first, key.count == 1 else { throw PoolProblem("not one word before the bar") }
            guard !words(in: entry.text).isEmpty else { throw PoolProblem("no word in it") }
            recognized.variants[word.text, default: []].append(entry.text)
        case .avoid:
            guard avoidList.add(entry.text, as: entry.text) else { throw PoolProblem("no word in it") }
        }
    }

    /// Checks that no required pool is missing or too small.
    private func checkComplete() throws(PoolError) {
        /// - Parameter what: the key of the required entries, for the error.
        func require(_ hasEnough: Bool, _ what: String) throws(PoolError) {
            if !hasEnough { throw PoolError(line: nil, problem: "too few entries: \(what)") }
        }
        for category in NagCategory.allCases {
            try require(categoryNames[category] != nil, "category \(category.rawValue)")
        }
        for tone in AITone.allCases {
            for scenario in CoachingScenario.allCases {
                try require(
                    tipCount(scenario, tone) >= Self.minTipsPerPool, "tip \(scenario.rawValue) \(tone.rawValue)")
            }
            for timing in PushBackTiming.allCases {
                try require(
                    pushBackMessageCount(timing, tone) >= Self.minMessagesPerPool,
                    "message \(timing.rawValue) \(tone.rawValue)")
            }
        }
        for category in ExcuseCategory.allCases {
            try require(excuseSentences[category] != nil, "excuse_sentence \(category.rawValue)")
        }
        for rule in [HeuristicRule.toneRecentMisses, .toneSteadyStreak, .toneDefault] {
            try require(toneReasons[rule] != nil, "reason \(rule.rawValue)")
        }
        for sentence in CoachSentence.allCases {
            try require(coachSentences[sentence] != nil, "coach \(sentence.rawValue)")
        }
        for sentence in DigestSentence.allCases {
            try require(digestSentences[sentence] != nil, "digest \(sentence.rawValue)")
        }
    }
}

/// The phrases of a pool file that are recognised in excuses.
private struct RecognizedPhrases {
    var excuses: [(phrase: String, category: ExcuseCategory)] = []
    /// The alternative spellings by word, each of one or more words.
    var variants: [String: [String]] = [:]

    /// The phrases in all combinations of alternative spellings, without the phrases as the file has them.
    var respelledPhrases: [(phrase: String, category: ExcuseCategory)] {
        excuses.flatMap { phrase, category in
            words(in: phrase).reduce([""]) { prefixes, word in
                let spellings = [word.text] + (variants[word.text] ?? [])
                return prefixes.flatMap { prefix in spellings.map { "\(prefix) \($0)" } }
            }.dropFirst().map { (phrase: $0, category: category) }
        }
    }
}

/// One line of a phrasebook's pool file.
private struct Entry {
    /// The kinds of lines; the raw value is the first word of the line.
    enum Kind: String {
        /// The name of a nag's category.
        case categoryName = "category"
        case tip
        /// A push-back message.
        case message
        /// The reason for a tone.
        case reason
        case digest
        /// A phrase that is recognised in excuses.
        case excuse
        case excuseSentence = "excuse_sentence"
        case coach
        case coachTopic = "coach_topic"
        case coachFollowUp = "coach_follow_up"
        /// An alternative spelling of a word in excuses.
        case variant
        /// A phrase of the avoid list.
        case avoid
    }

    let kind: Kind
    let keys: [Substring]
    let text: String

    init(_ line: PoolLine) throws(PoolProblem) {
        guard let first = line.words.first, let kind = Kind(rawValue: String(first)) else {
            throw PoolProblem("unknown key")
        }
        self.kind = kind
        keys = Array(line.words.dropFirst())
        text = line.text
        guard keys.count == kind.keyCount else { throw PoolProblem("\(kind.rawValue) takes \(kind.keyCount) keys") }
    }

    /// Whether the text is shown to people.
    var isShown: Bool {
        switch kind {
        case .excuse, .coachTopic, .coachFollowUp, .variant, .avoid: false
        case .categoryName, .tip, .message, .reason, .digest, .excuseSentence, .coach: true
        }
    }

    /// The part of the line that must be unique in the file.
    var identity: String {
        let pool = ([Substring(kind.rawValue)] + keys).joined(separator: " ")
        return kind.isPool ? "\(pool) | \(text)" : pool
    }

    func key<Key: RawRepresentable<String>>(_ index: Int) throws(PoolProblem) -> Key {
        guard let key = Key(rawValue: String(keys[index])) else { throw PoolProblem("unknown \(keys[index])") }
        return key
    }

    func template(_ allowed: Set<PhraseSlot>) throws(PoolProblem) -> Template<PhraseSlot> {
        try Template(text, allowing: allowed)
    }

    /// Returns the text; throws if it has a placeholder.
    func plainText() throws(PoolProblem) -> String {
        _ = try template([])
        return text
    }
}

extension Entry.Kind {
    fileprivate var keyCount: Int {
        switch self {
        case .coachFollowUp, .avoid: 0
        case .tip, .message: 2
        case .categoryName, .reason, .digest, .excuse, .excuseSentence, .coach, .coachTopic, .variant: 1
        }
    }

    /// Whether several lines may have the same key.
    fileprivate var isPool: Bool {
        switch self {
        case .tip, .message, .excuse, .excuseSentence, .coachTopic, .coachFollowUp, .variant, .avoid: true
        case .categoryName, .reason, .digest, .coach: false
        }
    }
}
