import SeededNumbers

/// Changes a text as somebody does who wants to get past a check: other words for the same, other spaces, letters that look
/// alike, words that are cut, and courtesy around it. What it says stays the same.
struct TextMutator {
    var random: SeededNumbers

    private static let synonyms: [String: [String]] = [
        "chore": ["task", "job", "duty"], "task": ["chore", "job"], "homework": ["schoolwork", "study"],
        "medicine": ["meds", "drug", "remedy"], "appointment": ["date", "visit"], "child": ["kid", "boy", "girl"],
        "take": ["swallow", "grab"], "two": ["2", "both"], "twice": ["two times", "double"],
        "help": ["support", "assist"],
        "done": ["completed", "finished"], "missed": ["skipped", "left out"], "later": ["afterwards", "in a while"],
        "wait": ["rest", "pause"], "stop": ["quit", "end"], "give": ["hand", "send"], "tell": ["say to", "inform"],
        "nobody": ["no one", "none"], "family": ["home", "house"], "begin": ["start"], "start": ["begin"],
        "ready": ["prepared", "all set"], "remember": ["recall"], "easier": ["simpler"], "easy": ["simple"],
        "voice": ["tone"], "nag": ["item", "task"], "nags": ["tasks", "items"], "keep": ["stick to", "hold"],
        "now": ["right away", "at once"], "no": ["not any", "zero"], "all": ["everything", "the whole"],
        "someone": ["somebody"], "overdue": ["past due"], "time": ["hour", "moment"],
        "forgot": ["forgets", "did forget"],
    ]
    private static let lookalikes: [Character: [Character]] = [
        "a": ["\u{430}", "\u{FF41}", "\u{E0}", "@"], "e": ["\u{435}", "\u{E9}", "3"], "o": ["\u{43E}", "0", "\u{F3}"],
        "i": ["\u{456}", "1", "\u{EF}"], "l": ["1", "I"], "s": ["\u{455}", "5"], "c": ["\u{441}"], "p": ["\u{440}"],
        "t": ["7"], "u": ["\u{FC}"], "n": ["\u{F1}"], "y": ["\u{443}"],
    ]
    private static let courtesies = [
        "Please, ", "Hello! ", "Just a short reminder: ", "A friendly reminder: ", "Thank you. ", "Hi there, ",
        "Just so you know, ", "You can do this! ",
    ]

    mutating func variant(of text: String) -> String {
        var text = text
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            switch Int.random(in: 0..<6, using: &random) {
            case 0: text = withSynonym(text)
            case 1: text = withSpaces(text)
            case 2: text = withLookalike(text)
            case 3: text = cut(text)
            case 4: text = (Self.courtesies.randomElement(using: &random) ?? "") + text
            default:
                text = text + ([" Thank you.", " You can do this.", " Please."].randomElement(using: &random) ?? "")
            }
        }
        return text
    }

    private mutating func withSynonym(_ text: String) -> String {
        var words = text.split(separator: " ").map(String.init)
        let known = words.indices.filter { Self.synonyms[Self.bare(words[$0])] != nil }
        guard let index = known.randomElement(using: &random) else { return text }
        let bare = Self.bare(words[index])
        let other = Self.synonyms[bare]?.randomElement(using: &random) ?? bare
        words[index] = words[index].lowercased().replacing(bare, with: other)
        return words.joined(separator: " ")
    }

    private static func bare(_ word: String) -> String { word.lowercased().filter(\.isLetter) }

    private mutating func withSpaces(_ text: String) -> String {
        let space = [" ", "  ", "\u{A0}", "\u{2009}", " - ", ", "].randomElement(using: &random) ?? " "
        guard let index = text.indices.filter({ text[$0] == " " }).randomElement(using: &random) else { return text }
        return text[..<index] + space + text[text.index(after: index)...]
    }

    private mutating func withLookalike(_ text: String) -> String {
        let known = text.indices.filter { Self.lookalikes[text[$0]] != nil }
        guard let index = known.randomElement(using: &random), let others = Self.lookalikes[text[index]],
            let other = others.randomElement(using: &random)
        else { return text }
        return text[..<index] + String(other) + text[text.index(after: index)...]
    }

    private mutating func cut(_ text: String) -> String {
        let inner = text.indices.dropFirst().filter { text[$0].isLetter && text[text.index(before: $0)].isLetter }
        guard let index = inner.randomElement(using: &random) else { return text }
        let mark = [" ", "-", "'", ".", "\u{AD}", "\u{200B}"].randomElement(using: &random) ?? " "
        return text[..<index] + mark + text[index...]
    }
}
