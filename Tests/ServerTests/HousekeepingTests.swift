import Contract
import Domain
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Housekeeping")
struct HousekeepingTests {
    @Test("housekeeping deletes expired rows in batches, and keeps those that may still be requested")
    func sweep() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let now = server.clock.now()
            let old = Housekeeping.batchSize + 3
            func fill(_ count: Int, _ age: Timestamp.Span) async throws {
                let then = now - age
                try await server.sql(
                    """
                    INSERT INTO idempotency_keys (user_id, key, fingerprint, status, body, created_at)
                    SELECT \(family.guardian.id), sha256(int4send(n) || timestamptz_send(\(then))), sha256(''), 200, '', \(then)
                    FROM generate_series(1, \(count)::integer) n
                    """)
                try await server.sql(
                    """
                    INSERT INTO sign_in_attempts (subject, window_started, attempts)
                    SELECT sha256(int4send(n) || timestamptz_send(\(then))), \(then), 1 FROM generate_series(1, \(count)::integer) n
                    """)
                try await server.sql(
                    """
                    INSERT INTO pin_attempts (subject, attempts, last_at, locked_until)
                    SELECT sha256(int4send(n) || timestamptz_send(\(then))), 5, \(then), \(then + .hours(24))
                    FROM generate_series(1, \(count)::integer) n
                    """)
                try await server.sql(
                    """
                    INSERT INTO known_addresses (user_id, address_hash, last_used_at)
                    SELECT \(family.guardian.id), sha256(int4send(n) || timestamptz_send(\(then))), \(then)
                    FROM generate_series(1, \(count)::integer) n
                    """)
                try await server.sql(
                    """
                    WITH s AS (
                        INSERT INTO sessions (id, user_id, created_at, expires_at)
                        SELECT gen_random_uuid(), \(family.guardian.id), \(then), \(then)
                        FROM generate_series(1, \(count)::integer) RETURNING id
                    )
                    INSERT INTO refresh_tokens (token_hash, session_id, issued_at, expires_at)
                    SELECT sha256(uuid_send(id)), id, \(then), \(then) FROM s
                    """)
            }
            func counts() async throws -> [TableCount] {
                try await server.database.rows(
                    """
                    SELECT 'keys' AS name, count(*)::bigint AS n FROM idempotency_keys UNION ALL
                    SELECT 'attempts', count(*)::bigint FROM sign_in_attempts UNION ALL
                    SELECT 'pins', count(*)::bigint FROM pin_attempts UNION ALL
                    SELECT 'addresses', count(*)::bigint FROM known_addresses UNION ALL
                    SELECT 'sessions', count(*)::bigint FROM sessions UNION ALL
                    SELECT 'tokens', count(*)::bigint FROM refresh_tokens
                    """
                ) { TableCount(name: try $0["name"], count: try $0["n"]) }
            }
            try await fill(2, .minutes(14))
            let before = try await counts()
            try await fill(old, .days(91))
            let deleted = try await server.database.run { try await Housekeeping.applyRetention($0, at: now) }
            #expect(deleted == 5 * old)
            #expect(try await counts() == before)
            #expect(try await server.database.run { try await Housekeeping.applyRetention($0, at: now) } == 0)
            #expect(
                try await server.call(API.syncEvents, SyncQuery(familyID: family.id), as: family.guardian).nags.isEmpty)
        }
    }

    @Test("a round of housekeeping purges the accounts that are due as well")
    func purges() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let person = family.participant
            _ = try await server.call(API.deleteAccount, AccountPath(userID: person.id), as: person)
            let (clock, random) = (server.clock, server.random)
            @Sendable func runRound() async throws -> Int {
                try await server.database.run { database in
                    let sealing = Sealing(TestServer.auditKeyring, random: random)
                    let ledger = Ledger(database: database, random: random, sealing: sealing)
                    return try await Housekeeping(
                        database: database, ledger: ledger, clock: clock, random: random, log: Log(.off),
                        counters: RetentionCounters(), purgeDays: AccountPurge.standardDays
                    ).runRound().purgedAccounts
                }
            }
            #expect(try await runRound() == 0)
            clock.advance(by: .days(29))
            #expect(try await runRound() == 1)
            #expect(try await runRound() == 0)
        }
    }

    private struct TableCount: Equatable {
        let name: String
        let count: Int
    }
}
