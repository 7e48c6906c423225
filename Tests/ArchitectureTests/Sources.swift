import Foundation

/// The project's sources as text.
struct SourceFile: Sendable, CustomStringConvertible {
    /// Below `Sources`, such as `Server/Features/Nags/Nags.swift`.
    let path: String
    let lines: [String]

    var description: String { path }
    var target: String { path.split(separator: "/").first.map(String.init) ?? "" }

    /// The lines without those that are comments.
    var code: [String] { lines.filter { !$0.drop { $0 == " " }.hasPrefix("//") } }

    static let repository = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL

    static let all: [SourceFile] = files(below: "Sources")
    static let tests: [SourceFile] = files(below: "Tests")

    private static func files(below folder: String) -> [SourceFile] {
        let root = repository.appending(path: folder)
        let paths = FileManager.default.enumerator(atPath: root.path())?.compactMap { $0 as? String } ?? []
        return paths.sorted().filter { $0.hasSuffix(".swift") }.compactMap { path in
            guard let text = try? String(contentsOf: root.appending(path: path), encoding: .utf8) else { return nil }
            return SourceFile(
                path: path, lines: text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
        }
    }

    /// The words of all sources and tests, of the scripts of the web pages, and of all paths of `Sources`.
    static let words: Set<String> = {
        let root = repository.appending(path: "Sources")
        let paths = FileManager.default.enumerator(atPath: root.path())?.compactMap { $0 as? String } ?? []
        let scripts = paths.filter { $0.hasSuffix(".js") }.compactMap { path in
            try? String(contentsOf: root.appending(path: path), encoding: .utf8)
        }
        return ((all + tests).flatMap(\.code) + paths + scripts).reduce(into: []) { words, text in
            let parts = text.split { !($0.isLetter || $0.isNumber || $0 == "_") }
            words.formUnion(parts.map(String.init))
        }
    }()

    /// The tables that are there after all migrations.
    static let tables: [String] = {
        let folder = repository.appending(path: "Migrations")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? []
        return names.sorted().reduce(into: []) { tables, name in
            let text = (try? String(contentsOf: folder.appending(path: name), encoding: .utf8)) ?? ""
            let creation = /CREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?([a-z_]+)/
            tables += text.matches(of: creation).map { String($0.output.1) }
            let dropped = text.matches(of: /DROP TABLE ([a-z_]+)/).map { String($0.output.1) }
            tables.removeAll { dropped.contains($0) }
        }
    }()
}
