import ChildProcesses
import Foundation
import Testing

@testable import ServerTestKit

@Suite("The command line's help")
struct HelpTests {
    @Test(
        "a command's help is printed without a database or a key, wherever --help stands in the line, and by nagz help",
        arguments: [
            (["serve", "--help"], "serve"), (["serve", "--port", "0", "-h"], "serve"),
            (["migrate", "--help"], "migrate"),
            (["seed", "demo", "--help"], "seed demo"), (["admin", "create", "--help"], "admin create"),
            (["audit", "verify", "--help"], "audit verify"), (["audit", "keys", "new", "-h"], "audit keys new"),
            (["device", "--home", "/nowhere", "login", "--help"], "device login"),
            (["device", "tone", "-h"], "device tone"),
            (["config", "show", "--help"], "config show"), (["doctor", "--help"], "doctor"),
            (["restore-check", "-h"], "restore-check"), (["routes", "--help"], "routes"), (["help", "--help"], "help"),
            (["completion", "-h"], "completion"), (["manual", "--help"], "manual"),
        ])
    func usage(words: [String], name: String) throws {
        let (status, text, _) = try Self.run(words)
        #expect(
            status == 0 && text.hasPrefix("nagz \(name) — ") && text.contains("\n\nUSAGE\n  nagz \(name)"), "\(text)")
        let named = try Self.run(["help"] + name.split(separator: " ").map(String.init))
        #expect(named.status == 0 && named.output == text)
    }

    @Test(
        "a command's help has the options of the configuration that it reads",
        arguments: [
            ("migrate", ["--database-url", "--migrations", "--config"]),
            ("admin purge", ["--database-url", "--audit-key-file", "--config"]),
            ("seed bench", ["--database-url", "--audit-key-file", "--token-key-file", "--config"]),
            ("audit accept", ["--database-url", "--audit-key-file", "--audit-checkpoint-file", "--config"]),
        ])
    func configured(name: String, options: [String]) throws {
        let text = try Self.run(["help"] + name.split(separator: " ").map(String.init)).output
        for option in options { #expect(text.contains("  \(option) ")) }
    }

    @Test("nagz, nagz help and nagz --help list every command; version is --version")
    func overview() throws {
        let (status, text, _) = try Self.run([])
        #expect(status == 0 && text.hasPrefix("nagz — "))
        #expect(try Self.run(["help"]).output == text && Self.run(["--help"]).output == text)
        for command in ["serve", "migrate", "audit", "device", "doctor", "restore-check", "completion", "version"] {
            #expect(text.contains(try Regex("\n  \(command) +[a-z]")), "\(command)")
        }
        let version = try Self.run(["version"])
        #expect(version.status == 0 && version.output.hasPrefix("nagz "))
        #expect(try Self.run(["--version"]).output == version.output)
    }

    @Test("help names only commands that exist, and an example only options of its command")
    func references() throws {
        let sections = try Self.run(["manual"]).output.replacing("\\-", with: "-").split(separator: ".SH NAGZ ")
            .dropFirst().map { $0.split(separator: "\n", omittingEmptySubsequences: false) }
        let texts = Dictionary(uniqueKeysWithValues: sections.map { ($0[0].lowercased(), $0.dropFirst()) })
        #expect(texts.count > 50)
        for (name, lines) in texts {
            let related = lines.drop { $0 != "SEE ALSO" }.dropFirst().first ?? ""
            for reference in related.matches(of: /nagz ([a-z -]+)(?:,|$)/) {
                #expect(texts[String(reference.output.1)] != nil, "\(name): \(reference.output.0)")
            }
            for line in lines where line.hasPrefix("  $ nagz ") {
                for command in line.dropFirst(4).split(separator: " && ") where command.hasPrefix("nagz ") {
                    let words = command.split(separator: " ").dropFirst().prefix { $0.wholeMatch(of: /[a-z-]+/) != nil }
                    let known = (1...max(1, words.count)).reversed().map { words.prefix($0).joined(separator: " ") }
                        .first { texts[$0] != nil }
                    let text = texts[known ?? ""]?.joined(separator: "\n") ?? ""
                    #expect(!text.isEmpty, "\(line)")
                    for option in command.matches(of: /--[a-z-]+/) { #expect(text.contains(option.output), "\(line)") }
                }
            }
        }
    }

    @Test(
        "lines of the manual page have 125 characters at most, and the help of serve names every default and variable")
    func form() throws {
        let (_, page, _) = try Self.run(["manual"])
        let lines = page.replacing("\\-", with: "-").split(separator: "\n")
        #expect(lines.count > 500)
        for line in lines { #expect(line.count <= 125, "\(line)") }
        let serve = try Self.run(["serve", "--help"]).output
        let options = serve.replacing(/\n {6,}/, with: " ").split(separator: "\n")
        let document = try String(contentsOf: repository.appending(path: "deploy/configuration.md"), encoding: .utf8)
        var compared = 0
        for row in document.split(separator: "\n") where row.hasPrefix("| `--") {
            let cells = row.replacing("\\|", with: "/").split(separator: "|").map {
                $0.trimmingCharacters(in: [" ", "`"])
            }
            let flag = cells[0].split(separator: " ")[0]
            guard let option = options.first(where: { $0.contains("  \(flag) ") || $0.hasSuffix("  \(flag)") }) else {
                continue
            }
            compared += 1
            if !cells[1].isEmpty { #expect(option.contains(cells[1]), "\(option)") }
            if !cells[2].hasPrefix("none") {
                #expect(option.contains("(default ") || option.contains("; default "), "\(option)")
            }
        }
        #expect(compared > 30)
        #expect(serve.contains("(default 9800)") && serve.contains("(else NAGZ_TOKEN_KEY_FILE)"))
    }

    private static func run(_ words: [String]) throws -> (status: Int32?, output: String, errors: String) {
        let process = try ChildProcess(
            #require(NagzProgram.url), words, in: FileManager.default.temporaryDirectory, environment: [:])
        let (output, errors) = (ChildProcess.text(process.output), ChildProcess.text(process.errors))
        return (process.wait(), output, errors)
    }

    @Test(
        "a wrong command line ends with 64 and one line that names the fault",
        arguments: [
            (["admin", "purge", "--after", "--dry-run"], "--after needs a value"),
            (["admin", "purge", "--after=soon"], "--after takes a whole number"),
            (["routes", "--colour=blue"], "unknown argument “--colour”. See nagz routes --help"),
            (["completion", "fish"], "bash or zsh"), (["surve"], "unknown command “surve”. Did you mean serve?"),
            (["device", "logn"], "unknown command “device logn”. Did you mean login? See nagz device --help"),
            (["audit", "keys", "rotat"], "Did you mean rotate?"), (["help", "surve"], "Did you mean serve?"),
            (["admin"], "nagz admin has create, list"), (["models", "remove"], "unknown command “models remove”"),
            (["device", "model"], "nagz device model has list, download"),
            (["device", "model", "lst"], "unknown command “device model lst”. Did you mean list?"),
            (["device", "model", "delete"], "nagz device model list shows them"),
            (["serve", "--prot", "1"], "unknown argument “--prot”. Did you mean --port? See nagz serve --help"),
            (["serve", "--port", "abc"], "--port takes a whole number from 0 to 65535"),
            (["seed", "demo", "--if-emty", "--database-url", "postgres:///x"], "Did you mean --if-empty?"),
        ])
    func mistakes(words: [String], complaint: String) throws {
        let (status, output, errors) = try Self.run(words)
        #expect(status == 64 && output.isEmpty)
        #expect(errors.hasPrefix("nagz: ") && errors.contains(complaint) && errors.count(where: \.isNewline) == 1)
    }

    @Test("completions know every command, and after it the commands below it or its options; bash takes them")
    func completions() throws {
        for shell in ["bash", "zsh"] {
            let (status, script, _) = try Self.run(["completion", shell])
            #expect(status == 0 && script.contains("'serve '*) words='--database-url"))
            #expect(script.contains("'admin '*) words='create list revoke reset-password purge retention resync --"))
        }
        let (_, script, _) = try Self.run(["completion", "bash"])
        func complete(_ words: String) throws -> [String] {
            let asked =
                script + """

                    COMP_WORDS=(\(words)) COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
                    _nagz
                    echo "${COMPREPLY[@]}"
                    """
            let bash = try ChildProcess(URL(filePath: "/bin/bash"), ["-c", asked], in: repository, environment: [:])
            defer { #expect(bash.wait() == 0) }
            return ChildProcess.text(bash.output).split(whereSeparator: \.isWhitespace).map(String.init)
        }
        #expect(try complete("nagz serve --po") == ["--port"] && complete("nagz au") == ["audit"])
        #expect(
            try complete("nagz audit ver") == ["verify"]
                && complete("nagz audit keys ro") == ["rotate", "rotate-master"])
        #expect(try complete("nagz audit keys rotate-master --w") == ["--wrap"])
        #expect(try complete("nagz audit prune --fam").isEmpty)
        #expect(try complete("nagz doctor --escal") == ["--escalation"])
        #expect(try complete("nagz completion z") == ["zsh"] && complete("nagz help rest") == ["restore-check"])
    }

    @Test("the manual page has every command, and no line that the formatter takes for a request")
    func manual() throws {
        let (status, page, _) = try Self.run(["manual"])
        #expect(status == 0 && page.hasPrefix(".TH NAGZ 1"))
        for command in ["SERVE", "AUDIT", "AUDIT VERIFY", "DEVICE LOGIN", "RESTORE-CHECK", "COMPLETION"] {
            #expect(page.contains(".SH NAGZ \(command)\n"))
        }
        let commands: Set = [".TH", ".SH", ".PP", ".nf", ".fi"]
        for line in page.split(separator: "\n") where line.hasPrefix(".") {
            #expect(commands.contains(String(line.prefix { $0 != " " })), "\(line)")
        }
    }
}
