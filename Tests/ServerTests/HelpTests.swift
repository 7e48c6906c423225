import ChildProcesses
import Foundation
import Testing

@Suite("nagz VERB --help")
struct HelpTests {
    @Test(
        "prints the verb's usage without a database or a key, wherever it stands in the line",
        arguments: [
            ["serve", "--help"], ["serve", "--port", "0", "-h"], ["migrate", "--help"], ["seed", "demo", "--help"],
            ["admin", "create", "--help"], ["audit", "verify", "--help"], ["device", "tone", "-h"],
            ["config", "show", "--help"], ["doctor", "--help"], ["restore-check", "-h"], ["routes", "--help"],
            ["completion", "-h"], ["manual", "--help"],
        ])
    func usage(words: [String]) async throws {
        let process = try ChildProcess(#require(NagzProgram.url), words, in: repository, environment: [:])
        let text = ChildProcess.text(process.output)
        #expect(process.wait() == 0)
        #expect(text.hasPrefix("nagz \(words[0]) — "), "\(text)")
    }

    private static func run(_ words: [String]) throws -> (status: Int32?, output: String, errors: String) {
        let process = try ChildProcess(#require(NagzProgram.url), words, in: repository, environment: [:])
        let (output, errors) = (ChildProcess.text(process.output), ChildProcess.text(process.errors))
        return (process.wait(), output, errors)
    }

    @Test(
        "a wrong line is answered with one line that names what is wrong, and 64",
        arguments: [
            (["admin", "purge", "--after", "--dry-run"], "--after needs a value"),
            (["admin", "purge", "--after=soon"], "--after takes a whole number"),
            (["routes", "--colour=blue"], "unknown argument “--colour”"), (["completion", "fish"], "bash or zsh"),
            (["surve"], "unknown verb “surve”"), ([], "which verb?"),
        ])
    func mistakes(words: [String], complaint: String) throws {
        let (status, output, errors) = try Self.run(words)
        #expect(status == 64 && output.isEmpty)
        #expect(errors.hasPrefix("nagz: ") && errors.contains(complaint) && errors.count(where: \.isNewline) == 1)
    }

    @Test("completions know every verb, its actions and its options; bash takes them")
    func completions() throws {
        for shell in ["bash", "zsh"] {
            let (status, script, _) = try Self.run(["completion", shell])
            #expect(status == 0 && script.contains("serve) words='") && script.contains("--escalation"))
            #expect(
                script.contains("doctor) words='--json --config --database-url")
                    && script.contains("restore-check) words='--json"))
            #expect(script.contains("admin) words='create list revoke reset-password purge retention resync --email"))
        }
        let (_, script, _) = try Self.run(["completion", "bash"])
        let asked =
            script + """

                COMP_WORDS=(nagz serve --po) COMP_CWORD=2
                _nagz
                echo "${COMPREPLY[@]}"
                COMP_WORDS=(nagz au) COMP_CWORD=1
                _nagz
                echo "${COMPREPLY[@]}"
                COMP_WORDS=(nagz audit ver) COMP_CWORD=2
                _nagz
                echo "${COMPREPLY[@]}"
                """
        let bash = try ChildProcess(URL(filePath: "/bin/bash"), ["-c", asked], in: repository, environment: [:])
        #expect(ChildProcess.text(bash.output) == "--port\naudit\nverify\n")
        #expect(bash.wait() == 0)
    }

    @Test("the manual page has every verb, and no line that the formatter takes for a command")
    func manual() throws {
        let (status, page, _) = try Self.run(["manual"])
        #expect(status == 0 && page.hasPrefix(".TH NAGZ 1"))
        for verb in ["SERVE", "MIGRATE", "AUDIT", "DEVICE", "DOCTOR", "RESTORE-CHECK", "COMPLETION"] {
            #expect(page.contains(".SH NAGZ \(verb)"))
        }
        let commands: Set = [".TH", ".SH", ".PP", ".nf", ".fi"]
        for line in page.split(separator: "\n") where line.hasPrefix(".") {
            #expect(commands.contains(String(line.prefix { $0 != " " })), "\(line)")
        }
    }
}
