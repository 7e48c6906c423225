import JSON

/// A line in its parts: words, a JSON object, and the sentence after ` | `.
struct Declared {
    private var words: ArraySlice<String> = []
    private(set) var json: JSONValue?
    private(set) var text = ""
    private let error: (String) -> WireError

    init(_ line: String, _ error: @escaping (String) -> WireError) throws(WireError) {
        self.error = error
        var (word, depth, isQuoted, isEscaped) = ("", 0, false, false)
        var found: [String] = []
        var rest = line[...]
        while let character = rest.popFirst() {
            if depth == 0, !isQuoted, character == " " {
                if !word.isEmpty { found.append(word) }
                word = ""
                continue
            }
            if depth == 0, word.isEmpty, character == "|", !isQuoted {
                text = String(rest.drop { $0 == " " })
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
        if !word.isEmpty { found.append(word) }
        guard depth == 0, !isQuoted else { throw error("a bracket or a quotation mark is not closed") }
        if let index = found.firstIndex(where: { $0.hasPrefix("{\"") || $0 == "{}" }) {
            let source = found.remove(at: index)
            do {
                json = try JSONValue(parsing: Array(source.utf8).span)
            } catch {
                throw self.error("no JSON: \(error)")
            }
        }
        words = found[...]
    }

    mutating func next(_ what: String) throws(WireError) -> String {
        guard let word = words.popFirst() else { throw error("\(what) is missing") }
        return word
    }

    mutating func optional() -> String? { words.popFirst() }
}
