/// The help of one command, from which `--help`, `nagz help`, completions and the manual page are made.
struct CommandHelp: Sendable {
    /// An option, argument, command or exit code with its meaning.
    struct Term: Sendable {
        let name: String
        let text: String

        init(_ name: String, _ text: String) { (self.name, self.text) = (name, text) }

        /// Creates the term of a configuration option, with its default and its environment variable.
        /// - Parameter valueName: the name of the value in the help, such as `URL`.
        init(_ option: any AnyOption, _ valueName: String, _ text: String) {
            let notes = [option.variable.map { "else \($0)" }, option.defaultText.map { "default \($0)" }].compactMap(
                \.self)
            self.init(
                "\(option.flag) \(valueName)", notes.isEmpty ? text : "\(text) (\(notes.joined(separator: "; ")))")
        }
    }

    struct Section: Sendable {
        let title: String
        let terms: [Term]
    }

    struct Example: Sendable {
        let purpose: String
        let command: String
    }

    /// The words after `nagz`, such as `audit verify`.
    let name: String
    /// The purpose of the command, which begins with a verb.
    let summary: String
    /// The forms of the command line, without `nagz` and the name.
    let forms: [String]
    /// The explanation, in paragraphs whose line breaks are printed as they are.
    let details: String
    let sections: [Section]
    let exitCodes: [Term]
    let examples: [Example]
    /// Related commands without `nagz`, URLs and names of pages.
    let seeAlso: [String]

    /// - Parameters:
    ///   - options: the terms of the section “Options”.
    ///   - sections: further sections.
    init(
        _ name: String, _ summary: String, forms: [String] = [""], details: String = "", options: [Term] = [],
        sections: [Section] = [], exitCodes: [Term] = [], examples: [(String, String)] = [], seeAlso: [String] = []
    ) {
        (self.name, self.summary, self.forms, self.details) = (name, summary, forms, details)
        self.sections = (options.isEmpty ? [] : [Section(title: "Options", terms: options)]) + sections
        self.exitCodes = exitCodes
        self.examples = examples.map { Example(purpose: $0.0, command: $0.1) }
        self.seeAlso = seeAlso
    }

    /// The first line of the text.
    var heading: String { "nagz \(name) — \(summary)" }

    /// The options in the sections and forms, and `--help`.
    var optionNames: [String] {
        var seen: Set<String> = []
        let names = sections.flatMap(\.terms).map(\.name) + forms
        return (names.joined(separator: " ").matches(of: /--[a-z][a-z-]*/).map { String($0.output) } + ["--help"])
            .filter { seen.insert($0).inserted }
    }

    /// The words that the usage lines have directly after the command, such as the names of shells.
    var argumentWords: [String] {
        forms.compactMap { $0.prefixMatch(of: /[a-z][a-z-]*/).map { String($0.output) } }
    }

    /// Returns the text of the help.
    /// - Parameter commands: the commands of a group, which are listed.
    func text(commands: [CommandHelp] = []) -> String {
        var parts = [
            heading, block("Usage", forms.map { ["nagz", name, $0].filter { !$0.isEmpty }.joined(separator: " ") }),
        ]
        if !details.isEmpty { parts.append(details) }
        if !commands.isEmpty {
            let commandTerms = commands.map { Term(String($0.name.dropFirst(name.count + 1)), $0.summary) }
            parts.append(block("Commands", Self.table(commandTerms)))
        }
        for section in sections { parts.append(block(section.title, Self.table(section.terms))) }
        if !exitCodes.isEmpty { parts.append(block("Exit codes", Self.table(exitCodes))) }
        if !examples.isEmpty {
            parts.append(block("Examples", examples.flatMap { ["# \($0.purpose)", "$ \($0.command)"] }))
        }
        let commandHelp = commands.isEmpty ? [] : ["nagz \(name) COMMAND --help"]
        let related = commandHelp + seeAlso.map { $0.hasPrefix("http") || $0.contains(".md") ? $0 : "nagz \($0)" }
        if !related.isEmpty { parts.append(block("See also", [related.joined(separator: ", ")])) }
        return parts.joined(separator: "\n\n")
    }

    private func block(_ title: String, _ lines: [String]) -> String {
        ([title.uppercased()] + lines.map { "  \($0)" }).joined(separator: "\n")
    }

    /// Returns terms as lines of two columns. A long text is wrapped in its column, and a long name has its own line.
    static func table(_ terms: [Term]) -> [String] {
        let columnWidth = min(28, (terms.map(\.name.count).max() ?? 0) + 2)
        return terms.flatMap { term -> [String] in
            let lines = wrapped(term.text, to: 98 - columnWidth)
            guard term.name.count + 2 <= columnWidth, let first = lines.first else {
                return [term.name] + lines.map { "".padded(to: columnWidth) + $0 }
            }
            return [term.name.padded(to: columnWidth) + first]
                + lines.dropFirst().map { "".padded(to: columnWidth) + $0 }
        }
    }

    private static func wrapped(_ text: String, to width: Int) -> [String] {
        text.split(separator: " ").reduce(into: []) { lines, word in
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
    }
}
