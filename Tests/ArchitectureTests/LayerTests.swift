import Foundation
import Testing

@Suite("Layers")
struct LayerTests {
    /// The targets that each target of the sources names in Package.swift: the only list of what it may import. The build
    /// of `deploy/test` refuses imports of other targets (`--explicit-target-dependency-import-check`).
    private static let dependencies: [String: Set<String>] = {
        let file = SourceFile.repository.appending(path: "Package.swift")
        guard let manifest = try? String(contentsOf: file, encoding: .utf8) else { return [:] }
        let target = /name: "(\w+)",?(?:\s*dependencies: \[([^\]]*)\])?/
        return Dictionary(
            manifest.matches(of: target).map { match in
                let names = (match.output.2 ?? "").split(separator: ",").compactMap { $0.firstMatch(of: /\w+/)?.output }
                return (String(match.output.1), Set(names.map(String.init)))
            }
        ) { $0.union($1) }
    }()
    private static let toolchain: Set<String> = ["Swift", "Synchronization", "Glibc", "Dispatch", "RegexBuilder"]
    /// Modules of the toolchain for one target: Unicode's data, a model of Apple's systems, the interface of plugins.
    private static let special = [
        "NagzAI": "_FoundationICU", "ModelProviders": "FoundationModels", "WirePlugin": "PackagePlugin",
    ]
    /// Foundation is large and slow to start: only what runs once, or is at the outside, uses it.
    private static let mayUseFoundation: Set<String> = [
        "TimeZones", "Server", "Seeds", "LocalAI", "Device", "nagz", "WireCompiler", "wirec", "WirePlugin",
    ]

    @Test("every target of the sources is in the package")
    func known() {
        #expect(SourceFile.all.count > 100 && SourceFile.tests.count > 100, "the files were found")
        #expect(Set(SourceFile.all.map(\.target)).subtracting(Self.dependencies.keys).isEmpty)
    }

    @Test(
        "beside the package's targets, a target imports only the toolchain's small modules", arguments: SourceFile.all)
    func imports(file: SourceFile) {
        var allowed = Self.toolchain.union(Self.dependencies.keys)
        if Self.mayUseFoundation.contains(file.target) { allowed.insert("Foundation") }
        if let module = Self.special[file.target] { allowed.insert(module) }
        // The expression takes long: it looks only at lines that have the word.
        for line in file.code where line.contains("import ") {
            guard
                let match = line.firstMatch(
                    of:
                        /^\s*(?:@[A-Za-z_()]+ )*(?:public |internal |private )?import (?:(?:struct|class|enum|protocol|func|var) )?([A-Za-z_]+)/
                )
            else { continue }
            let module = String(match.output.1)
            #expect(allowed.contains(module), "\(file.path) imports \(module)")
        }
    }

    @Test("nothing below LocalAI reaches the network: what a person keeps on the device cannot leave")
    func local() throws {
        var below: Set<String> = []
        var found = try #require(Self.dependencies["LocalAI"])
        while !found.isEmpty {
            below.formUnion(found)
            found = Set(found.flatMap { Self.dependencies[$0] ?? [] }).subtracting(below)
        }
        #expect(below.isSuperset(of: ["SQLite", "CSQLite", "NagzAI"]))
        #expect(
            below.isDisjoint(with: ["HTTPClient", "LoopbackClient", "ModelProviders", "Reactor", "CLinux", "CCurl"]))
        for file in SourceFile.all where below.contains(file.target) || file.target == "LocalAI" {
            for call in ["URLSession", "socket(", "connect("] {
                #expect(!file.code.contains { $0.contains(call) }, "\(file.path) has \(call)")
            }
        }
    }

    @Test("no file has more than 400 lines", arguments: SourceFile.all + SourceFile.tests)
    func length(file: SourceFile) {
        #expect(file.lines.count <= 400, "\(file.path) has \(file.lines.count) lines")
    }

    @Test("no file name contains Manager, Helper, Utils, Impl, Misc or Common", arguments: SourceFile.all)
    func names(file: SourceFile) {
        let name = file.path.split(separator: "/").last ?? ""
        for word in ["Manager", "Helper", "Utils", "Impl", "Misc", "Common"] {
            #expect(!name.contains(word), "\(file.path)")
        }
    }
}
