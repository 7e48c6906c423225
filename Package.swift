// swift-tools-version: 6.3
import PackageDescription

// MARK: Settings

/// Every target: functions stay on their caller's executor unless they say otherwise, `any` is written out,
/// and a warning stops the build.
let common: [SwiftSetting] = [
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// Targets that touch C or raw memory also mark each such place with `unsafe`.
let checkedMemory: [SwiftSetting] = common + [.strictMemorySafety()]

/// What every test of the server uses.
let serverTesting: [Target.Dependency] = [
    "Server", "HTTP", "HTTPClient", "Postgres", "SQL", "DomainSQL", "Reactor", "Audit", "Contract", "NagzAI", "Domain",
    "JSON", "TestHTTPServer",
]

// MARK: Package

let package = Package(
    name: "nagz",
    products: [
        .executable(name: "nagz", targets: ["nagz"])
    ],
    targets: [
        // MARK: C libraries
        .target(name: "CLinux"),
        .target(name: "CSodium", linkerSettings: [.linkedLibrary("sodium")]),
        .target(name: "CWebPages", exclude: ["page.inc", "pages"]),
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

        // MARK: Pure rules and shapes
        .target(name: "Domain", swiftSettings: common),
        .target(name: "TimeZones", dependencies: ["Domain"], swiftSettings: common),
        .target(
            name: "NagzAI", dependencies: ["Domain"], exclude: ["README.md", "FAMILIES.md"],
            resources: [.embedInCode("Pools"), .embedInCode("Prompts"), .embedInCode("Vocabulary")],
            swiftSettings: common,
            // Unicode's data: part of the toolchain, which Foundation uses too.
            linkerSettings: [.linkedLibrary("_FoundationICU")]),
        .target(name: "SeededNumbers", swiftSettings: common),
        .target(name: "JSON", exclude: ["README.md"], swiftSettings: checkedMemory),
        // The wire's declarations become Swift in each build.
        .target(name: "WireCompiler", dependencies: ["JSON"], swiftSettings: common),
        .executableTarget(name: "wirec", dependencies: ["WireCompiler"], swiftSettings: common),
        .plugin(name: "WirePlugin", capability: .buildTool(), dependencies: ["wirec"], path: "Sources/WirePlugin"),
        .target(
            name: "Contract", dependencies: ["NagzAI", "Domain", "JSON"], exclude: ["README.md", "Wire"],
            swiftSettings: common, plugins: ["WirePlugin"]),
        .target(name: "Pictures", dependencies: ["CZlib"], swiftSettings: checkedMemory),
        .target(
            name: "Audit", dependencies: ["CCrypto", "CSodium", "Domain"], exclude: ["README.md"],
            swiftSettings: checkedMemory),

        // MARK: Machinery
        .target(name: "Reactor", dependencies: ["CLinux"], swiftSettings: checkedMemory),
        .target(
            name: "HTTP", dependencies: ["Reactor", "WebSocketProtocol", "CLinux", "CZlib"], exclude: ["README.md"],
            swiftSettings: checkedMemory),
        .target(name: "WebSocketProtocol", dependencies: ["CCrypto"], swiftSettings: checkedMemory),
        .target(
            name: "HTTPClient", dependencies: ["Reactor", "WebSocketProtocol", "CCurl"], swiftSettings: checkedMemory),
        .target(name: "LoopbackClient", dependencies: ["HTTPClient", "Reactor"], swiftSettings: common),
        .target(name: "SQL", swiftSettings: checkedMemory),
        .target(name: "SQLite", dependencies: ["SQL", "CSQLite"], swiftSettings: checkedMemory),
        .target(name: "Postgres", dependencies: ["SQL", "Reactor", "CPostgres"], swiftSettings: checkedMemory),

        // MARK: Product
        .target(
            name: "ModelProviders",
            dependencies: ["HTTPClient", "LoopbackClient", "Reactor", "Audit", "NagzAI", "JSON", "Domain"],
            exclude: ["README.md"],
            swiftSettings: common),
        .target(name: "DomainSQL", dependencies: ["SQL", "Domain"], swiftSettings: common),
        .target(name: "WebPages", dependencies: ["CWebPages"], swiftSettings: checkedMemory),
        .target(
            name: "Server",
            dependencies: [
                "HTTP", "HTTPClient", "WebSocketProtocol", "Postgres", "SQL", "DomainSQL", "Reactor", "Audit",
                "WebPages", "Contract",
                "NagzAI", "Pictures", "TimeZones", "Domain", "JSON", "CCrypto", "CSodium", "ModelProviders",
                "LoopbackClient",
            ],
            exclude: ["README.md", "THREATS.md"], swiftSettings: common),
        // It answers what a person keeps on the device: nothing below it reaches the network.
        .target(
            name: "LocalAI",
            dependencies: ["SQLite", "SQL", "DomainSQL", "Audit", "Contract", "NagzAI", "TimeZones", "Domain", "JSON"],
            swiftSettings: common),
        .target(
            name: "Device",
            dependencies: [
                "LocalAI", "HTTPClient", "LoopbackClient", "ModelProviders", "Reactor", "SQLite", "SQL", "DomainSQL",
                "Audit", "Contract", "NagzAI", "TimeZones", "Domain", "JSON",
            ],
            exclude: ["README.md"], swiftSettings: common),
        .target(
            name: "Seeds",
            dependencies: [
                "Server", "Postgres", "SQL", "DomainSQL", "Reactor", "Audit", "Contract", "NagzAI", "TimeZones",
                "Domain", "JSON", "SeededNumbers",
            ],
            swiftSettings: common),
        .executableTarget(
            name: "nagz",
            dependencies: [
                "Server", "Seeds", "Device", "LocalAI", "HTTPClient", "Audit", "Contract", "Postgres", "SQLite",
                "Reactor", "NagzAI", "Domain", "JSON", "ModelProviders", "LoopbackClient",
            ],
            swiftSettings: common),

        // MARK: Tests
        .target(
            name: "OpenAPICheck", dependencies: ["JSON"], path: "Tests/Support/OpenAPICheck", swiftSettings: common),
        .target(
            name: "FamilyHistories", dependencies: ["Contract", "NagzAI", "TimeZones", "Domain", "SeededNumbers"],
            path: "Tests/Support/FamilyHistories", swiftSettings: common),
        .target(name: "ChildProcesses", path: "Tests/Support/ChildProcesses", swiftSettings: common),
        .target(name: "SocketPairs", path: "Tests/Support/SocketPairs", swiftSettings: common),
        .target(
            name: "TestHTTPServer", dependencies: ["ChildProcesses"], path: "Tests/Support/TestHTTPServer",
            exclude: ["server.py", "webpush.py", "models.py", "files.py", "traces.py"], swiftSettings: common),
        .testTarget(
            name: "TimeZonesTests", dependencies: ["TimeZones", "Domain", "ChildProcesses"], exclude: ["zones.py"],
            swiftSettings: common),
        .testTarget(name: "DomainTests", dependencies: ["Domain", "SeededNumbers"], swiftSettings: common),
        .testTarget(
            name: "NagzAITests", dependencies: ["NagzAI", "SeededNumbers"], exclude: ["Corpus"], swiftSettings: common),
        .testTarget(name: "JSONTests", dependencies: ["JSON", "SeededNumbers"], swiftSettings: common),
        .testTarget(
            name: "ContractTests",
            dependencies: ["Contract", "NagzAI", "Domain", "JSON", "OpenAPICheck", "SeededNumbers", "WireCompiler"],
            swiftSettings: common),
        .testTarget(name: "AuditTests", dependencies: ["Audit", "CSodium", "Domain"], swiftSettings: common),
        .testTarget(name: "PicturesTests", dependencies: ["Pictures"], swiftSettings: common),
        .testTarget(name: "ReactorTests", dependencies: ["Reactor", "SocketPairs"], swiftSettings: common),
        .testTarget(
            name: "HTTPTests", dependencies: ["HTTP", "WebSocketProtocol", "Reactor", "SeededNumbers", "SocketPairs"],
            swiftSettings: common),
        .testTarget(
            name: "HTTPClientTests", dependencies: ["HTTPClient", "WebSocketProtocol", "Reactor", "TestHTTPServer"],
            swiftSettings: common),
        .testTarget(
            name: "LoopbackClientTests",
            dependencies: ["LoopbackClient", "HTTPClient", "Reactor", "ChildProcesses", "TestHTTPServer"],
            swiftSettings: common),
        .testTarget(
            name: "ModelProvidersTests",
            dependencies: [
                "ModelProviders", "LoopbackClient", "HTTPClient", "Reactor", "Audit", "NagzAI", "Domain", "JSON",
                "ChildProcesses", "TestHTTPServer",
            ],
            swiftSettings: common),
        .testTarget(
            name: "PostgresTests", dependencies: ["Postgres", "SQL", "DomainSQL", "Domain", "Reactor"],
            swiftSettings: common),
        .testTarget(
            name: "DeviceTests",
            dependencies: [
                "Device", "LocalAI", "SQLite", "SQL", "DomainSQL", "Audit", "Contract", "NagzAI", "TimeZones", "Domain",
                "JSON", "FamilyHistories", "SeededNumbers", "TestHTTPServer", "LoopbackClient", "Reactor",
                "ModelProviders",
            ],
            swiftSettings: common),
        .testTarget(name: "ArchitectureTests", dependencies: ["Audit", "Contract"], swiftSettings: common),
        // The server with a real database: one kit, and a target for each group of features.
        .target(
            name: "ServerTestKit",
            dependencies: serverTesting + [
                "ModelProviders", "LoopbackClient", "TimeZones", "OpenAPICheck", "SeededNumbers", "SocketPairs",
            ],
            path: "Tests/Support/ServerTestKit", swiftSettings: common),
        .testTarget(
            name: "PeopleTests", dependencies: serverTesting + ["ServerTestKit", "TimeZones"], swiftSettings: common),
        .testTarget(
            name: "NagTests", dependencies: serverTesting + ["ServerTestKit", "OpenAPICheck", "TimeZones"],
            swiftSettings: common),
        .testTarget(
            name: "MediationTests",
            dependencies: serverTesting + [
                "ServerTestKit", "Device", "LocalAI", "SQLite", "ModelProviders", "LoopbackClient", "ChildProcesses",
                "FamilyHistories", "SeededNumbers", "TimeZones",
            ],
            swiftSettings: common),
        .testTarget(
            name: "AuditLogTests",
            dependencies: serverTesting + ["ServerTestKit", "Seeds", "ChildProcesses", "SeededNumbers", "TimeZones"],
            swiftSettings: common),
        .testTarget(
            name: "ServerTests",
            dependencies: serverTesting + [
                "ServerTestKit", "ModelProviders", "LoopbackClient", "WebSocketProtocol", "ChildProcesses",
                "OpenAPICheck",
            ],
            swiftSettings: common),
        // What holds for every operation: it reads the rows of the role matrix that stand beside each feature's tests.
        .testTarget(
            name: "EverywhereTests",
            dependencies: serverTesting + [
                "ServerTestKit", "PeopleTests", "NagTests", "MediationTests", "AuditLogTests", "ServerTests",
                "OpenAPICheck", "ChildProcesses",
            ],
            swiftSettings: common),
    ]
)

// Under the thread sanitizer (deploy/test): the tests below the server, and of the targets only what they need.
if Context.environment["NAGZ_UNIT_TESTS_ONLY"] != nil {
    let product: Set = [
        "Server", "Seeds", "nagz", "ServerTestKit", "PeopleTests", "NagTests", "MediationTests", "AuditLogTests",
        "ServerTests", "EverywhereTests", "ArchitectureTests",
    ]
    package.products = []
    package.targets.removeAll { product.contains($0.name) }
}
