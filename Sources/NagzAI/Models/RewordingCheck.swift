import Domain

/// Proves that a text has the same meaning as the rules' text, though it may have another order and courteous phrases.
///
/// The words between the rules' words must come from the vocabulary. The rules' words must have the same neighbours as
/// in the rules' text. A word that negates or limits a statement must stand where it stands there, and must not be left
/// out. A question must stay a question.
struct RewordingCheck {
    let vocabulary: Vocabulary
    let facts: PromptFacts
    private let draft: [DraftSentence]

    /// The most phrases of courtesy in a text.
    private static let mostCourtesies = 3
    /// The largest distance of neighbours in the text within the rules' text, counted in words that say something.
    private static let reach = 2
    /// The most words in a sentence that say nothing by themselves and are not in the rules' sentence.
    private static let mostAdded = 2
    private static let mostAddedToReason = 4

    init(_ vocabulary: Vocabulary, _ facts: PromptFacts) {
        (self.vocabulary, self.facts) = (vocabulary, facts)
        draft = Self.read(facts.values[.draft] ?? "", vocabulary, facts).sentences.map {
            DraftSentence($0, vocabulary, facts)
        }
    }

    func refusal(of text: String) -> OutputCheck.Refusal? {
        let (sentences, courtesies) = Self.read(text, vocabulary, facts)
        guard courtesies <= Self.mostCourtesies else { return .statement }
        var touched: Set<DraftPlace> = []
        for sentence in sentences where !sentence.terms.isEmpty {
            switch check(sentence) {
            case .success(let found):
                // Nothing is said twice.
                guard touched.isDisjoint(with: found) else { return .statement }
                touched.formUnion(found)
            case .failure(let refusal): return refusal
            }
        }
        return isWhole(sentences, touched) ? nil : .statement
    }

    // MARK: Reading

    /// The sentences without courtesy, and with the rules' words in the place of their synonyms.
    private static func read(
        _ text: String, _ vocabulary: Vocabulary, _ facts: PromptFacts
    ) -> (sentences: [Sentence], courtesies: Int) {
        let sentences = vocabulary.sentences(of: text)
        if facts.keepsWords { return (sentences, 0) }
        var courtesies = 0
        let read = sentences.map { sentence in
            var result = Sentence(terms: [], isQuestion: sentence.isQuestion)
            var (index, startsClause) = (0, true)
            let (terms, words) = (sentence.terms, sentence.words)
            while index < terms.count {
                let rest = words[index...]
                startsClause = startsClause || terms[index].startsClause
                let asked = vocabulary.asking.match(rest)
                let courtesy = vocabulary.courtesy(facts.tone).match(rest)
                let praise = facts.allowsPraise ? vocabulary.praise.match(rest) : nil
                if let longest = [courtesy, praise].compactMap(\.self).max(by: { $0.count < $1.count }),
                    longest.count > asked?.count ?? 0
                {
                    courtesies += 1
                    index += longest.count
                } else if let asked {
                    result.isQuestion = true
                    index += asked.count
                } else {
                    let synonym = vocabulary.synonyms.match(rest)
                    for word in synonym?.meaning ?? [terms[index].word] {
                        result.terms.append(
                            .init(word: word, stem: vocabulary.stem(of: word), startsClause: startsClause))
                        startsClause = false
                    }
                    index += synonym?.count ?? 1
                }
            }
            return result
        }
        return (read, courtesies)
    }

    // MARK: One sentence

    /// Returns the words of the rules' text that the sentence says, or its fault.
    private func check(_ sentence: Sentence) -> Result<Set<DraftPlace>, OutputCheck.Refusal> {
        if let same = draft.indices.first(where: { draft[$0].isSame(as: sentence) }) {
            return .success(Set(draft[same].content.indices.map { DraftPlace(sentence: same, index: $0) }))
        }
        for index in sentence.terms.indices where isGuarded(sentence.terms[index]) {
            let word = sentence.terms[index].word
            guard draft.contains(where: { $0.sentence.words.contains(word) }) else { return .failure(.word) }
            guard draft.contains(where: { $0.allows(sentence.terms, at: index, vocabulary) }) else {
                return .failure(.statement)
            }
        }
        let runs: [[DraftPlace]]
        switch self.runs(of: sentence) {
        case .success(let found): runs = found
        case .failure(let refusal): return .failure(refusal)
        }
        let said = Set(runs.joined().map(\.sentence))
        guard Set(runs.joined()).count == runs.joined().count else { return .failure(.statement) }
        guard !said.isEmpty, keepsMood(sentence, said), !addsWords(sentence, to: said) else {
            return .failure(.statement)
        }
        let isAboutPerson = sentence.words.contains(PromptFacts.personWord)
        guard said.allSatisfy({ draft[$0].isAboutPerson == isAboutPerson }) else { return .failure(.statement) }
        return .success(Set(runs.joined()))
    }

    private func isGuarded(_ term: Sentence.Term) -> Bool {
        DraftSentence.isGuarded(term.word, vocabulary, facts)
    }

    /// Divides the meaningful words into runs that also occur in the rules' text, each with its place there. A run ends
    /// at a mark or a joining word.
    private func runs(of sentence: Sentence) -> Result<[[DraftPlace]], OutputCheck.Refusal> {
        var runs: [[DraftPlace]] = []
        // Each place that the last word may have, with the places of the words before it.
        var paths: [DraftPlace: [DraftPlace]] = [:]
        var mayBreak = true
        func isClosed() -> Bool {
            guard !paths.isEmpty else { return true }
            let whole = paths.values.filter { $0.count > 1 || draft[$0[0].sentence].content.count == 1 }
            guard let best = whole.min(by: { $0[0] < $1[0] }) else { return false }
            runs.append(best)
            return true
        }
        for term in sentence.terms {
            mayBreak = mayBreak || term.startsClause || vocabulary.has(term.word, in: .joint)
            if DraftSentence.isSilent(term.word, vocabulary, facts) { continue }
            let candidates = places(of: term.stem)
            guard !candidates.isEmpty else { return .failure(.word) }
            var longer: [DraftPlace: [DraftPlace]] = [:]
            for place in candidates {
                let before = paths.filter { isNeighbour($0.key, place) && !$0.value.contains(place) }
                if let path = before.min(by: { $0.key < $1.key })?.value { longer[place] = path + [place] }
            }
            if longer.isEmpty {
                guard mayBreak, isClosed() else { return .failure(.statement) }
                longer = Dictionary(uniqueKeysWithValues: candidates.map { ($0, [$0]) })
            }
            (paths, mayBreak) = (longer, false)
        }
        return isClosed() ? .success(runs) : .failure(.statement)
    }

    private func places(of stem: String) -> [DraftPlace] {
        draft.indices.flatMap { sentence in
            draft[sentence].content.indices.filter { draft[sentence].content[$0] == stem }
                .map { DraftPlace(sentence: sentence, index: $0) }
        }
    }

    /// Whether two words that follow each other in the text do so in the rules' text, with at most one between them. A
    /// reason for a tone is a list, and may have any order.
    private func isNeighbour(_ first: DraftPlace, _ second: DraftPlace) -> Bool {
        let distance = second.index - first.index
        return first.sentence == second.sentence && distance != 0 && abs(distance) <= Self.reach
            && (distance > 0 || facts.task == .selectTone)
    }

    private func keepsMood(_ sentence: Sentence, _ said: Set<Int>) -> Bool {
        let asks = said.contains { draft[$0].sentence.isQuestion }
        return sentence.isQuestion == asks
    }

    /// Whether the sentence has too many filler words that the rules' sentences do not have.
    private func addsWords(_ sentence: Sentence, to said: Set<Int>) -> Bool {
        let known = Set(said.flatMap { draft[$0].sentence.words })
        let added = sentence.words.filter {
            vocabulary.has($0, in: .plain) && !vocabulary.has($0, in: .joint) && !known.contains($0)
        }
        return added.count > (facts.task == .selectTone ? Self.mostAddedToReason : Self.mostAdded)
    }

    // MARK: The whole

    /// Whether the text says whole clauses, enough of each sentence, and the sentences that matter.
    private func isWhole(_ sentences: [Sentence], _ places: Set<DraftPlace>) -> Bool {
        let (terms, whole) = (sentences.flatMap(\.terms), draft.flatMap(\.content))
        let content = terms.filter { !DraftSentence.isSilent($0.word, vocabulary, facts) }
        guard !places.isEmpty, content.count <= 2 * whole.count else { return false }
        let counts = terms.reduce(into: [String: Int]()) { $0[$1.word, default: 0] += 1 }
        let touched = Set(places.map(\.sentence))
        for sentence in touched {
            let line = draft[sentence]
            let said = Set(places.filter { $0.sentence == sentence }.map(\.index))
            let isWhole = line.clauses.allSatisfy { $0.isDisjoint(with: said) || $0.isSubset(of: said) }
            guard isWhole || facts.task == .selectTone, 3 * said.count >= 2 * line.content.count,
                line.guarded.allSatisfy({ counts[$0.key, default: 0] >= $0.value })
            else { return false }
        }
        let stems = Set(content.map(\.stem))
        let task = vocabulary.stem(of: facts.values[.category] ?? "")
        guard stems.contains(task) || !whole.contains(task) else { return false }
        return draft.indices.allSatisfy { index in
            let matters =
                switch facts.task {
                case .digest: !draft[index].isAboutPerson
                // An answer is given whole.
                case .askCoach: true
                default: draft[index].content.contains(task)
                }
            return !matters || touched.contains(index)
        }
    }
}

/// A place in the rules' text: a sentence, and a word of those that say something.
private struct DraftPlace: Hashable, Comparable {
    let sentence: Int
    let index: Int

    static func < (left: Self, right: Self) -> Bool { (left.sentence, left.index) < (right.sentence, right.index) }
}

/// A sentence of the rules' text.
private struct DraftSentence {
    let sentence: Sentence
    /// The stems of the words that say something.
    let content: [String]
    /// The places in `content` of each clause: a mark such as a comma, or a joint, ends one.
    let clauses: [Set<Int>]
    /// The guarded words, and how often each occurs.
    let guarded: [String: Int]
    /// Whether it speaks of the person whose name is withheld.
    let isAboutPerson: Bool

    init(_ sentence: Sentence, _ vocabulary: Vocabulary, _ facts: PromptFacts) {
        self.sentence = sentence
        var (content, clauses): ([String], [Set<Int>]) = ([], [[]])
        for term in sentence.terms {
            if term.startsClause || vocabulary.has(term.word, in: .joint) { clauses.append([]) }
            if Self.isSilent(term.word, vocabulary, facts) { continue }
            clauses[clauses.count - 1].insert(content.count)
            content.append(term.stem)
        }
        (self.content, self.clauses) = (content, clauses)
        guarded = sentence.words.reduce(into: [:]) {
            if Self.isGuarded($1, vocabulary, facts) { $0[$1, default: 0] += 1 }
        }
        isAboutPerson = facts.task == .digest && sentence.words.contains(PromptFacts.personWord)
    }

    /// Whether a word has no meaning by itself. `FigureCheck` checks a digest's figures.
    static func isSilent(_ word: String, _ vocabulary: Vocabulary, _ facts: PromptFacts) -> Bool {
        vocabulary.has(word, in: .plain)
            || facts.task == .digest && (word.isFigure || vocabulary.has(word, in: .figurePercent))
    }

    static func isGuarded(_ word: String, _ vocabulary: Vocabulary, _ facts: PromptFacts) -> Bool {
        vocabulary.isGuarded(word) || facts.task != .digest && word.isFigure
    }

    func isSame(as other: Sentence) -> Bool {
        sentence.isQuestion == other.isQuestion && sentence.words == other.words
    }

    /// Whether a guarded word stands as it does here: a negation after the same three words and before the same one,
    /// another between the same two, or before or after the same two. A negation's sentence may begin within the three,
    /// and another word's with or after it.
    func allows(_ terms: [Sentence.Term], at index: Int, _ vocabulary: Vocabulary) -> Bool {
        let here = sentence.terms
        return here.indices.contains { place in
            guard here[place].word == terms[index].word else { return false }
            func agrees(_ offset: Int) -> Bool {
                here.indices.contains(place + offset) && terms.indices.contains(index + offset)
                    && here[place + offset].stem == terms[index + offset].stem
            }
            func isBeyond(_ offset: Int) -> Bool { !here.indices.contains(place + offset) }
            if vocabulary.has(terms[index].word, in: .negation) {
                return (1...3).allSatisfy { agrees(-$0) || isBeyond(-$0) } && (agrees(1) || isBeyond(1))
                    && (agrees(-1) || agrees(1))
            }
            return agrees(-1) && (agrees(1) || isBeyond(1)) || agrees(1) && (agrees(2) || isBeyond(-1))
                || agrees(-1) && agrees(-2)
        }
    }
}

extension String {
    /// Whether it is a number in digits.
    var isFigure: Bool { !isEmpty && allSatisfy(\.isNumber) }
}
