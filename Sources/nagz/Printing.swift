import Domain
import Foundation
import JSON

/// Prints one line on standard output. It replaces Swift's function of this name, so that other people's texts can
/// neither command the terminal nor begin a line.
func print(_ items: Any..., separator: String = " ") {
    Swift.print(safeLine(items.map { String(describing: $0) }.joined(separator: separator)))
}

/// Prints text as it is, with its line breaks. Other people's words in it must have been escaped with `safeLine`.
func print(ownText: String) { Swift.print(ownText) }

/// Prints one JSON document on standard output.
func print(json: JSONValue) { print(json: json.description) }

/// Prints one JSON document, with escapes for characters that would command a terminal or reorder its text.
func print(json: String) {
    var document = ""
    for scalar in json.unicodeScalars {
        // Such characters occur only in strings, where JSON allows an escape for any character.
        let needsEscape = (0x7F...0x9F).contains(scalar.value) || scalar.properties.isBidiControl
        if needsEscape {
            document += "\\u" + String(scalar.value + 0x1_0000, radix: 16).dropFirst()
        } else {
            document.unicodeScalars.append(scalar)
        }
    }
    Swift.print(document)
}

/// Prints one line on standard error, as `print` does on standard output.
func printError(_ line: String) {
    try? FileHandle.standardError.write(contentsOf: Data("\(safeLine(line))\n".utf8))
}

/// Returns a number with its noun: `1 row`, `2 rows`.
/// - Parameter plural: the plural; nil for the noun with an s.
func counted(_ count: some BinaryInteger, _ noun: String, _ plural: String? = nil) -> String {
    "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
}

/// Returns the rows of a table as lines, with each column as wide as its longest text.
func aligned(_ rows: [[String]]) -> [String] {
    let rows = rows.map { $0.map { safeLine($0) } }
    let widths = rows.reduce(into: [Int]()) { widths, row in
        for (column, text) in row.enumerated() {
            if column == widths.count { widths.append(0) }
            widths[column] = max(widths[column], text.count)
        }
    }
    return rows.map { row in
        zip(row, widths).enumerated().map { $0 == row.count - 1 ? $1.0 : $1.0.padded(to: $1.1) }.joined(separator: "  ")
    }
}
