/// One word of a text, normalised for comparison.
struct Word: Hashable {
    /// The word in lower case, with plain apostrophes. Swift compares by canonical equivalence, so composed and
    /// decomposed `é` are equal. Empty for a run of letters that is too long to be a word.
    var text: String
    /// Whether only white space separates this word from the previous one.
    var followsDirectly: Bool
}

/// Splits a text into words in one pass over its scalars.
///
/// A word consists of letters, digits and their combining marks, and of apostrophes of any form between them; a final
/// `'s` is dropped (“the meeting's over”). Invisible joiners and variation selectors are skipped. At most
/// `readScalarLimit` scalars are read.
func words(in text: String) -> [Word] {
    var splitter = WordSplitter()
    for scalar in text.unicodeScalars.prefix(readScalarLimit) { splitter.append(scalar) }
    return splitter.finish()
}

/// The maximum number of scalars of a text that are read: eight for each of the 2,000 characters that a client may
/// send.
let readScalarLimit = 16_000

/// Returns a text on one line, with one space for each run of white space and control characters. Other invisible
/// characters are left out, except the joiner of emoji. At most `readScalarLimit` scalars are read.
func singleLine(_ text: String) -> String {
    var visible = String.UnicodeScalarView()
    for scalar in text.unicodeScalars.prefix(readScalarLimit) {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: visible.append(" ")
        case .format where scalar != "\u{200D}": continue
        default: visible.append(scalar)
        }
    }
    return String(visible).split(whereSeparator: \.isWhitespace).joined(separator: " ")
}

/// Splits scalars, one after the other, into words.
private struct WordSplitter {
    private var words: [Word] = []
    private var currentWord = String.UnicodeScalarView()
    /// The number of scalars of the current word, also of those that are left out because it is too long.
    private var currentLength = 0
    private var hasPendingApostrophe = false
    private var followsDirectly = true

    /// The maximum length of a word in scalars.
    private static let maxWordLength = 64

    mutating func append(_ scalar: Unicode.Scalar) {
        if isApostrophe(scalar) {
            if currentLength == 0 || hasPendingApostrophe {
                endWord()
                followsDirectly = false
            } else {
                hasPendingApostrophe = true
            }
        } else if isWordPart(scalar, startsWord: currentLength == 0) {
            if hasPendingApostrophe {
                appendToWord("'")
                hasPendingApostrophe = false
            }
            appendToWord(scalar)
        } else if scalar.properties.isWhitespace || scalar == "\u{200B}" {
            endWord()
        } else if !scalar.properties.isDefaultIgnorableCodePoint {
            endWord()
            followsDirectly = false
        }
    }

    mutating func finish() -> [Word] {
        endWord()
        return words
    }

    private mutating func appendToWord(_ scalar: Unicode.Scalar) {
        currentLength += 1
        if currentLength <= Self.maxWordLength { currentWord.append(scalar) }
    }

    private mutating func endWord() {
        let hadApostrophe = hasPendingApostrophe
        hasPendingApostrophe = false
        guard currentLength > 0 else { return }
        var folded = currentLength <= Self.maxWordLength ? String(currentWord).lowercased() : ""
        if folded.hasSuffix("'s") { folded = String(folded.dropLast(2)) }
        words.append(Word(text: folded, followsDirectly: followsDirectly))
        currentWord = String.UnicodeScalarView()
        currentLength = 0
        // A closing quotation mark separates this word from the next.
        followsDirectly = !hadApostrophe
    }
}

private func isApostrophe(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "'", "\u{2019}", "\u{2018}", "\u{201B}", "\u{02BC}", "\u{2032}", "\u{FF07}", "\u{00B4}", "`": true
    default: false
    }
}

private func isWordPart(_ scalar: Unicode.Scalar, startsWord: Bool) -> Bool {
    if scalar.isASCII {
        return ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar)
    }
    if scalar.properties.isAlphabetic || scalar.properties.numericType != nil { return true }
    if startsWord || scalar.properties.isDefaultIgnorableCodePoint { return false }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: return true
    default: return false
    }
}

/// Finds labelled phrases in texts: whole words in order, separated only by white space.
///
/// One pass: each word of the text is looked up once and compared with the few phrases that begin with it.
struct PhraseMatcher<Label: Hashable & Sendable>: Sendable {
    /// The phrases by their first word.
    private var phrasesByFirstWord: [String: [(label: Label, rest: [String])]] = [:]

    init() {}

    /// Adds a phrase; returns false if it has no word, or one that is too long.
    mutating func add(_ phrase: String, as label: Label) -> Bool {
        let phraseWords = words(in: phrase).map(\.text)
        guard let first = phraseWords.first, !phraseWords.contains("") else { return false }
        phrasesByFirstWord[first, default: []].append((label, Array(phraseWords.dropFirst())))
        return true
    }

    /// Returns the labels of all phrases in the text.
    func labels(in text: String) -> Set<Label> {
        let textWords = words(in: text)
        var labels: Set<Label> = []
        for (index, word) in textWords.enumerated() {
            for phrase in phrasesByFirstWord[word.text] ?? [] where !labels.contains(phrase.label) {
                let following = textWords.dropFirst(index + 1).prefix(phrase.rest.count)
                if following.map(\.text) == phrase.rest, following.allSatisfy(\.followsDirectly) {
                    labels.insert(phrase.label)
                }
            }
        }
        return labels
    }
}
