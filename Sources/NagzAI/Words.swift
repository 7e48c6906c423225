/// One word of a text, folded for comparing.
struct Word: Hashable {
    /// Lower-case, with plain apostrophes. Swift compares it by canonical equivalence, so `é` is `é` however it was
    /// typed. Empty for a run of letters too long to be a word.
    var text: String
    /// Whether nothing but white space lies between this word and the one before.
    var followsDirectly: Bool
}

/// Cuts a text into whole words in one pass over its scalars.
///
/// Letters, digits and the marks on them make up a word; an apostrophe of any shape belongs to it between two of them,
/// and a final `'s` is dropped (“the meeting's over”). Invisible joiners and variation selectors are skipped. At most
/// `scalarLimit` scalars are read, whatever the text.
func words(in text: String) -> [Word] {
    var cutter = WordCutter()
    for scalar in text.unicodeScalars.prefix(scalarLimit) { cutter.take(scalar) }
    return cutter.finish()
}

/// How much of a text is looked at: eight scalars for each of the 2,000 characters a client may send.
let scalarLimit = 16_000

private struct WordCutter {
    private var words: [Word] = []
    private var current = String.UnicodeScalarView()
    private var length = 0
    private var hasPendingApostrophe = false
    private var followsDirectly = true

    private static let longestWord = 64

    mutating func take(_ scalar: Unicode.Scalar) {
        if isApostrophe(scalar) {
            if length == 0 || hasPendingApostrophe {
                endWord()
                followsDirectly = false
            } else {
                hasPendingApostrophe = true
            }
        } else if isWordPart(scalar, startsWord: length == 0) {
            if hasPendingApostrophe {
                append("'")
                hasPendingApostrophe = false
            }
            append(scalar)
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

    private mutating func append(_ scalar: Unicode.Scalar) {
        length += 1
        if length <= Self.longestWord { current.append(scalar) }
    }

    private mutating func endWord() {
        let hadApostrophe = hasPendingApostrophe
        hasPendingApostrophe = false
        guard length > 0 else { return }
        var folded = length <= Self.longestWord ? String(current).lowercased() : ""
        if folded.hasSuffix("'s") { folded = String(folded.dropLast(2)) }
        words.append(Word(text: folded, followsDirectly: followsDirectly))
        current = String.UnicodeScalarView()
        length = 0
        // A closing quotation mark comes between this word and the next.
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

/// Finds phrases in texts, each under a label: whole words in their order, with only white space between them.
///
/// One pass: each word of the text is looked up once and compared with the few phrases that begin with it.
struct PhraseMatcher<Label: Hashable & Sendable>: Sendable {
    private var phrases: [String: [(label: Label, rest: [String])]] = [:]

    init() {}

    /// False where the phrase holds no word.
    mutating func add(_ phrase: String, as label: Label) -> Bool {
        let parts = words(in: phrase).map(\.text)
        guard let first = parts.first, !parts.contains("") else { return false }
        phrases[first, default: []].append((label, Array(parts.dropFirst())))
        return true
    }

    /// The labels of all phrases that the text holds.
    func labels(in text: String) -> Set<Label> {
        let found = words(in: text)
        var labels: Set<Label> = []
        for (index, word) in found.enumerated() {
            for phrase in phrases[word.text] ?? [] where !labels.contains(phrase.label) {
                let following = found.dropFirst(index + 1).prefix(phrase.rest.count)
                if following.map(\.text) == phrase.rest, following.allSatisfy(\.followsDirectly) {
                    labels.insert(phrase.label)
                }
            }
        }
        return labels
    }
}
