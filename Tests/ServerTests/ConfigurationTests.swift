import ChildProcesses
import Foundation
import Testing

@testable import ServerTestKit

/// The configuration's four sources, as the real program reads them.
@Suite("nagz config")
struct ConfigurationTests {
    private static let canary = "canary-5e1f"

    private static func run(
        _ words: [String], _ environment: [String: String] = [:]
    ) throws -> (status: Int32?, output: String, errors: String) {
        let process = try ChildProcess(#require(NagzProgram.url), words, in: repository, environment: environment)
        let (output, errors) = (ChildProcess.text(process.output), ChildProcess.text(process.errors))
        return (process.wait(), output, errors)
    }

    /// Runs `body` with a file that has these lines.
    private static func withFile(_ lines: String, _ body: (String) throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let path = folder + "/nagz.conf"
            try lines.write(toFile: path, atomically: true, encoding: .utf8)
            try body(path)
        }
    }

    /// The line of one option: its value and where that comes from.
    private static func shown(_ name: String, in output: String) -> [String] {
        let line = output.split(separator: "\n").first { $0.hasPrefix(name + " ") } ?? ""
        return line.split(separator: " ", maxSplits: 2).dropFirst().map { $0.trimmingCharacters(in: .whitespaces) }
    }

    @Test("a flag has precedence over the environment, the environment over the file, the file over the default")
    func precedence() async throws {
        try await Self.withFile("# a comment\r\n\n model-name=of-the-file\nmigrations = Sources\n") { path in
            let name = "model-name"
            for (words, environment, expected) in [
                ([], [:], ["none", "default"]),
                (["--config", path], [:], ["of-the-file", "\(path):3: \(name)"]),
                ([], ["NAGZ_CONFIG": path], ["of-the-file", "\(path):3: \(name)"]),
                (["--config", path], ["NAGZ_MODEL_NAME": "of-env"], ["of-env", "NAGZ_MODEL_NAME"]),
                (
                    ["--config=\(path)", "--model-name", "of-flag"], ["NAGZ_MODEL_NAME": "of-env"],
                    ["of-flag", "--model-name"]
                ),
                (["--config", path], ["NAGZ_CONFIG": "/nowhere"], ["of-the-file", "\(path):3: \(name)"]),
            ] as [([String], [String: String], [String])] {
                let (status, output, errors) = try Self.run(["config", "show"] + words, environment)
                #expect(status == 0, "\(errors)")
                #expect(Self.shown(name, in: output) == expected)
            }
        }
    }

    @Test(
        "a wrong line is reported with file, line and option, by every command that reads the file",
        arguments: [
            ("prot = 1", "unknown option “prot”"), ("--port = 1", "without “--”"), ("port", "option = value"),
            ("port =", "port needs a value"),
            ("host = a\nport = 1\nhost = b", "host is set twice, first in line 1"),
            ("database-url = postgres://u:\(canary)@h/d", "may hold no password"),
            ("owner-database-url = host=h password='\(canary)'", "may hold no password"),
            ("database-url = postgres://h/d?sslpassword=\(canary)", "may hold no password"),
            ("push = https://u:\(canary)@h/", "may hold no name and password"), ("\(canary) is = x", "option = value"),
        ])
    func faults(lines: String, complaint: String) async throws {
        let number = lines.split(separator: "\n").count
        try await Self.withFile(lines) { path in
            for verb in [["serve"], ["migrate"], ["admin", "list"], ["audit", "keys"], ["seed", "demo"]] {
                let (status, output, errors) = try Self.run(verb + ["--config", path])
                #expect(status == 64 && output.isEmpty)
                #expect(errors.hasPrefix("nagz: \(path):\(number): ") && errors.contains(complaint), "\(errors)")
                #expect(errors.count(where: \.isNewline) == 1 && !errors.contains(Self.canary))
            }
        }
    }

    @Test("a command refuses a bad value of its own options, and ignores those of others")
    func values() async throws {
        try await Self.withFile("database-url = host=/nowhere\nloops = many\n") { path in
            let serve = try Self.run(["serve", "--config", path])
            #expect(serve.status == 64)
            #expect(serve.errors == "nagz: \(path):2: loops takes a whole number from 1 to 256\n")
            #expect(
                try Self.run(["migrate", "--dry-run", "--config", path]).status == 69, "it went on to the database")
        }
    }

    @Test("config check reports all faults, and neither check nor show prints a password")
    func checkAndShow() async throws {
        let lines = "port = 70000\nnothing = 1\nscheduler = maybe\nhost = ::1\npush = ftp://h/\nmodel-name = m\n"
        try await Self.withFile(lines) { path in
            let secrets = [
                "DATABASE_URL": "postgres://u:\(Self.canary)@h/d",
                "NAGZ_OWNER_DATABASE_URL": "host=h password='\(Self.canary) x'",
            ]
            let webhook = ["--sms", "https://u:\(Self.canary)@h/p?key=\(Self.canary)"]
            let check = try Self.run(["config", "check", "--config", path] + webhook, secrets)
            #expect(check.status == 64)
            for start in [":2: unknown", ":1: port takes", ":3: scheduler takes"] {
                #expect(check.output.contains(path + start), "\(check.output)")
            }
            #expect(check.output.contains("NAGZ_WEBHOOK_SECRET_FILE") && check.output.contains(":6: model-name"))
            let show = try Self.run(["config", "show"] + webhook, secrets)
            #expect(show.status == 0 && show.output.ranges(of: "password=***").count == 2, "\(show.output)")
            #expect(show.output.contains("https://***@h/p?***"))
            for text in [check.output, check.errors, show.output, show.errors] { #expect(!text.contains(Self.canary)) }
        }
        let broken = try Self.run(["config", "show", "--database-url", "postgres://u:\(Self.canary)@[h/d"])
        #expect(!broken.output.contains(Self.canary) && broken.output.contains("***"))
        #expect(try Self.run(["config", "check"]).status == 0)
        #expect(try Self.run(["config", "check", "--config", "/nowhere/nagz.conf"]).status == 78)
    }

    @Test("the configuration page has every option with its default, and the help of serve has every option")
    func documented() throws {
        let options = try Self.run(["config", "show"]).output.split(separator: "\n").compactMap {
            $0.wholeMatch(of: /([a-z-]+) +(.+?) +default/).map { (String($0.output.1), String($0.output.2)) }
        }
        #expect(options.count > 25)
        let page = try String(contentsOf: repository.appending(path: "deploy/configuration.md"), encoding: .utf8)
        let help = try Self.run(["serve", "--help"]).output
        for (name, standard) in options where name != "owner-database-url" {
            #expect(help.contains("--\(name) "), "\(name)")
            let row = page.split(separator: "\n").first {
                $0.hasPrefix("| `--\(name) ") || $0.hasPrefix("| `--\(name)`")
            }
            let cells = row?.replacing("\\|", with: "/").split(separator: "|", omittingEmptySubsequences: false)
            // The number of loops depends on the machine.
            let isSame = name == "loops" || cells?.dropFirst(3).first?.contains(standard) == true
            #expect(isSame, "\(name): \(standard)")
        }
        #expect(page.contains("`owner-database-url`") && page.contains("`NAGZ_OWNER_DATABASE_URL`"))
    }
}
