/// Checks that the figures in a model's digest are right, and that none is missing.
struct FigureCheck {
    private let vocabulary: Vocabulary
    /// The figures that the text may have.
    private var allowedFigures: Set<Figure> = []
    /// The figures that the text must have.
    private var requiredFigures: Set<Figure> = []

    /// A figure in a text, with the role that shows what it counts.
    private struct Figure: Hashable {
        enum Role {
            /// The figures of a part and its total, as in “2 of 3”.
            case partOfTotal
            /// Such figures in a sentence about one person.
            case partOfPerson
            case completed, missed, open, overdue, total, percent, days
        }

        var role: Role
        /// The number; for a part, also its total.
        var numbers: [String]
    }

    init(_ vocabulary: Vocabulary, _ facts: PromptFacts) {
        self.vocabulary = vocabulary
        for figure in vocabulary.sentences(of: facts.values[.draft] ?? "").flatMap({ figures(in: $0) ?? [] }) {
            allowedFigures.insert(figure)
            if ![.percent, .days, .partOfPerson].contains(figure.role) { requiredFigures.insert(figure) }
        }
        for (role, slot) in [
            (.completed, .completed), (.missed, .missed), (.open, .open), (.overdue, .overdue), (.total, .total),
        ] as [(Figure.Role, PromptSlot)] {
            if let number = facts.values[slot] { allowedFigures.insert(Figure(role: role, numbers: [number])) }
        }
    }

    /// Returns the fault of a text; nil if its figures are right and complete.
    func refusal(of text: String) -> OutputCheck.Refusal? {
        var statedFigures: Set<Figure> = []
        for sentence in vocabulary.sentences(of: text) {
            guard let figures = figures(in: sentence) else { return .figure }
            statedFigures.formUnion(figures)
        }
        return statedFigures.isSubset(of: allowedFigures) && statedFigures.isSuperset(of: requiredFigures)
            ? nil : .figure
    }

    /// Returns the figures of a sentence; nil if the sentence does not say what one of them counts.
    private func figures(in sentence: Sentence) -> [Figure]? {
        var figures: [Figure] = []
        var index = 0
        let (terms, words) = (sentence.terms, sentence.words)
        while index < terms.count {
            guard words[index].isFigure else {
                index += 1
                continue
            }
            let clause = clause(around: index, in: terms)
            if let totalIndex = totalIndex(after: index, in: words) {
                let stateWords = words[clause].filter {
                    vocabulary.has($0, in: .figureMissed) || vocabulary.has($0, in: .figureOpen)
                        || vocabulary.has($0, in: .figureOverdue)
                }
                guard stateWords.isEmpty else { return nil }
                let isOfPerson = words.contains(PromptFacts.personWord)
                figures.append(
                    Figure(
                        role: isOfPerson ? .partOfPerson : .partOfTotal, numbers: [words[index], words[totalIndex]]))
                index = totalIndex + 1
            } else {
                guard let role = role(of: index, in: words, clause) else { return nil }
                figures.append(Figure(role: role, numbers: [words[index]]))
                index += 1
            }
        }
        return figures
    }

    /// Returns the range of the words of the clause that contains an index. Marks such as commas separate clauses.
    private func clause(around index: Int, in terms: [Sentence.Term]) -> Range<Int> {
        let start = terms[...index].lastIndex(where: \.startsClause) ?? 0
        let end = terms[(index + 1)...].firstIndex(where: \.startsClause) ?? terms.count
        return start..<end
    }

    /// Returns the index of the total in “2 of 3” or “2 out of 3”; nil if there is none.
    private func totalIndex(after index: Int, in words: [String]) -> Int? {
        let nextWords = words[(index + 1)...].prefix(3)
        guard let totalIndex = nextWords.firstIndex(where: \.isFigure) else { return nil }
        let wordsBetween = words[(index + 1)..<totalIndex]
        return !wordsBetween.isEmpty && wordsBetween.allSatisfy { vocabulary.has($0, in: .figureOf) }
            ? totalIndex : nil
    }

    /// Returns the role of a figure, which one of the next four words of its clause names. Nil if none of them names a
    /// role, or if another figure comes first.
    private func role(of index: Int, in words: [String], _ clause: Range<Int>) -> Figure.Role? {
        let roles: [(group: Vocabulary.Group, role: Figure.Role)] = [
            (.figurePercent, .percent), (.figureDays, .days), (.figureOpen, .open), (.figureMissed, .missed),
            (.figureOverdue, .overdue),
            (.figureCompleted, .completed), (.figureTotal, .total),
        ]
        for word in words[(index + 1)..<max(index + 1, clause.upperBound)].prefix(4) {
            if word.isFigure { return nil }
            if let match = roles.first(where: { vocabulary.has(word, in: $0.group) }) { return match.role }
        }
        return nil
    }
}
