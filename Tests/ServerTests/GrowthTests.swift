import Contract
import Domain
import NagzAI
import Postgres
import SQL
import Synchronization
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Pages read with a growing history")
struct GrowthTests {
    /// Gives a person that many old nags, all resolved long ago, with their events and a snooze each; and a few of this
    /// week.
    private static func fill(_ server: TestServer, _ home: Household, old: Int) async throws {
        let now = server.clock.now()
        for (count, newest, name) in [(old, now - .days(100), "old"), (20, now - .hours(1), "new")] {
            let nag: SQL = "md5(\(name) || i)::uuid"
            let at: SQL = "\(newest) - i * interval '2 hours'"
            try await server.sql(
                """
                INSERT INTO nags (family_id, id, creator_id, recipient_id, due_at, category, done_definition, status,
                                  created_at, cycle_started_at, completed_at, closed_at, sync_seq, sync_ts)
                SELECT \(home.id), \(nag), \(home.guardian.id), \(home.child.id), \(at), 'chores', 'ack_only',
                       CASE i % 4 WHEN 0 THEN 'missed' ELSE 'completed' END, \(at) - interval '1 hour',
                       \(at) - interval '1 hour', CASE WHEN i % 4 > 0 THEN \(at) END, \(at), 0, \(at)
                FROM generate_series(1, \(count)) i
                """)
            for (number, type) in ["nag_missed", "nag_snoozed", "note_added"].enumerated() {
                try await server.sql(
                    """
                    INSERT INTO nag_events (family_id, id, nag_id, event_type, actor_id, recipient_id, at, sync_seq, sync_ts)
                    SELECT \(home.id), md5(\(name) || i || \(type))::uuid, \(nag), \(type), \(home.child.id),
                           \(home.child.id), \(at), 0, \(at) + \(number) * interval '1 microsecond'
                    FROM generate_series(1, \(count)) i WHERE \(type) <> 'nag_missed' OR i % 4 = 0
                    """)
            }
            try await server.sql(
                """
                INSERT INTO excuses (family_id, id, nag_id, author_id, summary, category, confidence, at)
                SELECT \(home.id), \(nag), \(nag), \(home.child.id), 'x', 'time_conflict', 0.9, \(at)
                FROM generate_series(1, \(count)) i
                """)
        }
        try await server.sql("VACUUM ANALYZE")
    }

    private static func statements(_ server: TestServer, _ home: Household) throws -> [(name: String, statement: SQL)] {
        let (now, nag) = (server.clock.now(), NagID(high: 0xa1, low: 1))
        let context = CallContext.ofTest(at: now, server.random)
        let tokens = VerifiedTokens(server.tokens)
        func caller(_ person: TestPerson) throws -> Caller {
            let claims = Tokens.Claims(user: person.id, session: person.session)
            return try tokens.caller(server.tokens.accessToken(claims, at: now), context)
        }
        let (guardian, child) = (try caller(home.guardian), try caller(home.child))
        let day = now - .hours(12)..<now + .hours(12)
        return [
            ("facts of a nag", AIStatements.nagFacts(nag, in: .family, for: guardian, .full)),
            ("tone", AIStatements.nagFacts(nag, in: .family, for: guardian, .tone)),
            ("patterns", AIStatements.misses(of: home.child.id, in: home.id, from: now - .days(90), to: now)),
            ("digest", AIStatements.openAndResolvedNags(of: home.id, subject: nil, from: now - .days(7), to: now)),
            (
                "a guardian's first page",
                SyncStatements.page(
                    home.id, for: guardian, from: .beginning, .legacy, withFacts: true)
            ),
            (
                "a child's first page",
                SyncStatements.page(
                    home.id, for: child, from: .beginning, .legacy, withFacts: true)
            ),
            ("snoozes of a day", NagStatements.snoozeFacts(home.child.id, settings: home.id, day: day)),
            ("notes of a day", NagStatements.countNotes(by: home.child.id, in: home.id, day: day)),
            (
                "nags sent on a day",
                NagStatements.creationFacts(
                    for: home.child.id, from: home.guardian.id, in: home.id, policy: nil, day: day)
            ),
        ]
    }

    @Test("with 10,000 old nags a statement finds rows and reads at most 1.5 times and 8 more pages than with 100")
    func history() async throws {
        let measured = Mutex<[Int: [(name: String, pages: Int, plan: String)]]>([:])
        for old in [100, 10_000] {
            try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
                let home = try await server.family(consents: [.aiMediation])
                let nag = NagID(high: 0xa1, low: 1)
                try await server.commit(
                    [FeedRows.nag(nag, from: home.guardian, to: home.child, at: server.clock.now())], in: home.id)
                try await Self.fill(server, home, old: old)
                let statements = try Self.statements(server, home)
                let plans = try await server.database.run { database in
                    try await database.transaction { transaction in
                        let planned = PlannedQueries(transaction)
                        for (name, statement) in statements {
                            let rows = try await planned.query(statement)
                            #expect(rows.count > 0, "\(name) reads nothing that could grow")
                        }
                        return planned.plans.map { ($0.pages, $0.text) }
                    }
                }
                measured.withLock { measured in
                    measured[old] = zip(statements, plans).map { ($0.name, $1.0, $1.1) }
                }
            }
        }
        let (small, large) = (measured.withLock { $0[100] } ?? [], measured.withLock { $0[10_000] } ?? [])
        #expect(small.count == 9 && large.count == 9)
        for (small, large) in zip(small, large) {
            #expect(small.pages > 0, "\(small.name)")
            // An index may be a level or two deeper.
            #expect(
                large.pages <= small.pages + small.pages / 2 + 8,
                "\(large.name): \(small.pages) to \(large.pages)\n\(large.plan)")
        }
    }
}
