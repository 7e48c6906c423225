import JSON

/// The parts of a line of declarations: words, a JSON object, and the sentence after ` | `.
struct DeclarationLine {
    private var words: ArraySlice<String> = []
    private(set) var json: JSONValue?
    /// The sentence; empty without one.
    private(set) var sentence = ""
    private let error: (String) -> WireError

    init(_ line: String, _ error: @escaping (String) -> WireError) throws(WireError) {
        self.error = error
        var (word, depth, isQuoted, isEscaped) = ("", 0, false, false)
        var foundWords: [String] = []
        var rest = line[...]
        while let character = rest.popFirst() {
            if depth == 0, !isQuoted, character == " " {
                if !word.isEmpty { foundWords.append(word) }
                word = ""
                continue
            }
            if depth == 0, word.isEmpty, character == "|", !isQuoted {
                sentence = String(rest.drop { $0 == " " })
                break
            }
            word.append(character)
            if isEscaped { isEscaped = false; continue }
            switch character {
            case "\\": isEscaped = isQuoted
            case "\"": isQuoted.toggle()
            case "{", "[", "(", "<": if !isQuoted { depth += 1 }
            case "}", "]", ")", ">": if !isQuoted { depth -= 1 }
            default: break
            }
        }
        if !word.isEmpty { foundWords.append(word) }
        guard depth == 0, !isQuoted else { throw error("a bracket or a quotation mark is not closed") }
        if let index = foundWords.firstIndex(where: { $0.hasPrefix("{\"") || $0 == "{}" }) {
            let source = foundWords.remove(at: index)
            do {
                json = try JSONValue(parsing: Array(source.utf8).span)
            } catch {
                throw self.error("no JSON: \(error)")
            }
        }
        words = foundWords[...]
    }

    /// Returns the next word.
    /// - Throws: an error that names the expected part, if no word is left.
    mutating func nextWord(_ expected: String) throws(WireError) -> String {
        guard let word = words.popFirst() else { throw error("\(expected) is missing") }
        return word
    }

    /// Returns the next word; nil if none is left.
    mutating func nextWordIfPresent() -> String? { words.popFirst() }
}
