import Foundation

/// The configuration file: lines `option = value`, and comments that begin with `#`. One file may have the options of
/// all commands.
struct ConfigurationFile: Sendable {
    /// The maximum size of the file in bytes.
    private static let maxBytes = 1 << 20

    let path: String
    private(set) var entries: [String: (line: Int, text: String)] = [:]
    /// The faults of the file itself. Values are checked where they are read.
    private(set) var faults: [Stop] = []

    /// Reads a file. If it cannot be read, there are no entries, and there is a fault.
    init(reading path: String) {
        self.init(path: path, text: "")
        guard let file = FileHandle(forReadingAtPath: path), let data = try? file.read(upToCount: Self.maxBytes + 1)
        else {
            let reason = String(cString: strerror(errno))
            faults = [Stop(.configuration, "the configuration file “\(path)” cannot be read: \(reason)")]
            return
        }
        guard data.count <= Self.maxBytes, let text = String(data: data, encoding: .utf8) else {
            faults = [Stop(.usage, "\(path):1: a configuration file is text in UTF-8 of at most 1 MB")]
            return
        }
        self.init(path: path, text: text)
    }

    init(path: String, text: String) {
        self.path = path
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let line = line.trimmingCharacters(in: .whitespaces)
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            do throws(OptionError) { try addOption(of: line, number: index + 1) } catch {
                faults.append(Stop(.usage, "\(path):\(index + 1): \(error.text)"))
            }
        }
    }

    /// Adds the option of a line. Errors repeat only the name, because the value may contain a password.
    private mutating func addOption(of line: String, number: Int) throws(OptionError) {
        guard let match = line.wholeMatch(of: /([a-z][a-z0-9-]*)\s*=\s*(.*)/) else {
            throw OptionError("a line is “option = value”, with the option's name without “--”")
        }
        let (name, text) = (String(match.output.1), String(match.output.2))
        guard let option = Options.all.first(where: { $0.name == name }) else {
            throw OptionError("unknown option “\(name)”; nagz config show lists all")
        }
        if let first = entries[name] { throw OptionError("\(name) is set twice, first in line \(first.line)") }
        guard !text.isEmpty else { throw OptionError("\(name) needs a value") }
        guard !option.format.holdsPassword(text) else {
            throw OptionError(
                option.format.isConnectionString
                    ? "\(name) may hold no password here: put it into a passfile and write passfile=FILE in the URL"
                    : "\(name) may hold no name and password here, and no “@” (in a path, write %40)")
        }
        entries[name] = (number, text)
    }
}

extension OptionFormat {
    fileprivate var isConnectionString: Bool { if case .connectionString = self { true } else { false } }
}
