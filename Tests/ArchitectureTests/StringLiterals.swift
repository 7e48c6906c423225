/// The string literals in a piece of Swift code.
struct StringLiterals {
    /// Each literal with `{}` for an interpolation. A literal with an interpolated choice between two literals is there
    /// once for each; literals in other interpolations are there by themselves.
    private(set) var texts: [String] = []

    private let code: [Character]
    private var index = 0

    init(in code: String) {
        self.code = Array(code)
        while index < self.code.count {
            if self.code[index] == "\"" { texts += literal() } else { index += 1 }
        }
    }

    /// Reads a literal of one line, from its opening to its closing quotation mark.
    private mutating func literal() -> [String] {
        var texts = [""]
        index += 1
        while index < code.count, code[index] != "\"", code[index] != "\n" {
            if code[index] == "\\" {
                index += 1
                if code[index] == "(" {
                    let parts = Self.choice(interpolation())
                    texts = texts.flatMap { text in parts.map { text + $0 } }
                    continue
                }
            }
            texts = texts.map { $0 + String(code[index]) }
            index += 1
        }
        index += 1
        return texts
    }

    /// Reads an interpolation with its parentheses, and returns the code between them.
    private mutating func interpolation() -> String {
        let start = index + 1
        var depth = 0
        repeat {
            switch code[index] {
            case "(": depth += 1
            case ")": depth -= 1
            case "\"":
                texts += literal()
                continue
            default: break
            }
            index += 1
        } while depth > 0 && index < code.count
        return String(code[start..<index - 1])
    }

    /// Returns both texts of `condition ? "text" : "other"`; otherwise the placeholder.
    private static func choice(_ interpolation: String) -> [String] {
        guard let found = interpolation.wholeMatch(of: /.*\? "([^"]*)" : "([^"]*)"/) else { return ["{}"] }
        return [String(found.output.1), String(found.output.2)]
    }
}
