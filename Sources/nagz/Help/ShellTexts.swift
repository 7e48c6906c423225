import Contract

/// `nagz completion`: prints a script that completes commands and options in a shell.
enum Completion {
    static func run(_ arguments: Arguments) throws {
        var arguments = arguments
        let shell = arguments.takeNext()
        try arguments.finish()
        switch shell {
        case "bash": print(ownText: bash)
        case "zsh": print(ownText: "autoload -U +X bashcompinit && bashcompinit\n\(bash)")
        default: throw Stop(.usage, "completion takes bash or zsh")
        }
    }

    /// The script for bash. If no command or option fits, it completes file names.
    private static var bash: String {
        // The shell takes the first pattern that fits, so the longest names come first.
        let commands = Commands.all.sorted { $0.name.count > $1.name.count }
        let cases = commands.map { "        '\($0.name) '*) words='\(words(of: $0).joined(separator: " "))' ;;" }
        return """
            _nagz() {
                local words='\(Commands.verbs.joined(separator: " ")) --help --version' word=${COMP_WORDS[COMP_CWORD]}
                local line="${COMP_WORDS[*]:1:COMP_CWORD-1} "
                case "$line" in
            \(cases.joined(separator: "\n"))
                ?*' ') words='' ;;
                esac
                COMPREPLY=($(compgen -W "$words" -- "$word"))
            }
            complete -o default -F _nagz nagz
            """
    }

    /// Returns the words that may follow a command: names of commands below it, its arguments, then its options. After
    /// `help` the names are those of the first level.
    private static func words(of help: CommandHelp) -> [String] {
        let subcommands = Commands.subcommands(of: help.name).map { String($0.name.dropFirst(help.name.count + 1)) }
        let names = help.name == "help" ? Commands.verbs : subcommands
        let verb = help.name.prefix { $0 != " " }
        let takesServeOptions = verb == "config" || Options.checkingVerbs.contains(String(verb))
        let serveOptions = takesServeOptions ? ServerHelp.serve.optionNames : []
        var seen: Set<String> = []
        return (names + help.argumentWords + help.optionNames + serveOptions).filter { seen.insert($0).inserted }
    }
}

/// `nagz manual`: prints the manual page.
enum Manual {
    static func run(_ arguments: Arguments) throws {
        try arguments.finish()
        let name = escaped(firstLine(of: Commands.overview)).replacing(" — ", with: " \\- ")
        print(ownText: ".TH NAGZ 1 \"\" \"nagz \(NagzVersion.current)\"\n.SH NAME\n\(name)")
        print(ownText: ".SH SYNOPSIS\n\(verbatim(rest(of: Commands.overview)))")
        for help in Commands.allInManualOrder {
            let (title, text) = ("NAGZ \(help.name.uppercased())", Commands.helpText(of: help))
            print(ownText: ".SH \(title)\n\(escaped(firstLine(of: text)))\n\(verbatim(rest(of: text)))")
        }
    }

    private static func firstLine(of text: String) -> String { String(text.prefix { $0 != "\n" }) }
    private static func rest(of text: String) -> String { String(text.drop { $0 != "\n" }.drop { $0 == "\n" }) }

    /// Formats lines so that their breaks and spaces are kept.
    private static func verbatim(_ text: String) -> String { ".PP\n.nf\n\(escaped(text))\n.fi" }

    /// Escapes hyphens, so that they can be copied, and lines that would be commands of the formatter.
    private static func escaped(_ text: String) -> String {
        let lines = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
            .split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { $0.hasPrefix(".") || $0.hasPrefix("'") ? "\\&\($0)" : "\($0)" }.joined(separator: "\n")
    }
}
