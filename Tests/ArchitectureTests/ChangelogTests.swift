import Foundation
import Testing

@Suite("Changelog")
struct ChangelogTests {
    private static let lines: [String] = {
        let file = SourceFile.repository.appending(path: "CHANGELOG.md")
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }()

    @Test("the changelog has a dated section of the program's version, below the unreleased changes")
    func current() throws {
        let source = try #require(SourceFile.all.first { $0.path == "Contract/Core/NagzVersion.swift" })
        let declaration = /static let current = "([0-9]+\.[0-9]+\.[0-9]+)"/
        let version = try #require(source.code.compactMap { $0.firstMatch(of: declaration) }.first?.output.1)
        let headings = Self.lines.filter { $0.hasPrefix("## ") }
        #expect(headings.first == "## [Unreleased]")
        #expect(
            try headings.dropFirst().first?.wholeMatch(
                of: Regex("## \\[\(version)\\] - 20[0-9]{2}-[01][0-9]-[0-3][0-9]")) != nil)
    }

    @Test("no source file but NagzVersion.swift has a version")
    func once() {
        for file in SourceFile.all where file.path != "Contract/Core/NagzVersion.swift" {
            for line in file.code where line.contains("ersion") {
                #expect(line.firstMatch(of: /"[0-9]+\.[0-9]+\.[0-9]+"/) == nil, "\(file.path): \(line)")
            }
        }
    }
}
