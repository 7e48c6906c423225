import Domain
import Foundation
import Postgres
import Seeds
import Server

/// `nagz seed`: fills a database with demo or benchmark data.
enum Seed {
    static func run(_ arguments: Arguments) async throws {
        var arguments = arguments
        guard let what = arguments.next() else { throw Commands.missing("seed") }
        let url = try arguments.ownerDatabaseURL()
        do {
            switch what {
            case "demo": try await demo(url, &arguments)
            case "personas": try await personas(url, &arguments)
            case "bench": try await bench(url, &arguments)
            default: throw Commands.unknown(["seed", what])
            }
        } catch let fault as SeedFault {
            throw Stop(.configuration, fault.description)
        } catch let fault as PostgresError {
            throw Stop(ofOwner: fault)
        }
    }

    /// Seeds the demo family. Prints progress on standard error, and only the sign-ins on standard output.
    private static func demo(_ url: String, _ arguments: inout Arguments) async throws {
        let skipsNonEmpty = arguments.flag("--if-empty")
        try arguments.finish()
        try await DemoSeed.run(
            databaseURL: url, auditKeyring: try AuditKeyFile.read(arguments.given), skipsNonEmpty: skipsNonEmpty
        ) { line in
            FileHandle.standardError.write(Data("the demo family: \(line)\n".utf8))
        } announce: { signIns in
            FileHandle.standardOutput.write(Data(signIns.map { "\($0)\n" }.joined().utf8))
        }
    }

    /// Seeds the personas, and prints the name, role and development token of each on standard output.
    private static func personas(_ url: String, _ arguments: inout Arguments) async throws {
        try arguments.finish()
        try await PersonaSeed.run(databaseURL: url, auditKeyring: try AuditKeyFile.read(arguments.given))
        for persona in PersonaSeed.all { print("\(persona.name), \(persona.role.rawValue): Bearer dev:\(persona.id)") }
    }

    private static func bench(_ url: String, _ arguments: inout Arguments) async throws {
        let folder = try arguments.value("--out") ?? "."
        let families = try arguments.number("--families", in: 1...100_000) ?? BenchmarkSeed.standardFamilies
        try arguments.finish()
        let tokens = Tokens(keys: try TokenKeys.read(arguments.given))
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw Stop(.configuration, "cannot create the folder “\(folder)”: name another with --out")
        }
        try await BenchmarkSeed.run(
            databaseURL: url, tokens: tokens, auditKeyring: try AuditKeyFile.read(arguments.given), families: families,
            folder: folder
        ) {
            print("seeding \($0)")
        }
    }
}
