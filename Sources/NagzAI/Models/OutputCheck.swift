/// Decides whether a model's text may be shown to people. What it refuses is replaced by the rules' own text.
///
/// It reads the text as the model wrote it, before the withheld name is inserted. A text may be shown only if each word
/// follows from the rules' text for this case (`RewordingCheck`, `FigureCheck`) or from the person's own words
/// (`SummaryCheck`, `DescriptionCheck`). The other checks refuse forms and words that are never shown, and make the
/// reason of other refusals more precise.
public struct OutputCheck: Sendable {
    /// A fault of a text.
    public enum Refusal: String, Error, Sendable, CaseIterable {
        /// A text without a letter, or a structured answer with a value that is missing or unknown.
        case empty
        /// A text that is longer than its task allows.
        case length
        /// A line break.
        case paragraph
        /// A control, format or private-use character.
        case control
        /// A character of HTML, Markdown or a list.
        case markup
        /// A web or mail address.
        case link
        /// A character that the language does not have.
        case character
        /// A phrase of the phrasebook's avoid list.
        case disrespect
        /// A word that no model may use, whatever the facts contain.
        case forbidden
        /// A number that is not in the facts.
        case number
        /// A name that is not in the facts.
        case name
        /// The text claims that something was done; the facts do not support that.
        case done
        /// The text claims that something was missed; the facts do not support that.
        case missed
        /// The text claims that a due time has passed; the facts do not support that.
        case late
        /// A word that follows neither from the rules' text nor from the person's words, and that the vocabulary does
        /// not allow there.
        case word
        /// The words are those of the rules' text or of the person, but the meaning differs or something essential is
        /// missing.
        case statement
        /// A figure of a digest that is wrong, missing, or does not say what it counts.
        case figure
        /// The due time is not a time, is not ahead, or is more than two years ahead.
        case due

        /// The reason why the rules answered instead, as stored in reports.
        public var reason: String { "output_rejected:\(rawValue)" }
    }

    private let prompts: PromptBook
    private let phrasebook: Phrasebook

    /// - Parameter phrasebook: the phrasebook, whose avoid list names words that are never shown.
    public init(prompts: PromptBook, phrasebook: Phrasebook) {
        self.prompts = prompts
        self.phrasebook = phrasebook
    }

    /// Returns the fault of the text; nil if it may be shown.
    public func refusal(of text: String, for facts: PromptFacts) -> Refusal? {
        let maxLength = facts.task.maxLength ?? 280
        if let refusal = formFault(of: text, maxLength: maxLength) { return refusal }
        guard facts.insertingName(into: text).unicodeScalars.count <= maxLength else { return .length }
        // The rules' own text needs no further check.
        if facts.values[.draft] == text { return nil }
        let textReadings = readings(of: text)
        if textReadings.contains(where: { !phrasebook.disrespectfulPhrases(in: $0).isEmpty }) { return .disrespect }
        if textReadings.contains(where: isForbidden) { return .forbidden }
        if Self.hasUnknownNumber(text, Array(facts.evidence.values)) { return .number }
        if hasUnknownName(text, facts) { return .name }
        return claimFault(in: textReadings, facts) ?? meaningFault(of: text, facts)
    }

    private func isForbidden(_ text: String) -> Bool { !prompts.vocabulary.forbiddenPhrases.labels(in: text).isEmpty }

    /// Returns the fault of a text that does not follow from the facts; nil if the text follows from them.
    private func meaningFault(of text: String, _ facts: PromptFacts) -> Refusal? {
        if facts.task == .summarizeExcuse {
            let words = facts.values[.text] ?? ""
            return SummaryCheck(prompts.vocabulary, of: words, names: facts.memberNames).refusal(of: text)
        }
        if let refusal = RewordingCheck(prompts.vocabulary, facts).refusal(of: text) { return refusal }
        return facts.task == .digest ? FigureCheck(prompts.vocabulary, facts).refusal(of: text) : nil
    }

    /// Returns the fault of a structured answer; nil if it may be shown. Only the description is checked here: its
    /// form, that it is respectful, that it has no number that the person did not use, and its words by
    /// `DescriptionCheck`.
    func refusal(ofFields fields: [String: String], for facts: PromptFacts) -> Refusal? {
        guard let text = fields["description"] else { return nil }
        if let refusal = formFault(of: text, maxLength: facts.task.maxLength ?? 280) { return refusal }
        if readings(of: text).contains(where: { !phrasebook.disrespectfulPhrases(in: $0).isEmpty }) {
            return .disrespect
        }
        let words = facts.values[.text] ?? ""
        if Self.hasUnknownNumber(text, [words]) { return .number }
        return DescriptionCheck(prompts.vocabulary, of: words).refusal(of: text)
    }

    // MARK: Form

    /// Returns the fault in the form of a text: its length, characters, markup or links.
    private func formFault(of text: String, maxLength: Int) -> Refusal? {
        // The number of bytes is checked first, because it is known without reading the text.
        guard text.utf8.count <= maxLength * 4, text.unicodeScalars.count <= maxLength else { return .length }
        guard text.contains(where: \.isLetter) else { return .empty }
        if text.contains(where: \.isNewline) { return .paragraph }
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate: return .control
            default: continue
            }
        }
        if Self.hasMarkup(text) { return .markup }
        if Self.hasLink(text) { return .link }
        let isKnown = text.unicodeScalars.allSatisfy { $0.isASCII || prompts.allowedNonASCIICharacters.contains($0) }
        return isKnown ? nil : .character
    }

    private static func hasMarkup(_ text: String) -> Bool {
        let scalars = Array(text.unicodeScalars)
        if ["-", "\u{2013}", "\u{2014}", "\u{2022}", "+"].contains(scalars.first) { return true }
        for (index, scalar) in scalars.enumerated() {
            if "<>[]{}*_#`|\\^~=".unicodeScalars.contains(scalar) { return true }
            // The start of a character reference, such as `&lt;`.
            if scalar == "&", index + 1 < scalars.count, scalars[index + 1] != " " { return true }
        }
        return false
    }

    private static func hasLink(_ text: String) -> Bool {
        if text.contains("@") || text.contains("://") || text.lowercased().contains("www.") { return true }
        // A full stop after a letter and before two or more letters shows a host name.
        let scalars = Array(text.unicodeScalars)
        return scalars.indices.dropFirst().contains { index in
            scalars[index] == "." && scalars[index - 1].properties.isAlphabetic
                && scalars[(index + 1)...].prefix { $0.properties.isAlphabetic }.count >= 2
        }
    }

    // MARK: Meaning

    /// Returns the text as it is and as a person may read it: with spaces for hyphens and slashes, without marks within
    /// words, and with spaced letters joined to words.
    private func readings(of text: String) -> [String] {
        let hyphens: Set<Character> = ["-", "\u{2013}", "\u{2014}", "/"]
        let textWithSpaces = String(text.map { hyphens.contains($0) ? " " : $0 })
        let textWithoutMarks = String(text.filter { $0.isLetter || $0.isNumber || $0.isWhitespace || $0 == "'" })
        var (textWithJoinedLetters, letters) = ("", "")
        for word in textWithSpaces.split(separator: " ") {
            let wordLetters = word.filter(\.isLetter)
            if wordLetters.count == 1 {
                letters += wordLetters
            } else {
                textWithJoinedLetters += " \(letters) \(word)"
                letters = ""
            }
        }
        return [text, textWithSpaces, textWithoutMarks, "\(textWithJoinedLetters) \(letters)"]
    }

    /// Returns the numbers of a text: digits with the marks between them, as in `4`, `18:00` and `2.5`, and with the
    /// letter before them, as in `l4`, which then differs from the number `4`.
    private static func numbers(in text: String) -> [Substring] {
        var numbers: [Substring] = []
        var rest = text[...]
        while let start = rest.firstIndex(where: \.isNumber) {
            let run = rest[start...].prefix { $0.isNumber || ".,:/".contains($0) }
            let numberStart = rest[..<start].last?.isLetter == true ? rest.index(before: start) : start
            if let last = run.lastIndex(where: \.isNumber) { numbers.append(rest[numberStart...last]) }
            rest = rest[run.endIndex...]
        }
        return numbers
    }

    private static func hasUnknownNumber(_ text: String, _ knownTexts: [String]) -> Bool {
        var numbers: Set<Substring> = []
        for knownText in knownTexts {
            for number in Self.numbers(in: knownText) {
                numbers.insert(number)
                numbers.formUnion(number.split { !$0.isNumber })
            }
        }
        return Self.numbers(in: text).contains { !numbers.contains($0) }
    }

    private func hasUnknownName(_ text: String, _ facts: PromptFacts) -> Bool {
        // Every word with a capital letter in the facts may be repeated.
        let knownWords = Set(facts.evidence.values.flatMap { Self.capitalizedWords($0).map(\.text) })
        let memberNames = Set(facts.memberNames.flatMap { words(in: $0).map(\.text) }).subtracting(knownWords)
        return Self.capitalizedWords(text).contains { word in
            if prompts.capitalizedNonNames.contains(word.text) || knownWords.contains(word.text) { return false }
            return !word.startsSentence || memberNames.contains(word.text)
        }
    }

    /// Returns the words that have a capital letter, in lower case. A word with a capital letter after its first letter
    /// never counts as the start of a sentence.
    private static func capitalizedWords(_ text: String) -> [(text: String, startsSentence: Bool)] {
        var capitalized: [(text: String, startsSentence: Bool)] = []
        var startsSentence = true
        for token in text.split(whereSeparator: { $0.isWhitespace || "-\u{2013}\u{2014}/".contains($0) }) {
            let letters = token.filter { $0.isLetter || $0 == "'" || $0 == "\u{2019}" }
            if letters.contains(where: \.isUppercase) {
                let isPlain = !letters.dropFirst().contains(where: \.isUppercase)
                capitalized += words(in: String(token)).map { ($0.text, startsSentence && isPlain) }
            }
            let end = token.last { !"\"'\u{201D}\u{2019})".contains($0) }
            if !letters.isEmpty || end != nil {
                startsSentence = end.map { ".!?\u{2026}".contains($0) } ?? startsSentence
            }
        }
        return capitalized
    }

    /// Returns the fault of the first claim that the facts do not support; nil if there is none.
    private func claimFault(in textReadings: [String], _ facts: PromptFacts) -> Refusal? {
        // A person's words may prove that something was missed or late, but not that it is done. The other checks prove
        // a claim that the rules' text makes, such as that a nag is not marked as done.
        let personClaims = prompts.claimPhrases.labels(in: facts.evidence[.text] ?? "").subtracting([.done])
        let allowed = facts.claims.union(personClaims)
            .union(prompts.claimPhrases.labels(in: facts.values[.draft] ?? ""))
        let claims = textReadings.reduce(into: Set<Claim>()) { $0.formUnion(prompts.claimPhrases.labels(in: $1)) }
        switch Claim.allCases.first(where: { claims.contains($0) && !allowed.contains($0) }) {
        case .done: return .done
        case .missed: return .missed
        case .late: return .late
        case nil: return nil
        }
    }
}
