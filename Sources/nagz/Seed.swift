import Foundation
import Postgres
import Server

/// `nagz seed`: data to look at, and data to measure with.
enum Seed {
    static func run(_ arguments: Arguments) async throws {
        var arguments = arguments
        guard let what = arguments.next() else { throw Stop(.usage, "nagz seed takes demo or bench") }
        let url = try arguments.databaseURL()
        do {
            switch what {
            case "bench":
                let folder = try arguments.value("--out") ?? "."
                try arguments.finish()
                try await BenchmarkSeed.run(
                    databaseURL: url, tokens: Tokens(keys: try TokenKeys.read()), folder: folder) { print("seeding \($0)") }
            default: throw Stop(.usage, "nagz seed takes demo or bench, not “\(what)”")
            }
        } catch let fault as SeedFault {
            throw Stop(.configuration, fault.description)
        } catch let fault as PostgresError {
            throw Stop(.unavailable, fault.description)
        }
    }
}
