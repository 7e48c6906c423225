/// A word of a text, in the form in which phrases are compared.
struct SpokenWord: Hashable {
    /// The word as it was written.
    let text: String
    /// The word in lower case, without the punctuation around it.
    let word: String
    /// Whether punctuation follows the word, so that a sentence or a part of one ends.
    let endsClause: Bool

    /// Splits a text into words, of which it returns the first `limit`.
    static func split(_ text: String, limit: Int) -> [SpokenWord] {
        text.split(whereSeparator: \.isWhitespace).prefix(limit).map { SpokenWord(String($0)) }
    }

    /// Returns the words as they were written, at most 200 Characters.
    static func excerpt(of words: ArraySlice<SpokenWord>) -> String {
        String(words.map(\.text).joined(separator: " ").prefix(200))
    }

    private init(_ text: String) {
        func isPunctuation(_ character: Character) -> Bool { ".,;:!?()\"'“”‘’".contains(character) }
        var word = Substring(text.lowercased())
        while let first = word.first, isPunctuation(first) { word.removeFirst() }
        var hasFinalPunctuation = false
        while let last = word.last, isPunctuation(last) {
            word.removeLast()
            hasFinalPunctuation = true
        }
        self.text = text
        self.word = String(word.map { $0 == "’" ? "'" : $0 })
        endsClause = hasFinalPunctuation
    }
}

extension ArraySlice where Element == SpokenWord {
    /// Returns the word at an offset; empty beyond the end.
    func word(_ offset: Int) -> String {
        offset < count ? self[startIndex + offset].word : ""
    }

    /// Whether the words begin with a phrase.
    func begins(with phrase: String) -> Bool {
        let words = phrase.split(separator: " ")
        return words.count <= count && words.indices.allSatisfy { words[$0] == word($0) }
    }

    /// Whether a clause ends after the first `length` words.
    func clauseEnds(after length: Int) -> Bool {
        length >= count || length > 0 && self[startIndex + length - 1].endsClause
    }
}
