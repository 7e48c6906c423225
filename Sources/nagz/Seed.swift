import Domain
import Foundation
import Postgres
import Seeds
import Server

/// `nagz seed`: fills a database with demo or benchmark data.
enum Seed {
    static func run(_ arguments: Arguments) async throws {
        var arguments = arguments
        guard let dataSet = arguments.takeNext() else { throw Commands.missingCommandError(in: "seed") }
        let url = try arguments.ownerDatabaseURL()
        do {
            switch dataSet {
            case "demo": try await seedDemo(url, &arguments)
            case "personas": try await seedPersonas(url, &arguments)
            case "bench": try await seedBenchmark(url, &arguments)
            default: throw Commands.unknownCommandError(["seed", dataSet])
            }
        } catch let fault as SeedFault {
            throw Stop(.configuration, fault.description)
        } catch let fault as PostgresError {
            throw Stop(ownerDatabaseError: fault)
        }
    }

    /// Seeds the demo family. Prints progress on standard error, and only the sign-ins on standard output.
    private static func seedDemo(_ url: String, _ arguments: inout Arguments) async throws {
        let skipsNonEmpty = arguments.takeFlag("--if-empty")
        try arguments.finish()
        try await DemoSeed.run(
            databaseURL: url, auditKeyring: try AuditKeyFile.read(arguments.givenOptions), skipsNonEmpty: skipsNonEmpty
        ) { line in
            FileHandle.standardError.write(Data("the demo family: \(line)\n".utf8))
        } announce: { signIns in
            FileHandle.standardOutput.write(Data(signIns.map { "\($0)\n" }.joined().utf8))
        }
    }

    /// Seeds the personas, and prints the name, role and development token of each on standard output.
    private static func seedPersonas(_ url: String, _ arguments: inout Arguments) async throws {
        try arguments.finish()
        try await PersonaSeed.run(databaseURL: url, auditKeyring: try AuditKeyFile.read(arguments.givenOptions))
        for persona in PersonaSeed.all { print("\(persona.name), \(persona.role.rawValue): Bearer dev:\(persona.id)") }
    }

    private static func seedBenchmark(_ url: String, _ arguments: inout Arguments) async throws {
        let folder = try arguments.takeValue("--out") ?? "."
        let familyCount = try arguments.takeNumber("--families", in: 1...100_000) ?? BenchmarkSeed.standardFamilyCount
        try arguments.finish()
        let tokens = Tokens(keys: try TokenKeys.read(arguments.givenOptions))
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw Stop(.configuration, "cannot create the folder “\(folder)”: name another with --out")
        }
        try await BenchmarkSeed.run(
            databaseURL: url, tokens: tokens, auditKeyring: try AuditKeyFile.read(arguments.givenOptions),
            families: familyCount,
            folder: folder
        ) {
            print("seeding \($0)")
        }
    }
}
