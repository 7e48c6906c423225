import Postgres

/// One option of the configuration: `port` in the file, `--port` on the command line. Options of a single command are
/// not part of the configuration.
struct Option<Value>: AnyOption {
    let name: String
    let variable: String?
    let defaultText: String?
    let verbs: Set<String>
    let isSwitch: Bool
    let format: OptionFormat
    /// Reads the value from its text.
    fileprivate let parse: @Sendable (String) throws -> Value

    /// - Parameters:
    ///   - defaultText: the default, as text for people; nil for none.
    ///   - verbs: the commands that accept the option on their command line, besides config.
    ///   - parse: reads the value. It throws an `OptionError` about the text, or a `Stop` about a file that it names.
    init(
        _ name: String, variable: String? = nil, defaultText: String? = nil, verbs: Set<String> = ["serve"],
        isSwitch: Bool = false, format: OptionFormat = .plain, parse: @escaping @Sendable (String) throws -> Value
    ) {
        (self.name, self.variable, self.defaultText, self.verbs) = (name, variable, defaultText, verbs)
        (self.isSwitch, self.format, self.parse) = (isSwitch, format, parse)
    }

    func check(_ given: GivenOptions) throws { _ = try given[self] }
}

/// An option of any value type.
protocol AnyOption: Sendable {
    var name: String { get }
    /// The environment variable that can give the value; nil if there is none.
    var variable: String? { get }
    /// The default, as text for people; nil for none.
    var defaultText: String? { get }
    /// The commands that accept the option on their command line. `config` accepts every option, and the commands that
    /// check a server accept those of `serve`.
    var verbs: Set<String> { get }
    /// Whether the option may be without a value on the command line, which means `on`.
    var isSwitch: Bool { get }
    var format: OptionFormat { get }

    /// Checks the value, if it is given.
    func check(_ given: GivenOptions) throws
}

extension AnyOption {
    var flag: String { "--" + name }

    /// Whether a command accepts the option on its command line.
    func isAccepted(by verb: String) -> Bool {
        verb == "config" || verbs.contains(Options.checkingVerbs.contains(verb) ? "serve" : verb)
    }
}

/// A fault of an option's text, which follows the option's name in the message: `takes on or off`.
struct OptionError: Error {
    let text: String

    init(_ text: String) { self.text = text }
}

/// The format of an option's text, which decides whether and where it may contain a password.
enum OptionFormat: Sendable {
    /// A text that never contains a password.
    case plain
    /// A connection string of libpq.
    case connectionString
    /// A URL, which may have a user name, a password and a query.
    case webAddress

    /// Returns whether the text contains a password. A web address with an `@` counts as one with a password.
    func holdsPassword(_ text: String) -> Bool {
        switch self {
        case .plain: false
        case .connectionString: ConnectionOptions.masked(text)?.hasPassword ?? false
        case .webAddress: text.contains("@")
        }
    }

    /// Returns the text for people and logs, without passwords. A web address also loses its user name and query.
    func masked(_ text: String) -> String {
        switch self {
        case .plain: return text
        case .connectionString: return ConnectionOptions.masked(text)?.text ?? "*** (no connection string)"
        case .webAddress:
            var maskedText = text
            if let sign = text.lastIndex(of: "@") {
                let start = text.firstRange(of: "://")?.upperBound ?? text.startIndex
                maskedText.replaceSubrange(min(start, sign)..<sign, with: "***")
            }
            if let mark = maskedText.firstIndex(of: "?") {
                maskedText.replaceSubrange(maskedText.index(after: mark)..., with: "***")
            }
            return maskedText
        }
    }
}

/// The options that were given by command line, environment and configuration file, in this order of precedence.
struct GivenOptions: Sendable {
    /// The texts of the command line, by the options' names.
    var commandLine: [String: String] = [:]
    let environment: [String: String]
    let file: ConfigurationFile?

    /// Returns an option's text and its origin; nil if it was not given.
    func value(of option: any AnyOption) -> GivenValue? {
        if let text = commandLine[option.name] { return GivenValue(text: text, origin: .flag(option.flag)) }
        if let variable = option.variable, let text = environment[variable] {
            return GivenValue(text: text, origin: .environment(variable))
        }
        guard let file, let entry = file.entries[option.name] else { return nil }
        return GivenValue(text: entry.text, origin: .file(file.path, line: entry.line, name: option.name))
    }

    /// The value of an option; nil if it was not given.
    /// - Throws: `Stop` with the origin of the value.
    subscript<Value>(option: Option<Value>) -> Value? {
        get throws {
            guard let value = value(of: option) else { return nil }
            do { return try option.parse(value.text) } catch let error as OptionError {
                throw value.error(error)
            } catch let stop as Stop {
                throw Stop(stop.code, "\(value.origin): \(stop.message)")
            }
        }
    }

    /// Returns the name of an option for messages: the origin of its text, or if it was not given its variable or flag.
    func label(_ option: any AnyOption) -> String {
        value(of: option).map { "\($0.origin)" } ?? option.variable ?? option.flag
    }
}

/// The text of an option, and its origin.
struct GivenValue: Sendable {
    /// The place where an option was given.
    enum Origin: Sendable, CustomStringConvertible {
        /// The command line; the value is the flag, such as `--port`.
        case flag(String)
        /// The environment; the value is the variable's name.
        case environment(String)
        /// The configuration file; the values are its path, the line's number and the option's name.
        case file(String, line: Int, name: String)

        var description: String {
            switch self {
            case .flag(let name), .environment(let name): name
            case .file(let path, let line, let name): "\(path):\(line): \(name)"
            }
        }
    }

    let text: String
    let origin: Origin

    /// Returns the error for a fault of the text.
    func error(_ optionError: OptionError) -> Stop {
        let code: Stop.Code = if case .environment = origin { .configuration } else { .usage }
        return Stop(code, "\(origin) \(optionError.text)")
    }
}

extension Arguments {
    /// Removes the command's configuration options, and reads the file that `--config` or `NAGZ_CONFIG` names.
    /// - Throws: `Stop` for the first fault of the file, except for commands that report faults themselves, or for an
    ///   option without a value.
    mutating func takeOptions(of verb: String, environment: [String: String]) throws -> GivenOptions {
        let path = try takeValue("--config") ?? environment["NAGZ_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
        var given = GivenOptions(environment: environment, file: path.map(ConfigurationFile.init(reading:)))
        if verb != "config", !Options.checkingVerbs.contains(verb), let fault = given.file?.faults.first { throw fault }
        for option in Options.all where option.isAccepted(by: verb) {
            given.commandLine[option.name] = option.isSwitch ? takeSwitch(option.flag) : try takeValue(option.flag)
        }
        return given
    }
}
