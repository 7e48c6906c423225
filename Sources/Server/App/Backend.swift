import NagzAI
import Postgres
import TimeZones

/// What the features of one loop work with. Lives on that loop.
final class Backend {
    let database: Database
    let ledger: Ledger
    let access: Access
    let clock: any WallClock
    let random: any Randomness
    let tokens: Tokens
    let verifiedTokens: VerifiedTokens
    let hashing: PasswordHashing
    let heuristics: Heuristics
    let zones = ZoneTable()

    init(
        database: Database, clock: any WallClock, random: any Randomness, tokens: Tokens, hashing: PasswordHashing,
        heuristics: Heuristics
    ) {
        self.database = database
        self.clock = clock
        self.random = random
        self.tokens = tokens
        verifiedTokens = VerifiedTokens(tokens)
        self.hashing = hashing
        self.heuristics = heuristics
        access = Access()
        ledger = Ledger(database: database, random: random)
    }
}
