import Domain

/// Proves that a text has the same meaning as the rules' text. It may have another order and courteous phrases.
///
/// Words that are not in the rules' text must come from the vocabulary. The words of the rules' text must have the same
/// neighbours as there. A word that negates or limits a statement must be kept, with the same neighbours. A question
/// must stay a question.
struct RewordingCheck {
    let vocabulary: Vocabulary
    let facts: PromptFacts
    private let draft: [DraftSentence]

    /// The maximum number of courteous phrases in a text.
    private static let maxCourtesies = 3
    /// The maximum distance, in content words, that two words may have in the rules' text if they are neighbours in the
    /// model's text.
    private static let maxNeighborDistance = 2
    /// The maximum number of words without a meaning of their own that a sentence may add to the rules' sentences.
    private static let maxAddedWords = 2
    /// The value of `maxAddedWords` for the reason of a tone.
    private static let maxAddedWordsInReason = 4

    init(_ vocabulary: Vocabulary, _ facts: PromptFacts) {
        (self.vocabulary, self.facts) = (vocabulary, facts)
        draft = Self.parse(facts.values[.draft] ?? "", vocabulary, facts).sentences.map {
            DraftSentence($0, vocabulary, facts)
        }
    }

    /// Returns the fault of a text; nil if it has the meaning of the rules' text.
    func refusal(of text: String) -> OutputCheck.Refusal? {
        let (sentences, courtesyCount) = Self.parse(text, vocabulary, facts)
        guard courtesyCount <= Self.maxCourtesies else { return .statement }
        var statedPlaces: Set<DraftPlace> = []
        for sentence in sentences where !sentence.terms.isEmpty {
            switch placesStated(by: sentence) {
            case .success(let places):
                // No part of the rules' text may be stated twice.
                guard statedPlaces.isDisjoint(with: places) else { return .statement }
                statedPlaces.formUnion(places)
            case .failure(let refusal): return refusal
            }
        }
        return isComplete(sentences, statedPlaces) ? nil : .statement
    }

    // MARK: Reading

    /// Returns the sentences without courteous phrases and with the rules' words in place of their synonyms, and the
    /// number of courteous phrases.
    private static func parse(
        _ text: String, _ vocabulary: Vocabulary, _ facts: PromptFacts
    ) -> (sentences: [Sentence], courtesyCount: Int) {
        let sentences = vocabulary.sentences(of: text)
        if facts.requiresExactWords { return (sentences, 0) }
        var courtesyCount = 0
        let comparableSentences = sentences.map { sentence in
            var result = Sentence(terms: [], isQuestion: sentence.isQuestion)
            var (index, startsClause) = (0, true)
            let (terms, words) = (sentence.terms, sentence.words)
            while index < terms.count {
                let rest = words[index...]
                startsClause = startsClause || terms[index].startsClause
                let request = vocabulary.requestPhrases.match(rest)
                let courtesy = vocabulary.courtesyPhrases(facts.tone).match(rest)
                let praise = facts.allowsPraise ? vocabulary.praisePhrases.match(rest) : nil
                if let longest = [courtesy, praise].compactMap(\.self).max(by: { $0.wordCount < $1.wordCount }),
                    longest.wordCount > request?.wordCount ?? 0
                {
                    courtesyCount += 1
                    index += longest.wordCount
                } else if let request {
                    result.isQuestion = true
                    index += request.wordCount
                } else {
                    let synonym = vocabulary.synonyms.match(rest)
                    for word in synonym?.replacement ?? [terms[index].word] {
                        result.terms.append(
                            .init(word: word, stem: vocabulary.stem(of: word), startsClause: startsClause))
                        startsClause = false
                    }
                    index += synonym?.wordCount ?? 1
                }
            }
            return result
        }
        return (comparableSentences, courtesyCount)
    }

    // MARK: One sentence

    /// Returns the places in the rules' text of the words that the sentence states, or the fault of the sentence.
    private func placesStated(by sentence: Sentence) -> Result<Set<DraftPlace>, OutputCheck.Refusal> {
        if let sameIndex = draft.indices.first(where: { draft[$0].isSame(as: sentence) }) {
            let places = draft[sameIndex].contentStems.indices.map { DraftPlace(sentence: sameIndex, index: $0) }
            return .success(Set(places))
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
        let statedSentences = Set(runs.joined().map(\.sentence))
        guard Set(runs.joined()).count == runs.joined().count else { return .failure(.statement) }
        guard !statedSentences.isEmpty, hasSameQuestionForm(sentence, statedSentences),
            !addsTooManyWords(sentence, to: statedSentences)
        else { return .failure(.statement) }
        let isAboutPerson = sentence.words.contains(PromptFacts.personWord)
        guard statedSentences.allSatisfy({ draft[$0].isAboutPerson == isAboutPerson }) else {
            return .failure(.statement)
        }
        return .success(Set(runs.joined()))
    }

    private func isGuarded(_ term: Sentence.Term) -> Bool {
        DraftSentence.isGuarded(term.word, vocabulary, facts)
    }

    /// Divides the content words into runs that also occur in the rules' text, and returns the places of their words
    /// there. A run ends only at a mark or a conjunction such as “because”.
    private func runs(of sentence: Sentence) -> Result<[[DraftPlace]], OutputCheck.Refusal> {
        var runs: [[DraftPlace]] = []
        // The possible places of the run's last word, each with the places of the whole run.
        var paths: [DraftPlace: [DraftPlace]] = [:]
        var mayEndRun = true
        func closeRun() -> Bool {
            guard !paths.isEmpty else { return true }
            let completePaths = paths.values.filter { $0.count > 1 || draft[$0[0].sentence].contentStems.count == 1 }
            guard let best = completePaths.min(by: { $0[0] < $1[0] }) else { return false }
            runs.append(best)
            return true
        }
        for term in sentence.terms {
            mayEndRun = mayEndRun || term.startsClause || vocabulary.has(term.word, in: .conjunction)
            if DraftSentence.isIgnored(term.word, vocabulary, facts) { continue }
            let candidates = places(of: term.stem)
            guard !candidates.isEmpty else { return .failure(.word) }
            var extendedPaths: [DraftPlace: [DraftPlace]] = [:]
            for place in candidates {
                let before = paths.filter { areNeighbors($0.key, place) && !$0.value.contains(place) }
                if let path = before.min(by: { $0.key < $1.key })?.value { extendedPaths[place] = path + [place] }
            }
            if extendedPaths.isEmpty {
                guard mayEndRun, closeRun() else { return .failure(.statement) }
                extendedPaths = Dictionary(uniqueKeysWithValues: candidates.map { ($0, [$0]) })
            }
            (paths, mayEndRun) = (extendedPaths, false)
        }
        return closeRun() ? .success(runs) : .failure(.statement)
    }

    private func places(of stem: String) -> [DraftPlace] {
        draft.indices.flatMap { sentence in
            draft[sentence].contentStems.indices.filter { draft[sentence].contentStems[$0] == stem }
                .map { DraftPlace(sentence: sentence, index: $0) }
        }
    }

    /// Whether two neighbouring words of the text also follow each other in the rules' text, with at most one word
    /// between them. A reason for a tone is a list, and may have any order.
    private func areNeighbors(_ first: DraftPlace, _ second: DraftPlace) -> Bool {
        let distance = second.index - first.index
        return first.sentence == second.sentence && distance != 0 && abs(distance) <= Self.maxNeighborDistance
            && (distance > 0 || facts.task == .selectTone)
    }

    /// Returns whether the sentence is a question exactly if one of the rules' sentences that it states is a question.
    private func hasSameQuestionForm(_ sentence: Sentence, _ statedSentences: Set<Int>) -> Bool {
        let hasQuestion = statedSentences.contains { draft[$0].sentence.isQuestion }
        return sentence.isQuestion == hasQuestion
    }

    /// Returns whether the sentence adds too many words without a meaning of their own to the rules' sentences.
    private func addsTooManyWords(_ sentence: Sentence, to statedSentences: Set<Int>) -> Bool {
        let knownWords = Set(statedSentences.flatMap { draft[$0].sentence.words })
        let addedWords = sentence.words.filter {
            vocabulary.has($0, in: .plain) && !vocabulary.has($0, in: .conjunction) && !knownWords.contains($0)
        }
        return addedWords.count > (facts.task == .selectTone ? Self.maxAddedWordsInReason : Self.maxAddedWords)
    }

    // MARK: Completeness

    /// Whether the text has whole clauses, enough of each sentence that it states, and the essential sentences.
    private func isComplete(_ sentences: [Sentence], _ places: Set<DraftPlace>) -> Bool {
        let (terms, draftContent) = (sentences.flatMap(\.terms), draft.flatMap(\.contentStems))
        let content = terms.filter { !DraftSentence.isIgnored($0.word, vocabulary, facts) }
        guard !places.isEmpty, content.count <= 2 * draftContent.count else { return false }
        let counts = terms.reduce(into: [String: Int]()) { $0[$1.word, default: 0] += 1 }
        let statedSentences = Set(places.map(\.sentence))
        for sentence in statedSentences {
            let draftSentence = draft[sentence]
            let statedWords = Set(places.filter { $0.sentence == sentence }.map(\.index))
            let hasWholeClauses = draftSentence.clauses.allSatisfy {
                $0.isDisjoint(with: statedWords) || $0.isSubset(of: statedWords)
            }
            guard hasWholeClauses || facts.task == .selectTone,
                3 * statedWords.count >= 2 * draftSentence.contentStems.count,
                draftSentence.guardedWordCounts.allSatisfy({ counts[$0.key, default: 0] >= $0.value })
            else { return false }
        }
        let stems = Set(content.map(\.stem))
        let taskStem = vocabulary.stem(of: facts.values[.category] ?? "")
        guard stems.contains(taskStem) || !draftContent.contains(taskStem) else { return false }
        return draft.indices.allSatisfy { index in
            let isEssential =
                switch facts.task {
                case .digest: !draft[index].isAboutPerson
                // An answer to a question must be complete.
                case .askCoach: true
                default: draft[index].contentStems.contains(taskStem)
                }
            return !isEssential || statedSentences.contains(index)
        }
    }
}

/// A place in the rules' text: the index of a sentence, and of a word in its `contentStems`.
private struct DraftPlace: Hashable, Comparable {
    let sentence: Int
    let index: Int

    static func < (left: Self, right: Self) -> Bool { (left.sentence, left.index) < (right.sentence, right.index) }
}

/// A sentence of the rules' text.
private struct DraftSentence {
    let sentence: Sentence
    /// The stems of the content words: those with a meaning of their own.
    let contentStems: [String]
    /// The indexes in `contentStems` of each clause's words. A mark such as a comma, or a conjunction such as
    /// “because”, begins a clause.
    let clauses: [Set<Int>]
    /// The number of occurrences of each word that negates or limits the statement, or is a number.
    let guardedWordCounts: [String: Int]
    /// Whether it is about the person whose name is withheld.
    let isAboutPerson: Bool

    init(_ sentence: Sentence, _ vocabulary: Vocabulary, _ facts: PromptFacts) {
        self.sentence = sentence
        var (content, clauses): ([String], [Set<Int>]) = ([], [[]])
        for term in sentence.terms {
            if term.startsClause || vocabulary.has(term.word, in: .conjunction) { clauses.append([]) }
            if Self.isIgnored(term.word, vocabulary, facts) { continue }
            clauses[clauses.count - 1].insert(content.count)
            content.append(term.stem)
        }
        (contentStems, self.clauses) = (content, clauses)
        guardedWordCounts = sentence.words.reduce(into: [:]) {
            if Self.isGuarded($1, vocabulary, facts) { $0[$1, default: 0] += 1 }
        }
        isAboutPerson = facts.task == .digest && sentence.words.contains(PromptFacts.personWord)
    }

    /// Whether the comparison ignores a word, because it has no meaning of its own, or because `FigureCheck` checks it.
    static func isIgnored(_ word: String, _ vocabulary: Vocabulary, _ facts: PromptFacts) -> Bool {
        vocabulary.has(word, in: .plain)
            || facts.task == .digest && (word.isFigure || vocabulary.has(word, in: .figurePercent))
    }

    /// Whether a word must be kept with its neighbours: it negates or limits the statement, or is a number.
    static func isGuarded(_ word: String, _ vocabulary: Vocabulary, _ facts: PromptFacts) -> Bool {
        vocabulary.isGuarded(word) || facts.task != .digest && word.isFigure
    }

    /// Whether another sentence has the same words in the same order, and is a question exactly if this one is.
    func isSame(as other: Sentence) -> Bool {
        sentence.isQuestion == other.isQuestion && sentence.words == other.words
    }

    /// Returns whether a guarded word has the same neighbours as in this sentence. The neighbours of a negation are the
    /// three words before it and the word after it. Any other word must have one equal neighbour on each side, or two
    /// on one side. Neighbours beyond the ends of this sentence are not compared.
    func allows(_ terms: [Sentence.Term], at index: Int, _ vocabulary: Vocabulary) -> Bool {
        let draftTerms = sentence.terms
        return draftTerms.indices.contains { place in
            guard draftTerms[place].word == terms[index].word else { return false }
            func hasSameStem(_ offset: Int) -> Bool {
                draftTerms.indices.contains(place + offset) && terms.indices.contains(index + offset)
                    && draftTerms[place + offset].stem == terms[index + offset].stem
            }
            func isBeyondSentence(_ offset: Int) -> Bool { !draftTerms.indices.contains(place + offset) }
            if vocabulary.has(terms[index].word, in: .negation) {
                return (1...3).allSatisfy { hasSameStem(-$0) || isBeyondSentence(-$0) }
                    && (hasSameStem(1) || isBeyondSentence(1)) && (hasSameStem(-1) || hasSameStem(1))
            }
            return hasSameStem(-1) && (hasSameStem(1) || isBeyondSentence(1))
                || hasSameStem(1) && (hasSameStem(2) || isBeyondSentence(-1)) || hasSameStem(-1) && hasSameStem(-2)
        }
    }
}

extension String {
    /// Whether it is a number in digits.
    var isFigure: Bool { !isEmpty && allSatisfy(\.isNumber) }
}
