/// Proves that a summary states only what a person's words state.
///
/// A summary consists of whole clauses of these words, in their order, in the third person: `I` becomes the child, and
/// everybody else stays who they are. No clause with a negation or a refusal may be left out. A summary addresses
/// nobody and gives no orders: each sentence has a subject.
struct SummaryCheck {
    private let vocabulary: Vocabulary
    private let source: [Clause]
    /// Words that may begin a sentence because they name somebody.
    private let names: Set<String>

    /// A meaningful word.
    private enum Token: Hashable {
        /// The author of the words.
        case child
        /// A pronoun of somebody else; "they" may be the child.
        case other(String)
        case negation
        case word(String, isPreposition: Bool)
    }

    /// The part of a sentence between marks and joints.
    private struct Clause {
        var tokens: [Token]
        /// Whether a joint stands before it, as in "and forgot it".
        var isJoined: Bool
        /// Whether its first word is an article, a possessive or a person.
        var opensWithSubject = false
        /// Whether it says that something is not so, or is refused.
        var mustStay: Bool
    }

    init(_ vocabulary: Vocabulary, of text: String, names: [String]) {
        self.vocabulary = vocabulary
        self.names = Set(names.flatMap { words(in: $0).map(\.text) })
        source = vocabulary.sentences(of: text).flatMap { sentence in
            Self.split(sentence.terms, vocabulary).map {
                Self.clause($0.terms, $0.isJoined, vocabulary, isSummary: false)
            }
        }.filter { !$0.tokens.isEmpty }
    }

    func refusal(of text: String) -> OutputCheck.Refusal? {
        var said: [Clause] = []
        for sentence in vocabulary.sentences(of: text) {
            guard !sentence.isQuestion, let terms = told(sentence) else { return .statement }
            said += Self.split(terms, vocabulary).map {
                Self.clause($0.terms, $0.isJoined, vocabulary, isSummary: true)
            }
            .filter { !$0.tokens.isEmpty }
        }
        let known = Set(source.flatMap(\.tokens)).union([.child, .other(Self.anybody)])
        guard said.allSatisfy({ $0.tokens.allSatisfy(known.contains) }) else { return .word }
        return !said.isEmpty && isInOrder(said) ? nil : .statement
    }

    // MARK: Sentences

    /// A sentence's words without “the child says that”; nil if it has no subject.
    private func told(_ sentence: Sentence) -> ArraySlice<Sentence.Term>? {
        var terms = sentence.terms[...]
        let person = PromptFacts.person.split(separator: " ").map(String.init)
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

    /// The clauses of a sentence: a mark such as a comma, or a joint such as “because”, ends one.
    private static func split(
        _ terms: some Collection<Sentence.Term>, _ vocabulary: Vocabulary
    ) -> [(terms: [Sentence.Term], isJoined: Bool)] {
        var clauses: [(terms: [Sentence.Term], isJoined: Bool)] = [([], false)]
        for term in terms {
            if term.startsClause { clauses.append(([], false)) }
            if vocabulary.has(term.word, in: .joint) {
                clauses.append(([], true))
            } else {
                clauses[clauses.count - 1].terms.append(term)
            }
        }
        return clauses
    }

    private static func clause(
        _ terms: [Sentence.Term], _ isJoined: Bool, _ vocabulary: Vocabulary, isSummary: Bool
    ) -> Clause {
        var clause = Clause(tokens: [], isJoined: isJoined, mustStay: false)
        if let first = terms.first {
            clause.opensWithSubject =
                vocabulary.has(first.word, in: .opening) || vocabulary.has(first.word, in: .person)
                || vocabulary.has(first.word, in: .selfReference)
        }
        for term in terms {
            let word = term.word
            if vocabulary.has(word, in: .negation) {
                clause.tokens.append(.negation)
                clause.mustStay = true
            } else if isSummary && word == PromptFacts.personWord
                || !isSummary && vocabulary.has(word, in: .selfReference)
            {
                clause.tokens.append(.child)
            } else if let pronoun = vocabulary.pronoun(of: word) {
                clause.tokens.append(.other(pronoun))
            } else if !vocabulary.has(word, in: .bare), !vocabulary.has(word, in: .filler) {
                clause.mustStay = clause.mustStay || vocabulary.has(word, in: .refusal)
                clause.tokens.append(
                    .word(term.stem, isPreposition: vocabulary.has(word, in: .preposition)))
            }
        }
        return clause
    }

    // MARK: Clauses

    /// The pronoun of a child whose gender nobody knows.
    private static let anybody = "they"

    /// Whether each clause is the next possible one of the source, and no clause that must stay is skipped.
    private func isInOrder(_ said: [Clause]) -> Bool {
        var next = 0
        // The place of the clause before, and whether it was about the child.
        var (last, isAboutChild) = (-1, false)
        for clause in said {
            guard
                let place = source[next...].indices.first(where: {
                    says(clause, at: $0, after: isAboutChild ? last : nil)
                }), !source[next..<place].contains(where: \.mustStay)
            else { return false }
            (last, next) = (place, place + 1)
            if let subject = clause.tokens.first, hasSubject(clause) {
                isAboutChild = subject == .child || subject == .other(Self.anybody)
            }
        }
        return !source[next...].contains(where: \.mustStay)
    }

    /// Whether a clause says all that the person's clause says.
    /// - Parameter last: the place of the clause before, which was about the child; nil if none was.
    private func says(_ told: Clause, at place: Int, after last: Int?) -> Bool {
        let clause = source[place]
        let words = clause.tokens
        if hasSubject(told) {
            // Words without a subject at the beginning, as "forgot it".
            return agree(told.tokens, words)
                || place == 0 && told.tokens.first == .child && !hasSubject(clause)
                    && agree(Array(told.tokens.dropFirst()), words)
        }
        // "And forgot it" belongs to the child of the clause before.
        guard told.isJoined, let last else { return false }
        if words.first == .child { return agree(told.tokens, Array(words.dropFirst())) }
        return clause.isJoined && place == last + 1 && !hasSubject(clause) && agree(told.tokens, words)
    }

    /// Whether a clause begins with its subject.
    private func hasSubject(_ clause: Clause) -> Bool {
        switch clause.tokens.first {
        case .child, .other: true
        case .word(let stem, false): clause.opensWithSubject || names.contains(stem)
        default: false
        }
    }

    private func agree(_ told: [Token], _ words: [Token]) -> Bool {
        guard told.count <= words.count else { return false }
        // Nobody but the child may be called they, unless their own words do.
        let isAmbiguous = source.contains { $0.tokens.contains(.other(Self.anybody)) }
        let isSame = zip(told, words).allSatisfy { told, word in
            told == word || told == .other(Self.anybody) && word == .child && !isAmbiguous
        }
        guard isSame, told.count < words.count else { return isSame && !told.isEmpty }
        // What is left out at the end begins with a preposition and denies nothing.
        guard told.count > 1, case .word(_, true) = words[told.count] else { return false }
        return !words.contains(.negation)
    }
}

/// Proves that the description of a nag contains no word that its author did not use, and keeps the author's negations.
struct DescriptionCheck {
    private let vocabulary: Vocabulary
    private let terms: [Sentence.Term]

    init(_ vocabulary: Vocabulary, of words: String) {
        self.vocabulary = vocabulary
        terms = vocabulary.sentences(of: words).flatMap(\.terms)
    }

    func refusal(of text: String) -> OutputCheck.Refusal? {
        let told = vocabulary.sentences(of: text).flatMap(\.terms)
        let known = Set(terms.map(\.stem))
        let isSaid = told.allSatisfy {
            known.contains($0.stem) || vocabulary.has($0.word, in: .plain) || vocabulary.has($0.word, in: .task)
        }
        guard isSaid else { return .word }
        func negations(_ terms: [Sentence.Term]) -> Int { terms.count { vocabulary.has($0.word, in: .negation) } }
        return negations(told) == negations(terms) ? nil : .statement
    }
}
