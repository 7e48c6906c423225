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
            if arguments.asksForHelp, let help = Commands.help(of: words) {
                return print(ownText: Commands.text(of: help))
            }
            let verb = arguments.next()
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
            case "routes": try Catalogue.printRoutes(arguments)
            case "help": try showHelp(&arguments)
            case "completion": try Completion.run(arguments)
            case "manual": try Manual.run(arguments)
            case "--version", "version":
                try arguments.finish()
                print("nagz \(NagzVersion.current)")
            case "--help", "-h", nil: print(ownText: Commands.overview)
            case let verb?: throw Commands.unknown([verb])
            }
        } catch {
            end(error)
        }
    }

    private static func showHelp(_ arguments: inout Arguments) throws {
        var words: [String] = []
        while let word = arguments.next() { words.append(word) }
        guard !words.isEmpty else { return print(ownText: Commands.overview) }
        guard let help = Commands.help(of: words), help.name == words.joined(separator: " ") else {
            throw Commands.unknown(words)
        }
        print(ownText: Commands.text(of: help))
    }

    /// Runs an asynchronous command, then ends the process.
    private static func runToEnd(_ command: sending @escaping () async throws -> Void) -> Never {
        Task.detached {
            do {
                try await command()
                leave(0)
            } catch {
                end(error)
            }
        }
        // dispatchMain() is not used, because it unblocks signals in the main thread.
        while true { pause() }
    }

    private static func end(_ error: any Error) -> Never {
        (error as? Stop ?? Stop(.unavailable, "\(error)")).exit()
    }

    /// Ends the process without the handlers of `exit`, because OpenSSL's frees memory that a connecting loop still
    /// uses.
    static func leave(_ code: Int32) -> Never {
        fflush(nil)
        _exit(code)
    }
}

/// Ends the program early with an exit code and one line.
struct Stop: Error {
    /// Exit codes, from sysexits.h where one fits.
    enum Code: Int32 {
        /// `nagz audit verify`, `witness`: the audit log was tampered with; `reconcile`: it does not explain the
        /// database's state.
        case tampered = 1
        /// `nagz audit verify`, `reconcile`, `witness` and `export`: not everything could be checked.
        case incomplete = 2
        case usage = 64
        case notApplied = 65
        case unknownThing = 66
        case unavailable = 69
        case portTaken = 73
        case inputOutput = 74
        case tryLater = 75
        case protocolFault = 76
        case noPermission = 77
        case configuration = 78
        /// `nagz device`: the server's audit log does not extend the one that this device has seen.
        case logBroken = 79
    }

    let code: Code
    let line: String

    init(_ code: Code, _ line: String) {
        self.code = code
        self.line = line
    }

    /// Creates the error for a failure of the database in a command that works as the schema's owner.
    init(ofOwner fault: PostgresError) {
        let needsOwner = fault.sqlState == "42501"
        let hint = ": set NAGZ_OWNER_DATABASE_URL to the login of the schema's owner"
        self.init(needsOwner ? .configuration : .unavailable, fault.description + (needsOwner ? hint : ""))
    }

    func exit() -> Never {
        printError("nagz: \(line)")
        Nagz.leave(code.rawValue)
    }
}

/// The words after `nagz`.
struct Arguments {
    private var words: [String]
    /// The words that `next` has returned, which begin with the command.
    private var consumedWords: [String] = []
    /// The options of the configuration.
    private(set) var given = GivenOptions(environment: [:], file: nil)

    /// Splits `--option=value` into two words.
    init(_ words: [String]) {
        self.words = words.flatMap { word -> [String] in
            guard word.isOption, let sign = word.firstIndex(of: "=") else { return [word] }
            return [String(word[..<sign]), String(word[word.index(after: sign)...])]
        }
    }

    /// Removes the command's configuration options, and reads the configuration file.
    mutating func readConfiguration(of verb: String, _ environment: [String: String]) throws {
        given = try takeOptions(of: verb, environment: environment)
    }

    var asksForHelp: Bool { words.contains("--help") || words.contains("-h") }

    /// Removes and returns the next word. Options must be removed before.
    mutating func next() -> String? {
        guard !words.isEmpty else { return nil }
        consumedWords.append(words.removeFirst())
        return consumedWords.last
    }

    /// Removes an option and returns its value.
    mutating func value(_ name: String) throws -> String? {
        guard let index = words.firstIndex(of: name) else { return nil }
        guard index + 1 < words.count, !words[index + 1].isOption else {
            throw Stop(.usage, "\(name) needs a value")
        }
        defer { words.removeSubrange(index...(index + 1)) }
        return words[index + 1]
    }

    /// Removes an option and returns its number; nil without the option.
    mutating func number(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
        guard let text = try value(name) else { return nil }
        do throws(Complaint) { return try Options.number(text, in: range) } catch {
            throw Stop(.usage, "\(name) \(error.text)")
        }
    }

    /// Removes a switch and returns its value, which is “on” if none follows; nil without the switch.
    mutating func switchValue(_ name: String) -> String? {
        guard let index = words.firstIndex(of: name) else { return nil }
        words.remove(at: index)
        guard index < words.count, ["on", "off"].contains(words[index]) else { return "on" }
        return words.remove(at: index)
    }

    /// Removes a flag, and returns whether it was given.
    mutating func flag(_ name: String) -> Bool {
        guard let index = words.firstIndex(of: name) else { return false }
        words.remove(at: index)
        return true
    }

    /// Refuses remaining arguments as unknown. Call it after all options were removed.
    func finish() throws {
        if let word = words.first { throw Commands.unknownArgument(word, of: consumedWords) }
    }

    /// Removes an option that may be given several times, and returns its values.
    mutating func values(_ name: String) throws -> [String] {
        var values: [String] = []
        while let value = try value(name) { values.append(value) }
        return values
    }

    /// Returns the URL of the schema's owner, for every command but `serve`.
    func ownerDatabaseURL() throws -> String {
        let named = given.flags["database-url"] == nil ? try given[Options.ownerDatabaseURL] : nil
        guard let url = try named ?? given[Options.databaseURL] else {
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
