import Contract
import Foundation
import Postgres
import Reactor
import Server

/// The command line: one command, its options, and an exit code that scripts can use.
@main
struct Nagz {
    /// Runs a command. It is not asynchronous, because `serve` has to block signals before there is a second thread.
    static func main() {
        do {
            let words = Array(CommandLine.arguments.dropFirst())
            var arguments = Arguments(words)
            if arguments.asksForHelp, let help = Commands.help(ofCommandIn: words) {
                return print(ownText: Commands.helpText(of: help))
            }
            let verb = arguments.takeNext()
            if let verb, Options.readsConfiguration(verb) {
                try arguments.readConfiguration(of: verb, ProcessInfo.processInfo.environment)
            }
            switch verb {
            case "serve":
                // The server must survive if the reader of its output ends; other commands end with their reader.
                signal(SIGPIPE, SIG_IGN)
                let signals = try TerminationSignals()
                runToEnd { [arguments] in try await Serve.run(arguments, signals) }
            case "migrate": runToEnd { [arguments] in try await Migrate.run(arguments) }
            case "device": runToEnd { [arguments] in try await DeviceCommand.run(arguments) }
            case "models": runToEnd { [arguments] in try await ModelCommand.run(arguments) }
            case "seed": runToEnd { [arguments] in try await Seed.run(arguments) }
            case "audit": runToEnd { [arguments] in try await AuditCommand.run(arguments) }
            case "admin": runToEnd { [arguments] in try await AdminCommand.run(arguments) }
            case "config": try ConfigCommand.run(arguments)
            case "doctor": runToEnd { [arguments] in try await DoctorCommand.run(arguments) }
            case "restore-check": runToEnd { [arguments] in try await RestoreCheckCommand.run(arguments) }
            case "routes": try RoutesCommand.printRoutes(arguments)
            case "help": try showHelp(&arguments)
            case "completion": try Completion.run(arguments)
            case "manual": try Manual.run(arguments)
            case "--version", "version":
                try arguments.finish()
                print("nagz \(NagzVersion.current)")
            case "--help", "-h", nil: print(ownText: Commands.overview)
            case let verb?: throw Commands.unknownCommandError([verb])
            }
        } catch {
            exit(with: error)
        }
    }

    private static func showHelp(_ arguments: inout Arguments) throws {
        var words: [String] = []
        while let word = arguments.takeNext() { words.append(word) }
        guard !words.isEmpty else { return print(ownText: Commands.overview) }
        guard let help = Commands.help(ofCommandIn: words), help.name == words.joined(separator: " ") else {
            throw Commands.unknownCommandError(words)
        }
        print(ownText: Commands.helpText(of: help))
    }

    /// Runs an asynchronous command, then ends the process.
    private static func runToEnd(_ command: sending @escaping () async throws -> Void) -> Never {
        Task.detached {
            do {
                try await command()
                exitWithoutHandlers(0)
            } catch {
                exit(with: error)
            }
        }
        // dispatchMain() is not used, because it unblocks signals in the main thread.
        while true { pause() }
    }

    private static func exit(with error: any Error) -> Never {
        (error as? Stop ?? Stop(.unavailable, "\(error)")).exit()
    }

    /// Ends the process without running the handlers of `exit`: OpenSSL's handler frees memory that an event loop may
    /// still use for a new connection.
    static func exitWithoutHandlers(_ code: Int32) -> Never {
        fflush(nil)
        _exit(code)
    }
}

/// An error that ends the program with an exit code and one line on standard error.
struct Stop: Error {
    /// Exit codes, from sysexits.h where one fits.
    enum Code: Int32 {
        /// `nagz audit verify`, `witness`: the audit log was tampered with; `reconcile`: it does not explain the
        /// database's state.
        case tampered = 1
        /// `nagz audit verify` and `reconcile`: not everything could be checked; `export`: it stopped before the end.
        case incomplete = 2
        /// The command line or the configuration file is wrong.
        case usage = 64
        /// The server or this device refused the change, or the person did not confirm it.
        case notApplied = 65
        case notFound = 66
        /// The database, a server or a model does not answer, or an unexpected error occurred.
        case unavailable = 69
        case portTaken = 73
        /// A file of the device or of a model cannot be read or written, or another error occurred on the device.
        case inputOutput = 74
        /// The command can succeed later: a server or another process is busy, the command was interrupted, or the
        /// cache must be downloaded again.
        case tryLater = 75
        /// A server's response breaks the protocol, or a download differs from the catalogue.
        case protocolFault = 76
        /// `nagz device`: the person is not signed in, or the server, a consent, a preference or a constraint forbids
        /// the command.
        case noPermission = 77
        /// Something that the command needs is missing or wrong: an environment variable, a file, or the state of the
        /// database.
        case configuration = 78
        /// `nagz device`: the server's audit log cannot be trusted. Its checkpoint is missing, invalid or not signed by a
        /// trusted key, or the log does not extend the one that this device has seen.
        case logBroken = 79
    }

    let code: Code
    let message: String

    /// - Parameter message: one line for people, without the program's name.
    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Creates the error for a failure of the database in a command that works as the schema's owner.
    init(ownerDatabaseError fault: PostgresError) {
        let needsOwner = fault.sqlState == "42501"
        let hint = ": set NAGZ_OWNER_DATABASE_URL to the login of the schema's owner"
        self.init(needsOwner ? .configuration : .unavailable, fault.description + (needsOwner ? hint : ""))
    }

    func exit() -> Never {
        printError("nagz: \(message)")
        Nagz.exitWithoutHandlers(code.rawValue)
    }
}

/// The words after `nagz`.
struct Arguments {
    private var words: [String]
    /// The words that `takeNext` has returned, which begin with the command.
    private var consumedWords: [String] = []
    /// The options of the configuration; none before `readConfiguration` was called.
    private(set) var givenOptions = GivenOptions(environment: [:], file: nil)

    /// Splits `--option=value` into two words.
    init(_ words: [String]) {
        self.words = words.flatMap { word -> [String] in
            guard word.isOption, let sign = word.firstIndex(of: "=") else { return [word] }
            return [String(word[..<sign]), String(word[word.index(after: sign)...])]
        }
    }

    /// Stores the configuration options of the command line, the environment and the configuration file in
    /// `givenOptions`. It removes those of the command line from the words.
    mutating func readConfiguration(of verb: String, _ environment: [String: String]) throws {
        givenOptions = try takeOptions(of: verb, environment: environment)
    }

    var asksForHelp: Bool { words.contains("--help") || words.contains("-h") }

    /// Removes and returns the first word, even if it is an option; nil if none remains.
    mutating func takeNext() -> String? {
        guard !words.isEmpty else { return nil }
        consumedWords.append(words.removeFirst())
        return consumedWords.last
    }

    /// Removes an option and returns its value; nil without the option.
    mutating func takeValue(_ name: String) throws -> String? {
        guard let index = words.firstIndex(of: name) else { return nil }
        guard index + 1 < words.count, !words[index + 1].isOption else {
            throw Stop(.usage, "\(name) needs a value")
        }
        defer { words.removeSubrange(index...(index + 1)) }
        return words[index + 1]
    }

    /// Removes an option and returns its number; nil without the option.
    mutating func takeNumber(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
        guard let text = try takeValue(name) else { return nil }
        do throws(OptionError) { return try Options.parseNumber(text, in: range) } catch {
            throw Stop(.usage, "\(name) \(error.text)")
        }
    }

    /// Removes a switch and returns its value, which is “on” if none follows; nil without the switch.
    mutating func takeSwitch(_ name: String) -> String? {
        guard let index = words.firstIndex(of: name) else { return nil }
        words.remove(at: index)
        guard index < words.count, ["on", "off"].contains(words[index]) else { return "on" }
        return words.remove(at: index)
    }

    /// Removes a flag, and returns whether it was given.
    mutating func takeFlag(_ name: String) -> Bool {
        guard let index = words.firstIndex(of: name) else { return false }
        words.remove(at: index)
        return true
    }

    /// Refuses remaining arguments as unknown. Call it after all options were removed.
    func finish() throws {
        if let word = words.first { throw Commands.unknownArgumentError(word, of: consumedWords) }
    }

    /// Removes an option that may be given several times, and returns its values.
    mutating func takeValues(_ name: String) throws -> [String] {
        var values: [String] = []
        while let value = try takeValue(name) { values.append(value) }
        return values
    }

    /// Returns the database's URL for commands that work as the schema's owner.
    func ownerDatabaseURL() throws -> String {
        let ownerURL =
            givenOptions.commandLine["database-url"] == nil ? try givenOptions[Options.ownerDatabaseURL] : nil
        guard let url = try ownerURL ?? givenOptions[Options.databaseURL] else {
            throw Stop(
                .configuration,
                "no database: set NAGZ_OWNER_DATABASE_URL or pass --database-url (deploy/run makes one)")
        }
        return url
    }
}

extension String {
    fileprivate var isOption: Bool { hasPrefix("--") && dropFirst(2).first?.isLetter == true }
}
