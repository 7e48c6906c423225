import Testing

@Suite("Layers")
struct LayerTests {
    /// What each target may import of this package, beside the toolchain's own modules. Domain is at the bottom, the
    /// databases know nothing of the product, and the device's half never sees the server's.
    private static let allowed: [String: Set<String>] = [
        "Domain": [],
        "TimeZones": ["Domain"],
        "JSON": [],
        "SeededNumbers": [],
        "Pictures": ["CZlib"],
        // Unicode's data is in the toolchain's ICU.
        "NagzAI": ["Domain", "_FoundationICU"],
        // They make the Swift of Contract's declarations, in a build.
        "WireCompiler": ["JSON"],
        "wirec": ["WireCompiler"],
        "WirePlugin": ["PackagePlugin"],
        "Contract": ["NagzAI", "Domain", "JSON"],
        "Audit": ["CCrypto", "CSodium", "Domain"],
        "WebPages": ["CWebPages"],
        "Reactor": ["CLinux"],
        "WebSocketProtocol": ["CCrypto"],
        "HTTP": ["Reactor", "WebSocketProtocol", "CLinux", "CZlib"],
        "HTTPClient": ["Reactor", "WebSocketProtocol", "CCurl"],
        // On Apple's systems the operating system has a model.
        "ModelProviders": [
            "HTTPClient", "LoopbackClient", "Reactor", "Audit", "NagzAI", "JSON", "Domain", "FoundationModels",
        ],
        "LoopbackClient": ["HTTPClient", "Reactor"],
        "SQL": [],
        "Postgres": ["SQL", "Reactor", "CPostgres"],
        "SQLite": ["SQL", "CSQLite"],
        "DomainSQL": ["SQL", "Domain"],
        "Server": [
            "HTTP", "HTTPClient", "WebSocketProtocol", "Postgres", "SQL", "DomainSQL", "Reactor", "Audit", "WebPages",
            "Contract", "NagzAI", "Pictures", "TimeZones", "Domain", "JSON", "CCrypto", "CSodium", "ModelProviders",
            "LoopbackClient",
        ],
        "Seeds": [
            "Server", "Postgres", "SQL", "DomainSQL", "Reactor", "Audit", "Contract", "NagzAI", "TimeZones", "Domain",
            "JSON", "SeededNumbers",
        ],
        "LocalAI": ["SQLite", "SQL", "DomainSQL", "Audit", "Contract", "NagzAI", "TimeZones", "Domain", "JSON"],
        "Device": [
            "LocalAI", "HTTPClient", "LoopbackClient", "ModelProviders", "Reactor", "SQLite", "SQL", "DomainSQL",
            "Audit", "Contract", "NagzAI", "TimeZones", "Domain", "JSON",
        ],
        "nagz": [
            "Server", "Seeds", "Device", "LocalAI", "HTTPClient", "Contract", "Postgres", "SQL", "SQLite", "Reactor",
            "Audit", "NagzAI", "Domain", "JSON", "ModelProviders", "LoopbackClient",
        ],
    ]
    private static let toolchain: Set<String> = ["Swift", "Synchronization", "Glibc", "Dispatch", "RegexBuilder"]
    /// Foundation is large and slow to start: only what runs once, or is at the outside, uses it.
    private static let mayUseFoundation: Set<String> = [
        "TimeZones", "Server", "Seeds", "LocalAI", "Device", "nagz", "WireCompiler", "wirec", "WirePlugin",
    ]

    @Test("every target of the sources has an entry in the table of allowed imports")
    func known() {
        #expect(SourceFile.all.count > 100 && SourceFile.tests.count > 100, "the files were found")
        #expect(Set(SourceFile.all.map(\.target)).subtracting(Self.allowed.keys).isEmpty)
    }

    @Test("a target imports only the targets below it", arguments: SourceFile.all)
    func imports(file: SourceFile) {
        var allowed = Self.toolchain.union(Self.allowed[file.target] ?? [])
        if Self.mayUseFoundation.contains(file.target) { allowed.insert("Foundation") }
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
        var found = try #require(Self.allowed["LocalAI"])
        while !found.isEmpty {
            below.formUnion(found)
            found = Set(found.flatMap { Self.allowed[$0] ?? [] }).subtracting(below)
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
