import Foundation
import Testing

/// A Markdown document of the repository.
struct MarkdownDocument: Sendable, CustomStringConvertible {
    /// Below the repository's folder, such as `deploy/README.md`.
    let path: String
    /// The text without code blocks, whose brackets are no links.
    let prose: String

    var description: String { path }

    init(path: String, text: String) {
        self.path = path
        var isInCode = false
        prose = text.split(separator: "\n", omittingEmptySubsequences: false).filter { line in
            let isFence = line.drop { $0 == " " }.hasPrefix("```")
            defer { if isFence { isInCode.toggle() } }
            return !isFence && !isInCode
        }.joined(separator: "\n")
    }

    static let all: [MarkdownDocument] = {
        let root = SourceFile.repository
        let hidden: Set = [".git", ".build", ".nagz"]
        let top = (try? FileManager.default.contentsOfDirectory(atPath: root.path())) ?? []
        return top.filter { !hidden.contains($0) }.flatMap { name -> [String] in
            let below = FileManager.default.enumerator(atPath: root.appending(path: name).path())
            return [name] + (below?.compactMap { ($0 as? String).map { "\(name)/\($0)" } } ?? [])
        }.filter { $0.hasSuffix(".md") }.sorted().compactMap { path in
            (try? String(contentsOf: root.appending(path: path), encoding: .utf8)).map {
                MarkdownDocument(path: path, text: $0)
            }
        }
    }()

    /// The targets of its links.
    var links: [String] { prose.matches(of: /\]\(([^)\s]+)\)/).map { String($0.output.1) } }

    /// The names of code in it: words between backquotes that begin with a capital letter.
    var codeNames: Set<String> {
        Set(prose.matches(of: /`([A-Z]\w+)[^`]*`/).map { String($0.output.1) })
    }

    /// The names by which links reach its headings, as GitHub makes them.
    var anchors: Set<String> {
        var anchors: Set<String> = []
        for line in prose.split(separator: "\n") where line.hasPrefix("#") {
            let title = line.drop { $0 == "#" }.drop { $0 == " " }
            let anchor = String(
                title.replacing(/\[([^\]]*)\]\([^)]*\)/) { $0.output.1 }.lowercased()
                    .filter { $0.isLetter || $0.isNumber || "-_ ".contains($0) }
                    .map { $0 == " " ? "-" : $0 })
            var (unique, number) = (anchor, 0)
            while !anchors.insert(unique).inserted {
                number += 1
                unique = "\(anchor)-\(number)"
            }
        }
        return anchors
    }
}

@Suite("Documents")
struct DocumentLinkTests {
    private static let documents = Dictionary(
        uniqueKeysWithValues: MarkdownDocument.all.map { ($0.path, $0) })

    @Test(
        "every relative link of a document leads to a file, and its anchor to a heading",
        arguments: MarkdownDocument.all)
    func links(document: MarkdownDocument) {
        let folder = SourceFile.repository.appending(path: document.path).deletingLastPathComponent()
        for link in document.links where !link.contains("://") && !link.hasPrefix("mailto:") {
            let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let target = parts[0].isEmpty ? document.path : Self.path(folder.appending(path: parts[0]))
            #expect(
                FileManager.default.fileExists(atPath: SourceFile.repository.appending(path: target).path()),
                "\(document) links to \(link)")
            guard parts.count == 2, target.hasSuffix(".md") else { continue }
            #expect(Self.documents[target]?.anchors.contains(parts[1]) == true, "\(document) links to \(link)")
        }
    }

    @Test(
        "every name of code in a module's document is the name of code or of a file",
        arguments: MarkdownDocument.all.filter { $0.path.hasPrefix("Sources/") })
    func codeNames(document: MarkdownDocument) {
        #expect(document.codeNames.subtracting(SourceFile.words).sorted() == [])
    }

    @Test("the check of links finds links in prose alone, and the anchors of headings")
    func finder() {
        let document = MarkdownDocument(
            path: "a.md",
            text:
                "# One, two: `three`\n[x](b.md#c)\n```sh\n# no heading\n[y](z.md)\n```\n## Same\n## Same\n## [L](m.md)'s\n"
        )
        #expect(document.links == ["b.md#c", "m.md"])
        #expect(
            MarkdownDocument(path: "b.md", text: "`Nag.due` of `x`, `NAGZ` and\n`Some+File.swift`").codeNames
                == ["Nag", "NAGZ", "Some"])
        #expect(document.anchors == ["one-two-three", "same", "same-1", "ls"])
        #expect(MarkdownDocument.all.count > 10)
    }

    @Test("the README has at most 1,000 words")
    func length() throws {
        let text = try String(contentsOf: SourceFile.repository.appending(path: "README.md"), encoding: .utf8)
        #expect(text.split(whereSeparator: \.isWhitespace).count <= 1_000)
    }

    /// A file's path below the repository.
    private static func path(_ file: URL) -> String {
        let (root, path) = (SourceFile.repository.path(), file.standardizedFileURL.path())
        return path.hasPrefix(root) ? String(path.dropFirst(root.count)) : path
    }
}
