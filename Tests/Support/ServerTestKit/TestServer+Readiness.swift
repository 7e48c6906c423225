import NagzAI
import Postgres
import Reactor

@testable import Server

extension TestServer {
    /// Runs `body` on the loop of the test's own session, with the readiness check of a server on that session. The
    /// test's clock is set to the machine's time, which the database uses.
    func withReadiness(
        _ body: @escaping @Sendable (ReadinessCheck, Telemetry, Database) async throws -> Void
    ) async throws {
        let (clock, random, tokens) = (clock, random, tokens)
        clock.set(to: SystemClock().now())
        try await database.run { database in
            let pool = try BlockingPool(name: "test-hash", threads: 1, queueLimitPerLane: 1)
            defer { pool.stop() }
            let services = try Services(
                standalone: database, clock: clock, random: random, tokens: tokens,
                hashing: PasswordHashing(pool, cost: .testing), auditKeyring: nil)
            let telemetry = Telemetry(loops: 1)
            try await body(ReadinessCheck(services, telemetry), telemetry, database)
        }
    }
}
