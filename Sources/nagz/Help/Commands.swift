import Contract

/// The commands of the program, and the errors about wrong ones.
enum Commands {
    /// The commands of the first level, in groups.
    static let groups: [(title: String, commands: [CommandHelp])] = [
        ("Server", [ServerHelp.serve, ServerHelp.migrate, ServerHelp.doctor, ServerHelp.config, ServerHelp.seed]),
        ("Administration", [AdminHelp.admin, AuditHelp.audit, ServerHelp.restoreCheck]),
        ("Device", [DeviceHelp.device, ModelHelp.models]),
        ("Reference", [OwnHelp.routes, OwnHelp.help, OwnHelp.completion, OwnHelp.manual, OwnHelp.version]),
    ]

    static let all =
        groups.flatMap(\.commands) + ServerHelp.subcommands + AdminHelp.subcommands + AuditHelp.subcommands
        + DeviceHelp.subcommands + ModelHelp.subcommands

    /// All commands in the order of the manual page: each one of the first level, followed by those below it.
    static var allInManualOrder: [CommandHelp] {
        verbs.flatMap { verb in all.filter { $0.name == verb || $0.name.hasPrefix("\(verb) ") } }
    }

    /// The names of the commands of the first level.
    static let verbs = groups.flatMap(\.commands).map(\.name)

    /// Returns the commands below one, such as `audit verify` below `audit`.
    static func subcommands(of name: String) -> [CommandHelp] {
        let depth = name.split(separator: " ").count + 1
        return all.filter { $0.name.hasPrefix(name + " ") && $0.name.split(separator: " ").count == depth }
    }

    /// Returns the command that the words name; nil if the first word is no command. Options and values between the
    /// words are ignored.
    static func help(ofCommandIn words: [String]) -> CommandHelp? {
        guard var command = all.first(where: { $0.name == words.first }) else { return nil }
        for word in words.dropFirst() {
            if let next = all.first(where: { $0.name == "\(command.name) \(word)" }) { command = next }
        }
        return command
    }

    static func helpText(of help: CommandHelp) -> String { help.text(commands: subcommands(of: help.name)) }

    /// The text of `nagz help`.
    static var overview: String {
        let lists = groups.map { group in
            let terms = group.commands.map { CommandHelp.Term($0.name, $0.summary) }
            let width = (verbs.map(\.count).max() ?? 0) + 2
            let lines = terms.map { "  \($0.name.padded(to: width))\($0.text)" }
            return "\(group.title.uppercased())\n\(lines.joined(separator: "\n"))"
        }
        return """
            nagz — a backend for family task coordination

            USAGE
              nagz COMMAND [OPTION …]
              nagz help COMMAND

            \(lists.joined(separator: "\n\n"))

            DATABASE
              Commands that need the database take --database-url URL, a libpq connection string. Without it serve
              reads DATABASE_URL, the server's login; the others read NAGZ_OWNER_DATABASE_URL, the login of the schema's
              owner, or else DATABASE_URL. --config FILE names a file of options: nagz help config.

            EXAMPLES
              # Check the configuration, then run the server
              $ nagz doctor && nagz serve
              # Sign in as a family member, and list their nags
              $ nagz device login --server https://nagz.example.org --email ada@example.org
              $ nagz device sync && nagz device nags

            EXIT CODES
              0 done, 64 wrong usage, 69 database unavailable, 73 port in use, 78 configuration; audit, device and
              models have more.

            SEE ALSO
              nagz manual prints all help texts as a manual page.
            """
    }

    // MARK: Errors

    /// Returns the error for an unknown command, with the name of a similar command if there is one.
    static func unknownCommandError(_ words: [String]) -> Stop {
        let parent = words.dropLast().joined(separator: " ")
        let names = parent.isEmpty ? verbs : subcommands(of: parent).map { String($0.name.dropFirst(parent.count + 1)) }
        let hint = KnownNames.nearest(to: words.last ?? "", of: Set(names)).map { " Did you mean \($0)?" } ?? ""
        let helpCommand = ["nagz", parent, "--help"].filter { !$0.isEmpty }.joined(separator: " ")
        return Stop(.usage, "unknown command “\(words.joined(separator: " "))”.\(hint) See \(helpCommand)")
    }

    /// Returns the error for a group of commands that was called without one of them, such as `nagz audit`.
    static func missingCommandError(in parent: String) -> Stop {
        let names = subcommands(of: parent).map { String($0.name.dropFirst(parent.count + 1)) }
        return Stop(
            .usage, "no command given: nagz \(parent) has \(names.joined(separator: ", ")); see nagz \(parent) --help")
    }

    /// Returns the error for an unknown argument, with the name of a similar option if there is one.
    /// - Parameter words: the words of the command.
    static func unknownArgumentError(_ word: String, of words: [String]) -> Stop {
        guard let help = help(ofCommandIn: words) else {
            return Stop(.usage, "unknown argument “\(word)”; see nagz --help")
        }
        var options = Set(help.optionNames)
        if let verb = words.first { options.formUnion(Options.all.filter { $0.isAccepted(by: verb) }.map(\.flag)) }
        let hint = word.hasPrefix("-") ? KnownNames.nearest(to: word, of: options).map { " Did you mean \($0)?" } : nil
        return Stop(.usage, "unknown argument “\(word)”.\(hint ?? "") See nagz \(help.name) --help")
    }
}
