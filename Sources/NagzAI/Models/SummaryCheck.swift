/// Proves that a summary states only what a person's words state.
///
/// A summary consists of whole clauses of these words, in their order and in the third person: `I` becomes `the child`,
/// and other people keep their names and pronouns. No clause with a negation or a refusal may be left out. A summary
/// addresses nobody and gives no orders: each sentence has a subject.
struct SummaryCheck {
    private let vocabulary: Vocabulary
    /// The clauses of the person's words.
    private let source: [Clause]
    /// The words of names, which may begin a sentence.
    private let names: Set<String>

    /// A meaningful word.
    private enum Token: Hashable {
        /// The author of the words.
        case child
        /// A pronoun for another person; "they" may also be the child.
        case other(String)
        case negation
        /// The stem of any other word.
        case word(String, isPreposition: Bool)
    }

    /// The part of a sentence between marks and conjunctions.
    private struct Clause {
        var tokens: [Token]
        /// Whether a conjunction is before it, as in "and forgot it".
        var isJoined: Bool
        /// Whether its first word can begin a subject, such as an article, a possessive or a person.
        var opensWithSubject = false
        /// Whether a summary must keep it, because it has a negation or a refusal.
        var isRequired: Bool
    }

    init(_ vocabulary: Vocabulary, of text: String, names: [String]) {
        self.vocabulary = vocabulary
        self.names = Set(names.flatMap { words(in: $0).map(\.text) })
        source = vocabulary.sentences(of: text).flatMap { sentence in
            Self.split(sentence.terms, vocabulary).map {
                Self.makeClause($0.terms, $0.isJoined, vocabulary, isSummary: false)
            }
        }.filter { !$0.tokens.isEmpty }
    }

    /// Returns the fault of a summary; nil if it states only what the words state.
    func refusal(of text: String) -> OutputCheck.Refusal? {
        var clauses: [Clause] = []
        for sentence in vocabulary.sentences(of: text) {
            guard !sentence.isQuestion, let terms = reportedTerms(of: sentence) else { return .statement }
            clauses += Self.split(terms, vocabulary).map {
                Self.makeClause($0.terms, $0.isJoined, vocabulary, isSummary: true)
            }
            .filter { !$0.tokens.isEmpty }
        }
        let knownTokens = Set(source.flatMap(\.tokens)).union([.child, .other(Self.genderNeutralPronoun)])
        guard clauses.allSatisfy({ $0.tokens.allSatisfy(knownTokens.contains) }) else { return .word }
        return !clauses.isEmpty && matchesSource(clauses) ? nil : .statement
    }

    // MARK: Sentences

    /// Returns a sentence's words without an introduction such as “the child says that”; nil if the sentence then has
    /// no subject.
    private func reportedTerms(of sentence: Sentence) -> ArraySlice<Sentence.Term>? {
        var terms = sentence.terms[...]
        let person = PromptFacts.personPhrase.split(separator: " ").map(String.init)
        if terms.map(\.word).starts(with: person), let verb = terms.dropFirst(person.count).first,
            vocabulary.has(verb.word, in: .speech)
        {
            terms = terms.dropFirst(person.count + 1)
            if let next = terms.first, vocabulary.has(next.word, in: .opening), vocabulary.has(next.word, in: .bare),
                next.word.count > 3
            {
                terms = terms.dropFirst()
            }
        }
        guard let first = terms.first else { return nil }
        let isSubject =
            vocabulary.has(first.word, in: .opening) || vocabulary.has(first.word, in: .person)
            || names.contains(first.word)
        return isSubject ? terms : nil
    }

    /// Splits a sentence into clauses: a mark such as a comma, or a conjunction such as “because”, ends one.
    private static func split(
        _ terms: some Collection<Sentence.Term>, _ vocabulary: Vocabulary
    ) -> [(terms: [Sentence.Term], isJoined: Bool)] {
        var clauses: [(terms: [Sentence.Term], isJoined: Bool)] = [([], false)]
        for term in terms {
            if term.startsClause { clauses.append(([], false)) }
            if vocabulary.has(term.word, in: .conjunction) {
                clauses.append(([], true))
            } else {
                clauses[clauses.count - 1].terms.append(term)
            }
        }
        return clauses
    }

    /// Creates a clause of words. Words without information are left out.
    /// - Parameter isSummary: whether a model wrote the words, so that “child” is the author, and not “I”.
    private static func makeClause(
        _ terms: [Sentence.Term], _ isJoined: Bool, _ vocabulary: Vocabulary, isSummary: Bool
    ) -> Clause {
        var clause = Clause(tokens: [], isJoined: isJoined, isRequired: false)
        if let first = terms.first {
            clause.opensWithSubject =
                vocabulary.has(first.word, in: .opening) || vocabulary.has(first.word, in: .person)
                || vocabulary.has(first.word, in: .selfReference)
        }
        for term in terms {
            let word = term.word
            if vocabulary.has(word, in: .negation) {
                clause.tokens.append(.negation)
                clause.isRequired = true
            } else if isSummary && word == PromptFacts.personWord
                || !isSummary && vocabulary.has(word, in: .selfReference)
            {
                clause.tokens.append(.child)
            } else if let pronoun = vocabulary.pronoun(of: word) {
                clause.tokens.append(.other(pronoun))
            } else if !vocabulary.has(word, in: .bare), !vocabulary.has(word, in: .filler) {
                clause.isRequired = clause.isRequired || vocabulary.has(word, in: .refusal)
                clause.tokens.append(
                    .word(term.stem, isPreposition: vocabulary.has(word, in: .preposition)))
            }
        }
        return clause
    }

    // MARK: Clauses

    /// The pronoun for a person of unknown gender.
    private static let genderNeutralPronoun = "they"

    /// Returns whether the clauses of the summary match clauses of the source in the same order, and no required clause
    /// of the source is left out.
    private func matchesSource(_ clauses: [Clause]) -> Bool {
        var next = 0
        // The index in the source of the previous clause, and whether it was about the child.
        var (previous, isAboutChild) = (-1, false)
        for clause in clauses {
            guard
                let place = source[next...].indices.first(where: {
                    isMatch(clause, at: $0, after: isAboutChild ? previous : nil)
                }), !source[next..<place].contains(where: \.isRequired)
            else { return false }
            (previous, next) = (place, place + 1)
            if let subject = clause.tokens.first, hasSubject(clause) {
                isAboutChild = subject == .child || subject == .other(Self.genderNeutralPronoun)
            }
        }
        return !source[next...].contains(where: \.isRequired)
    }

    /// Whether a clause of the summary matches a clause of the person's words.
    /// - Parameter previous: the index in the source of the previous clause if it was about the child; otherwise nil.
    private func isMatch(_ summary: Clause, at place: Int, after previous: Int?) -> Bool {
        let clause = source[place]
        let words = clause.tokens
        if hasSubject(summary) {
            // The person's words may begin without a subject, as in "forgot it".
            return isMatch(summary.tokens, words)
                || place == 0 && summary.tokens.first == .child && !hasSubject(clause)
                    && isMatch(Array(summary.tokens.dropFirst()), words)
        }
        // The subject of "and forgot it" is the child of the previous clause.
        guard summary.isJoined, let previous else { return false }
        if words.first == .child { return isMatch(summary.tokens, Array(words.dropFirst())) }
        return clause.isJoined && place == previous + 1 && !hasSubject(clause) && isMatch(summary.tokens, words)
    }

    /// Whether a clause begins with its subject.
    private func hasSubject(_ clause: Clause) -> Bool {
        switch clause.tokens.first {
        case .child, .other: true
        case .word(let stem, false): clause.opensWithSubject || names.contains(stem)
        default: false
        }
    }

    /// Whether the tokens of a summary are those of the person's words, or leave out only a prepositional phrase at the
    /// end.
    private func isMatch(_ summary: [Token], _ words: [Token]) -> Bool {
        guard summary.count <= words.count else { return false }
        // "They" may be the child only if the person's words do not use it for others.
        let isAmbiguous = source.contains { $0.tokens.contains(.other(Self.genderNeutralPronoun)) }
        let isSame = zip(summary, words).allSatisfy { token, word in
            token == word || token == .other(Self.genderNeutralPronoun) && word == .child && !isAmbiguous
        }
        guard isSame, summary.count < words.count else { return isSame && !summary.isEmpty }
        // The part that is left out at the end begins with a preposition, and nothing is negated.
        guard summary.count > 1, case .word(_, true) = words[summary.count] else { return false }
        return !words.contains(.negation)
    }
}

/// Proves that the description of a nag has only words of its author or of the vocabulary's groups `plain` and `task`,
/// and as many negations as the author's words.
struct DescriptionCheck {
    private let vocabulary: Vocabulary
    private let authorTerms: [Sentence.Term]

    init(_ vocabulary: Vocabulary, of words: String) {
        self.vocabulary = vocabulary
        authorTerms = vocabulary.sentences(of: words).flatMap(\.terms)
    }

    /// Returns the fault of a nag's description that a model wrote; nil if it may be used.
    func refusal(of text: String) -> OutputCheck.Refusal? {
        let description = vocabulary.sentences(of: text).flatMap(\.terms)
        let knownStems = Set(authorTerms.map(\.stem))
        let isProven = description.allSatisfy {
            knownStems.contains($0.stem) || vocabulary.has($0.word, in: .plain) || vocabulary.has($0.word, in: .task)
        }
        guard isProven else { return .word }
        func negations(_ terms: [Sentence.Term]) -> Int { terms.count { vocabulary.has($0.word, in: .negation) } }
        return negations(description) == negations(authorTerms) ? nil : .statement
    }
}
