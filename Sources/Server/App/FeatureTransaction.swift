import Audit
import Contract
import Domain
import NagzAI
import Postgres
import Reactor
import SQL

/// One transaction in which seeds use the server's features without a running server. It commits as a whole or leaves
/// nothing.
package enum FeatureTransaction {
    /// Runs `body` with the features' services in one transaction, which holds the lock of seeds, and commits it.
    /// - Parameters:
    ///   - databaseURL: the URL of the database, with the login of the schema's owner.
    ///   - auditKeyring: seals the details about people in the audit log; nil leaves them unsealed.
    ///   - cost: the cost of hashing passwords.
    package static func run(
        databaseURL: String, auditKeyring: AuditKeyring?, clock: any WallClock, cost: PasswordHashing.Cost,
        _ body: @Sendable @escaping (Services) async throws -> Void
    ) async throws {
        let pool = try PasswordHashing.startPool(queueLimitPerPurpose: 8)
        let loop = try EventLoop(name: "nagz-seed")
        try loop.start()
        defer {
            loop.stop()
            pool.stop()
        }
        let hashing = PasswordHashing(pool, cost: cost)
        try await loop.runTask { poller in
            try await run(databaseURL, auditKeyring, clock, hashing, poller, body)
        }
    }

    private static func run(
        _ url: String, _ auditKeyring: AuditKeyring?, _ clock: any WallClock, _ hashing: PasswordHashing,
        _ poller: Poller, _ body: (Services) async throws -> Void
    ) async throws {
        let options = try ConnectionOptions(url: url, settings: Configuration.databaseSessionSettings)
        // One session, so that the transaction covers every statement until it is committed. If the session is lost,
        // the running statement fails, and the seed with it.
        var limits = Database.Limits()
        limits.connections = 1
        let database = Database(options, limits: limits, poller: poller)
        database.open()
        defer { database.close() }

        _ = try await database.query("BEGIN")
        _ = try await database.query("SELECT pg_advisory_xact_lock(\(lockKey))")
        let random = SystemRandomness()
        // Tokens are for this process alone.
        try await body(
            Services(
                standalone: database, clock: clock, random: random,
                tokens: Tokens(keys: [random.bytes(32)], acceptsDevelopmentTokens: true), hashing: hashing,
                auditKeyring: auditKeyring))
        _ = try await database.query("COMMIT")
    }

    /// The key of the advisory lock that is held while seeding, so that two processes do not seed at the same time.
    private static let lockKey = 0x6e61_677a
}

extension Services {
    /// Marks the pending notifications of a demo family as sent, because nobody is to receive them.
    package func markDemoDeliveriesAsSent(in family: FamilyID) async throws {
        _ = try await database.query(DeliveryStatements.markDemoSent(in: family, at: clock.now()))
    }

    /// Records in the audit log that all entries of a family so far are a demo's.
    /// - Parameter days: the number of days that the demo's history covers.
    package func recordDemo(days: Int, in family: FamilyID, _ context: CallContext) async throws {
        let act = Act(
            kind: .demoSeeded, basis: .nothing, actor: SystemActor.guest, details: ["days": "\(days)"], stampedRows: 0
        )
        let _: NoAnswer = try await ledger.write(context, in: family) { _ in .perform(act, NoAnswer()) }
    }
}
