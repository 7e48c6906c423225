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
        let process = Process()
        process.executableURL = NagzProgram.url
        process.arguments = words
        process.environment = [:]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = try #require(String(bytes: output.fileHandleForReading.readDataToEndOfFile(), encoding: .utf8))
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(text.hasPrefix("nagz \(words[0]) — "), "\(text)")
    }
}
