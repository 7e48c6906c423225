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
            ["routes", "--help"],
        ])
    func usage(words: [String]) async throws {
        let process = try ChildProcess(#require(NagzProgram.url), words, in: repository, environment: [:])
        let text = ChildProcess.text(process.output)
        #expect(process.wait() == 0)
        #expect(text.hasPrefix("nagz \(words[0]) — "), "\(text)")
    }
}
