import Contract
import Domain
import Foundation
import JSON
import Server

/// The results of a command's checks: printed for people or as JSON, with the exit code that follows from them.
struct CheckReport {
    private(set) var results: [CheckResult] = []
    /// Whether the database does not answer, which decides the exit code.
    private var isDatabaseUnreachable = false

    mutating func add(_ newResults: [CheckResult]) {
        results += newResults
        // If the database does not answer, the check of its connection is the only one.
        if newResults.count == 1, newResults[0].name == "database", newResults[0].status == .failed {
            isDatabaseUnreachable = true
        }
    }

    private func count(_ status: CheckResult.Status) -> Int { results.count { $0.status == status } }

    private var summary: String {
        let (failed, warnings) = (count(.failed), count(.warning))
        if failed == 0, warnings == 0 { return "all checks passed" }
        let warningCount = counted(warnings, "warning")
        return failed == 0 ? "no check failed, \(warningCount)" : "\(counted(failed, "check")) failed, \(warningCount)"
    }

    /// Prints the results.
    /// - Throws: `Stop` if a check failed.
    func finish(asJSON: Bool) throws {
        if asJSON { print(json: json) } else { print(ownText: text(StatusColours.ofStandardOutput)) }
        if count(.failed) > 0 { throw Stop(isDatabaseUnreachable ? .unavailable : .configuration, summary) }
    }

    private func text(_ colours: StatusColours) -> String {
        let statusWidth = CheckResult.Status.allCases.map(\.rawValue.count).max() ?? 0
        let nameWidth = results.map(\.name.count).max() ?? 0
        var lines = results.flatMap { result in
            let status = colours.coloured(result.status.rawValue.padded(to: statusWidth), result.status)
            let advice = result.advice.map { $0.split(separator: "\n").map { safeLine(String($0)) } } ?? []
            return ["\(status)  \(result.name.padded(to: nameWidth))  \(safeLine(result.text))"]
                + advice.map { String(repeating: " ", count: statusWidth + 2) + $0 }
        }
        // If a check failed, the summary goes to standard error with the exit code.
        if count(.failed) == 0 { lines.append(summary) }
        return lines.joined(separator: "\n")
    }

    private var json: String {
        let document = JSONWriter.document { json in
            json.object { json in
                json.field("failed", count(.failed))
                json.field("warnings", count(.warning))
                json.field("checks", results.map(ResultAsJSON.init))
            }
        }
        return String(decoding: document, as: UTF8.self)
    }
}

private struct ResultAsJSON: WireOutput {
    let result: CheckResult

    func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("name", result.name)
            json.field("status", result.status == .notConfigured ? "not_configured" : result.status.rawValue)
            json.field("text", result.text)
            json.field("advice", result.advice)
        }
    }
}

/// The colours of the word that shows a check's result.
struct StatusColours {
    private let isOn: Bool

    /// - Parameter isOn: whether colours are printed.
    init(isOn: Bool) { self.isOn = isOn }

    /// The colours for standard output: on if it is a terminal, `NO_COLOR` is empty or not set, and `TERM` is not
    /// `dumb`.
    static var ofStandardOutput: Self {
        let environment = ProcessInfo.processInfo.environment
        let isRefused = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        return Self(isOn: isatty(1) == 1 && !isRefused && environment["TERM"] != "dumb")
    }

    func coloured(_ text: String, _ status: CheckResult.Status) -> String {
        let code: Int? =
            switch status {
            case .ok: 32
            case .warning: 33
            case .failed: 31
            case .notConfigured: nil
            }
        guard isOn, let code else { return text }
        return "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }
}
