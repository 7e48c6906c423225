import Contract
import Foundation

/// The verbs with their help texts, which completions and the manual page are made of.
enum CommandTexts {
    static let verbs: [(name: String, usage: String)] = [
        ("serve", Serve.usage), ("migrate", Migrate.usage), ("admin", AdminCommand.usage),
        ("audit", AuditCommand.usage), ("seed", Seed.usage), ("device", DeviceCommand.usage),
        ("models", ModelCommand.usage), ("config", ConfigCommand.usage),
        ("doctor", DoctorCommand.usage), ("restore-check", RestoreCheckCommand.usage), ("routes", Catalogue.usage),
        ("completion", Completion.usage), ("manual", Manual.usage),
    ]

    static func usage(of verb: String) -> String? { verbs.first { $0.name == verb }?.usage }

    /// What may follow the verb in its usage: names of actions, then options, each once.
    static func words(of verb: (name: String, usage: String)) -> [String] {
        var words: [String] = []
        let usage = verb.usage + (Options.checkingVerbs.contains(verb.name) ? "\n\(Serve.usage)" : "")
        for line in usage.split(separator: "\n") {
            if let action = line.firstMatch(of: /^(?:usage:)?\s+nagz [a-z]+ +([a-z][a-z-]*)(?:\s|$)/)?.output.1,
                line.contains("nagz \(verb.name) ")
            {
                words.append(String(action))
            }
            for option in line.matches(of: /--[a-z][a-z-]*/) { words.append(String(option.output)) }
        }
        var seen: Set<String> = []
        let isAction = { (word: String) in !word.hasPrefix("-") }
        let unique = (words + ["--help"]).filter { seen.insert($0).inserted }
        return unique.filter(isAction) + unique.filter { !isAction($0) }
    }
}

/// `nagz completion`: a script that completes verbs, actions and options in a shell.
enum Completion {
    static let usage = """
        nagz completion — prints a script that completes verbs, actions and options

        usage: nagz completion bash    for ~/.bashrc:  source <(nagz completion bash)
               nagz completion zsh     for ~/.zshrc, after compinit:  source <(nagz completion zsh)
        """

    static func run(_ arguments: Arguments) throws {
        var arguments = arguments
        let shell = arguments.next()
        try arguments.finish()
        switch shell {
        case "bash": print(ownText: bash)
        case "zsh": print(ownText: "autoload -U +X bashcompinit && bashcompinit\n\(bash)")
        default: throw Stop(.usage, "completion takes bash or zsh")
        }
    }

    /// A file name is completed where neither a verb nor an option is.
    private static var bash: String {
        let cases = CommandTexts.verbs.map { verb in
            "        \(verb.name)) words='\(CommandTexts.words(of: verb).joined(separator: " "))' ;;"
        }
        let verbs = CommandTexts.verbs.map(\.name).joined(separator: " ")
        return """
            _nagz() {
                local words='\(verbs) --help --version' word=${COMP_WORDS[COMP_CWORD]}
                if [ "$COMP_CWORD" -gt 1 ]; then
                    case "${COMP_WORDS[1]}" in
            \(cases.joined(separator: "\n"))
                    *) words='' ;;
                    esac
                fi
                COMPREPLY=($(compgen -W "$words" -- "$word"))
            }
            complete -o default -F _nagz nagz
            """
    }
}

/// `nagz manual`: the manual page.
enum Manual {
    static let usage = """
        nagz manual — prints the manual page, made of the help texts

        usage: nagz manual > nagz.1    then:  man ./nagz.1
        """

    static func run(_ arguments: Arguments) throws {
        try arguments.finish()
        let name = escaped(firstLine(of: Nagz.usage)).replacing(" — ", with: " \\- ")
        print(ownText: ".TH NAGZ 1 \"\" \"nagz \(NagzVersion.current)\"\n.SH NAME\n\(name)")
        print(ownText: ".SH SYNOPSIS\n\(verbatim(rest(of: Nagz.usage)))")
        for (name, usage) in CommandTexts.verbs {
            print(
                ownText: ".SH NAGZ \(name.uppercased())\n\(escaped(firstLine(of: usage)))\n\(verbatim(rest(of: usage)))"
            )
        }
    }

    private static func firstLine(of text: String) -> String { String(text.prefix { $0 != "\n" }) }
    private static func rest(of text: String) -> String { String(text.drop { $0 != "\n" }.drop { $0 == "\n" }) }

    /// Lines that keep their breaks and blanks.
    private static func verbatim(_ text: String) -> String { ".PP\n.nf\n\(escaped(text))\n.fi" }

    /// Hyphens that can be copied, and no line that is a command of the formatter.
    private static func escaped(_ text: String) -> String {
        let lines = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
            .split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { $0.hasPrefix(".") || $0.hasPrefix("'") ? "\\&\($0)" : "\($0)" }.joined(separator: "\n")
    }
}
