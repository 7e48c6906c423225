import Audit
import Contract
import Domain
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Plans that sessions keep")
struct PlanTests {
    /// Returns the plans of statements over the rows that the server has.
    private static func plans(of statements: [SQL], on server: TestServer) async throws -> [String] {
        try await server.database.run { database in
            try await database.transaction { transaction in
                let planned = PlannedQueries(transaction, analyzes: false)
                for statement in statements { _ = try await planned.query(statement) }
                return planned.plans.map(\.text)
            }
        }
    }

    private static func plans(
        overFamilies families: Int = 0, of statements: @escaping @Sendable (Ledger, CallContext) -> [SQL],
        _ check: @Sendable ([String]) throws -> Void
    ) async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            try await server.sql(
                "INSERT INTO family_clock (family_id) SELECT md5(i::text)::uuid FROM generate_series(1, \(families)) i")
            try await server.sql("VACUUM ANALYZE")
            let (context, random) = (CallContext.ofTest(at: server.clock.now(), server.random), server.random)
            let plans = try await server.database.run { database in
                let ledger = Ledger(database: database, random: random)
                return try await database.transaction { transaction in
                    let planned = PlannedQueries(transaction, analyzes: false)
                    for statement in statements(ledger, context) { _ = try await planned.query(statement) }
                    return planned.plans.map(\.text)
                }
            }
            try check(plans)
        }
    }

    @Test("the sequencer uses indexes, even with plans made over an empty log")
    func sequencer() async throws {
        let statements: @Sendable (Ledger, CallContext) -> [SQL] = { _, context in
            [
                LogStatements.pendingEntries(from: .outside, pageSize: 32), LogStatements.size,
                LogStatements.newestCheckpoint,
                LogStatements.nodes(TileFrontier.nodeRuns(at: 70_000)),
                LogStatements.clearSequencingMarks(quietSince: context.now),
            ]
        }
        try await Self.plans(of: statements) { plans in
            #expect(plans.count == 5)
            for plan in plans {
                #expect(!plan.contains("Seq Scan on audit") && !plan.contains("Seq Scan on family_clock"), "\(plan)")
            }
        }
    }

    @Test("an erasure finds a person's bodies by their key, however many others exist")
    func erasure() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            try await server.sql(
                """
                INSERT INTO audit_payload (family_id, n, key_id, salt, body)
                SELECT md5((i % 10)::text)::uuid, i + 1, md5((i % 500)::text)::uuid, sha256(''), ''
                FROM generate_series(0, 19999) i
                """)
            try await server.sql("VACUUM ANALYZE audit_payload")
            let random = server.random
            let plans = try await server.database.run { database in
                let ledger = Ledger(database: database, random: random)
                return try await database.transaction { transaction in
                    let planned = PlannedQueries(transaction, analyzes: false)
                    let person = Pseudonym(high: 0, low: 1)
                    let act = Act(
                        kind: .personErased, basis: .nothing, actor: SystemActor.commandLine, stampedRows: 0,
                        statements: [ErasureStatements.deleteBodies(of: person)])
                    _ = try await planned.query(ErasureStatements.chains(of: person))
                    _ = try await planned.query(
                        ledger.statement(act, in: FamilyID(high: 0, low: 3), CallContext.ofTest(at: .epoch, random)))
                    return planned.plans.map(\.text)
                }
            }
            #expect(plans.count == 2)
            for plan in plans {
                #expect(plan.contains("audit_payload_by_key") && !plan.contains("Seq Scan on audit_payload"), "\(plan)")
            }
        }
    }

    @Test("connection nags are found by their own indexes, however many family nags exist")
    func connectionNags() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            try await server.sql(
                """
                DO $$ BEGIN
                    SET LOCAL session_replication_role = replica;
                    INSERT INTO nags (family_id, connection_id, id, creator_id, recipient_id, due_at, category, done_definition,
                                      status, created_at, cycle_started_at, sync_seq, sync_ts)
                    SELECT md5((i % 300)::text)::uuid, CASE WHEN i % 300 < 3 THEN md5((i % 300)::text)::uuid END,
                           md5(i || 'nag')::uuid, md5((i % 2000) || 'creator')::uuid, md5((i % 2000) || 'recipient')::uuid, now(),
                           'other', 'ack_only', 'open', now(), now(), i, now()
                    FROM generate_series(0, 29999) i;
                END $$
                """)
            try await server.sql("VACUUM ANALYZE nags")
            let (one, other) = (UserID(high: 0, low: 1), UserID(high: 0, low: 2))
            let (nag, ledger) = (NagID(high: 0, low: 3), FamilyID(high: 0, low: 4))
            let statements = [
                NagStatements.page(NagListQuery(), for: one, [.family(ledger, isGuardian: true), .allConnections]),
                NagStatements.page(NagListQuery(), for: one, [.connection(ledger.retyped())]),
                NagStatements.openConnectionNagRecipients(dependingOnMembershipOf: one),
                NagStatements.openConnectionNagRecipients(between: one, and: other),
                NagStatements.exportedNags(ExportPage(user: one, after: nag.retyped(), limit: 10), in: nil),
                RealtimeStatements.entries(ofConnections: [(ledger, 1)]),
            ]
            let plans = try await Self.plans(of: statements, on: server)
            #expect(plans.count == 6)
            for plan in plans { #expect(!plan.contains("Seq Scan on nags"), "\(plan)") }
        }
    }

    @Test("the notes of a deleted person are found by an index, however many events of others exist")
    func notesOfPerson() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            try await server.sql(
                """
                DO $$ BEGIN
                    SET LOCAL session_replication_role = replica;
                    INSERT INTO nag_events (family_id, id, nag_id, event_type, actor_id, recipient_id, at, payload,
                                            sync_seq, sync_ts)
                    SELECT md5((i % 300)::text)::uuid, md5(i || 'event')::uuid, md5(i || 'nag')::uuid, 'note_added',
                           md5((i % 2000) || 'author')::uuid, md5((i % 2000) || 'recipient')::uuid, now(),
                           '{"text": "x"}', i, now()
                    FROM generate_series(0, 29999) i;
                END $$
                """)
            try await server.sql("VACUUM ANALYZE nag_events")
            let statement = NagStatements.notesOfPerson.keys(UserID(high: 0, low: 1), 100)
            let text = try #require(try await Self.plans(of: [statement], on: server).first)
            #expect(!text.contains("Seq Scan on nag_events") && text.contains("nag_events"), "\(text)")
        }
    }

    @Test(
        "merged acts lock their families' rows in the order of the requests, which is sorted by id",
        arguments: [0, 2_000])
    func mergedActs(families: Int) async throws {
        let statements: @Sendable (Ledger, CallContext) -> [SQL] = { ledger, context in
            let act = Act(
                kind: .aiSelectTone, basis: .rightsUnchanged(since: 0), actor: SystemActor.mediator,
                statements: [
                    AIStatements.insertAnswer(
                        EventID(high: 0, low: 1), nil, "select_tone", .neutral, "", onBehalfOf: UserID(high: 0, low: 2))
                ])
            let statement = ledger.statement(act, in: FamilyID(high: 0, low: 3), context)
            return [SQL.merged([statement, statement])].compactMap { $0 }
        }
        try await Self.plans(overFamilies: families, of: statements) { plans in
            let plan = try #require(plans.first)
            let update = try #require(plan.firstRange(of: "Update on family_clock"))
            let lines = plan[update.lowerBound...].split(separator: "\n").map { $0.drop { " ->".contains($0) } }
            #expect(lines[1] == "Nested Loop", "\(plan)")
            // As they come, which is sorted; over an empty table as the index has them, which is sorted too.
            let scans = lines.filter { $0.contains(" Scan ") }.prefix(2)
            let requests = "Function Scan on unnest request"
            let index = "Index Scan using family_clock_pkey on family_clock c"
            #expect(scans.elementsEqual(families > 0 ? [requests, index] : [index, requests], by: ==), "\(plan)")
        }
    }
}
