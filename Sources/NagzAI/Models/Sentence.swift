/// A sentence of a text, as words that can be compared.
struct Sentence {
    /// A word of a sentence, or one of the words that a contraction stands for: "isn't" becomes "is" and "not".
    struct Term: Hashable {
        /// The word in lower case.
        var word: String
        var stem: String
        /// Whether a mark such as a comma is before the word, or the sentence begins with it.
        var startsClause: Bool
    }

    var terms: [Term]
    var isQuestion: Bool

    var words: [String] { terms.map(\.word) }
}

extension Vocabulary {
    /// Returns the sentences of a text. A full stop, question mark, exclamation mark or ellipsis ends a sentence unless
    /// a letter or digit follows.
    func sentences(of text: String) -> [Sentence] {
        var sentences: [Sentence] = []
        var current = ""
        let characters = Array(text)
        func close(_ mark: Character?) {
            let terms = terms(of: current)
            if !terms.isEmpty { sentences.append(Sentence(terms: terms, isQuestion: mark == "?")) }
            current = ""
        }
        for (index, character) in characters.enumerated() {
            let isLast = index + 1 == characters.count
            if ".!?\u{2026}".contains(character),
                isLast || !characters[index + 1].isLetter && !characters[index + 1].isNumber
            {
                close(character)
            } else {
                // A percent sign becomes a word, because it gives the meaning of the figure before it.
                current += character == "%" ? " percent," : String(character)
            }
        }
        close(nil)
        return sentences
    }

    private func terms(of sentence: String) -> [Sentence.Term] {
        var terms: [Sentence.Term] = []
        for word in words(in: sentence) {
            for (index, part) in expanded(word.text).enumerated() {
                // The mark in 17:45 ends no clause.
                let isTime = part.isFigure && terms.last?.word.isFigure == true
                terms.append(
                    Sentence.Term(
                        word: part, stem: stem(of: part),
                        startsClause: index == 0 && (terms.isEmpty || !word.followsDirectly && !isTime)))
            }
        }
        return terms
    }
}
