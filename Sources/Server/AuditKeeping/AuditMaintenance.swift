import Contract
import Domain
import Postgres
import Reactor
import SQL

/// Writes to the audit log from the command line, as the schema's owner and with the keys.
struct AuditMaintenance {
    let database: Database
    let keys: AuditKeyring
    let clock: any WallClock
    let random: any Randomness
    let sealing: Sealing
    let ledger: Ledger

    init(
        _ database: Database, _ keys: AuditKeyring, clock: any WallClock = SystemClock(),
        random: any Randomness = SystemRandomness()
    ) {
        self.database = database
        self.keys = keys
        self.clock = clock
        self.random = random
        sealing = Sealing(keys, random: random)
        ledger = Ledger(
            database: database, random: random, sealing: sealing, comparesClocks: clock.isComparedWithDatabase)
    }

    /// Returns the context of an act of the command line.
    func context(_ now: Timestamp) -> CallContext {
        CallContext(systemActAt: now, random)
    }

    /// Writes an act in a transaction.
    /// - Throws: `ChainUnavailable` if the act's basis no longer holds, if the family has no clock or one that runs too
    ///   far ahead, and if this machine's clock differs too much from the database's.
    func perform(_ act: Act, in family: FamilyID, _ context: CallContext, _ transaction: Transaction) async throws {
        let seal = try await ledger.seal(for: act, transaction)
        let rows = try await transaction.query(ledger.statement(act, in: family, context, seal: seal))
        guard !rows.isEmpty else { throw ChainUnavailable(family: family) }
    }

    /// The error for an act that `perform` could not commit, for one of the reasons given there.
    struct ChainUnavailable: Error, CustomStringConvertible {
        let family: FamilyID
        var description: String { "the chain of \(family) accepts no entry: its clock is missing or runs ahead" }
    }
}
