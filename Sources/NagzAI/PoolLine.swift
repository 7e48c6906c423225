/// One line of a pool file, which lists texts by key: the words of the key, a bar, and a text.
struct PoolLine {
    /// The number of the line, from 1.
    let number: Int
    /// The words before the bar: the kind of the text, and its keys.
    let words: [Substring]
    /// The text after the bar, trimmed and not empty.
    let text: String

    /// Calls `body` with each line of a pool file: UTF-8, one `key | text` per line; `#` comments and empty lines are
    /// allowed. An error that `body` throws is thrown again with the number of the line.
    static func read(
        _ bytes: [UInt8], maxTextLength: Int, _ body: (PoolLine) throws(PoolProblem) -> Void
    ) throws(PoolError) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw PoolError(line: nil, problem: "not UTF-8")
        }
        // `\r\n` is one Character, for which `isNewline` is true.
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let trimmed = line.trimmed
            if trimmed.isEmpty || trimmed.first == "#" { continue }
            do throws(PoolProblem) {
                try body(PoolLine(trimmed, number: index + 1, maxTextLength: maxTextLength))
            } catch {
                throw PoolError(line: index + 1, problem: error.text)
            }
        }
    }

    private init(_ line: Substring, number: Int, maxTextLength: Int) throws(PoolProblem) {
        guard let bar = line.firstIndex(of: "|") else { throw PoolProblem("no bar between key and text") }
        self.number = number
        words = line[..<bar].split(whereSeparator: \.isWhitespace)
        text = String(line[line.index(after: bar)...].trimmed)
        guard !text.isEmpty else { throw PoolProblem("no text") }
        guard text.count <= maxTextLength else { throw PoolProblem("more than \(maxTextLength) characters") }
    }
}

/// An error in a pool file.
public struct PoolError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The number of the line, from 1; nil for an error of the whole file.
    public let line: Int?
    public let problem: String

    public var description: String { line.map { "line \($0): \(problem)" } ?? problem }
}

/// An error in one line of a pool file.
struct PoolProblem: Error {
    let text: String
    init(_ text: String) { self.text = text }
}

extension StringProtocol {
    /// The text without leading and trailing white space.
    var trimmed: SubSequence {
        guard let first = firstIndex(where: { !$0.isWhitespace }),
            let last = lastIndex(where: { !$0.isWhitespace })
        else { return self[endIndex...] }
        return self[first...last]
    }
}
