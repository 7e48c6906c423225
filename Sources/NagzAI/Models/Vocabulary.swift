import Domain

/// The words for proving a model's text in one language, parsed from a file.
///
/// An empty vocabulary allows only the rules' own words.
public struct Vocabulary: Sendable {
    /// A list of single words.
    enum Group: String, Sendable, CaseIterable {
        /// Words without a meaning of their own.
        case plain
        /// Words that negate a statement.
        case negation
        /// Words that limit a statement: a condition, an order, a time, an amount.
        case limit
        /// Words that join two parts of a sentence, such as “because”.
        case conjunction = "joint"
        /// Words by which the author of an excuse names themselves, such as “I”.
        case selfReference = "self"
        /// Words for people, such as “mum” and “everyone”.
        case person
        /// Words without information in an excuse, such as articles and auxiliary verbs.
        case bare
        /// Words that a summary may leave out of an excuse, such as “really” and “sorry”.
        case filler
        /// Prepositions: a summary may leave out the phrase that one begins at the end of a clause.
        case preposition
        /// Words that may begin a sentence of a summary.
        case opening
        /// Verbs of speech after “the child”.
        case speech
        /// Words of refusal.
        case refusal
        /// Words that the description of a nag may add to its author's words.
        case task
        /// Words between a part and its total, as in “2 of 3”.
        case figureOf = "figure_of"
        /// Words that show that a figure counts completed nags. The groups below show other roles of a figure.
        case figureCompleted = "figure_completed"
        case figureMissed = "figure_missed"
        case figureOpen = "figure_open"
        case figureOverdue = "figure_overdue"
        case figureTotal = "figure_total"
        case figurePercent = "figure_percent"
        case figureDays = "figure_days"
    }

    private var groups: [Group: Set<String>] = [:]
    /// The courteous phrases that may be added, by tone.
    private var courtesies: [AITone: PhraseTable] = [:]
    /// The phrases of praise that may be added.
    private(set) var praisePhrases = PhraseTable()
    /// The phrases that make a sentence a question, such as “could you”.
    private(set) var requestPhrases = PhraseTable()
    /// The phrases that a model may write instead of words of the rules' text, each with the words that it stands for.
    private(set) var synonyms = PhraseTable()
    /// The words of each contraction.
    private var contractions: [String: [String]] = [:]
    /// The endings that `stem` removes, in the order in which they are tried.
    private var endings: [String] = []
    /// The stem of each irregular form.
    private var irregularStems: [String: String] = [:]
    /// The first form of a pronoun for another person, such as “they”, by each of its forms, such as “their”.
    private var pronouns: [String: String] = [:]
    /// The phrases that no model may write, whatever the facts contain.
    private(set) var forbiddenPhrases = PhraseMatcher<String>()

    init() {}

    /// The English vocabulary, embedded in the program and parsed at the first call.
    public static func english() throws(PoolError) -> Vocabulary { try parsedEnglish.get() }

    private static let parsedEnglish = Result { () throws(PoolError) in
        try Vocabulary(parsing: PackageResources.english_words)
    }

    /// Parses a file in the form of a pool. An unknown key, tone or group is an error.
    public init(parsing bytes: [UInt8]) throws(PoolError) {
        try PoolLine.read(bytes, maxTextLength: 280) { line throws(PoolProblem) in try add(line) }
    }

    private mutating func add(_ line: PoolLine) throws(PoolProblem) {
        guard let first = line.words.first else { throw PoolProblem("unknown key") }
        let keys = line.words.dropFirst().map(String.init)
        let phrase = words(in: line.text).map(\.text)
        guard !phrase.isEmpty, !phrase.contains("") else { throw PoolProblem("no word in it") }
        if keys.isEmpty, let group = Group(rawValue: String(first)) {
            groups[group, default: []].formUnion(phrase)
            return
        }
        switch (first, keys.count) {
        case ("courtesy", 1):
            let tone = AITone(rawValue: keys[0])
            guard tone != nil || keys[0] == "any" else { throw PoolProblem("unknown \(keys[0])") }
            for tone in tone.map({ [$0] }) ?? AITone.allCases { courtesies[tone, default: PhraseTable()].add(phrase) }
        case ("praise", 0): praisePhrases.add(phrase)
        case ("asking", 0): requestPhrases.add(phrase)
        case ("same", 1...): synonyms.add(phrase, as: keys)
        case ("contraction", 1): contractions[keys[0]] = phrase
        case ("ending", 0): endings += phrase
        case ("form", 1): for word in phrase { irregularStems[word] = keys[0] }
        case ("other", 1): for word in phrase { pronouns[word] = keys[0] }
        case ("never", 0):
            guard forbiddenPhrases.add(line.text, as: line.text) else { throw PoolProblem("no word in it") }
        default: throw PoolProblem("unknown key")
        }
    }

    // MARK: Words

    /// Whether a word, in lower case, is in the group.
    func has(_ word: String, in group: Group) -> Bool { groups[group]?.contains(word) ?? false }

    /// Returns the courteous phrases that may be added in a tone.
    func courtesyPhrases(_ tone: AITone) -> PhraseTable { courtesies[tone] ?? PhraseTable() }

    /// Whether a word negates or limits a statement.
    func isGuarded(_ word: String) -> Bool { has(word, in: .negation) || has(word, in: .limit) }

    /// Returns the first form of a pronoun for another person, such as "they" for "their"; nil for other words.
    func pronoun(of word: String) -> String? { pronouns[word] }

    /// Returns the words of a contraction, or the word itself.
    func expanded(_ word: String) -> [String] { contractions[word] ?? [word] }

    /// Returns the part of a word that its forms share: without one ending, a final `e`, and the second of two equal
    /// last letters.
    func stem(of word: String) -> String {
        var stem = irregularStems[word] ?? word
        if let ending = endings.first(where: { stem.hasSuffix($0) && stem.count >= $0.count + ($0 == "ies" ? 2 : 3) }) {
            stem.removeLast(ending.count)
            if ending == "ies" { stem.append("y") }
        }
        if stem.count > 3, stem.hasSuffix("e") { stem.removeLast() }
        if stem.count > 3, let last = stem.last, stem.dropLast().last == last { stem.removeLast() }
        return irregularStems[stem] ?? stem
    }
}

/// A table of phrases that finds the longest one at the beginning of words.
struct PhraseTable: Sendable {
    private var phrases: [String: [(words: [String], replacement: [String])]] = [:]

    /// Adds a phrase.
    /// - Parameter replacement: the words that replace it; empty for a phrase that no words replace.
    mutating func add(_ words: [String], as replacement: [String] = []) {
        guard let first = words.first else { return }
        phrases[first, default: []].append((words, replacement))
        phrases[first]?.sort { $0.words.count > $1.words.count }
    }

    /// Returns the longest phrase that the words begin with: the number of its words, and the words that replace it;
    /// nil if there is none.
    func match(_ words: ArraySlice<String>) -> (wordCount: Int, replacement: [String])? {
        guard let first = words.first else { return nil }
        return phrases[first]?.first { words.starts(with: $0.words) }.map { ($0.words.count, $0.replacement) }
    }
}
