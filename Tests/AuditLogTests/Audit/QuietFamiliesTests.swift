import Audit
import Domain
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("The sequencer and families that are quiet")
struct QuietFamiliesTests {
    /// Every family is quiet at once, and none is looked at in turn.
    private static let byMarksAlone: Sequencer.Pace = {
        var pace = Sequencer.Pace()
        (pace.quietTime, pace.pageSize) = (.hours(-24), 0)
        return pace
    }()

    private struct Left: Equatable {
        let unsequenced: Int
        let marked: Int
    }

    private static func left(_ server: TestServer) async throws -> Left {
        try await server.database.rows(
            """
            SELECT (SELECT count(*) FROM audit_entry) - (SELECT count(*) FROM audit_leaf) AS unsequenced,
                   (SELECT count(*) FROM family_clock WHERE awaits_sequencing) AS marked
            """
        ) { Left(unsequenced: try $0["unsequenced"], marked: try $0["marked"]) }[0]
    }

    private static func quietly(_ body: @Sendable (TestServer) async throws -> Void) async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, body)
    }

    private static func act(_ server: TestServer, in family: FamilyID, _ queries: any Queries, _ database: Database)
        async throws
    {
        let act = Act(kind: .aiSelectTone, basis: .nothing, actor: SystemActor.mediator, stampedRows: 0)
        let ledger = Ledger(database: database, random: server.random)
        let context = CallContext.ofTest(at: server.clock.now(), server.random)
        _ = try await queries.query(ledger.statement(act, in: family, context))
    }

    @Test("a write that others overtake is sequenced once it has committed", arguments: [true, false])
    func overtaken(isMarkedBefore: Bool) async throws {
        try await Self.quietly { server in
            let family = try await server.family()
            for id in [family.id, family.otherFamilyID] {
                try await server.commit([], in: id)
            }
            try await server.runRound(pace: isMarkedBefore ? Sequencer.Pace() : Self.byMarksAlone)
            #expect(try await Self.left(server).unsequenced == 0)
            #expect(try await (Self.left(server).marked > 0) == isMarkedBefore)
            let others = try await TestDatabase(url: server.database.url, sessions: 2)
            try await others.run { database in
                try await database.transaction { transaction in
                    try await Self.act(server, in: family.id, transaction, database)
                    // What begins later commits earlier; the rounds see only that, and do not wait.
                    try await server.commit([], in: family.otherFamilyID)
                    for _ in 0..<2 { try await server.runRound(pace: Self.byMarksAlone) }
                    #expect(try await Self.left(server) == Left(unsequenced: 0, marked: isMarkedBefore ? 1 : 0))
                }
            }
            #expect(try await Self.left(server) == Left(unsequenced: 1, marked: 1))
            try await server.runRound(pace: Self.byMarksAlone)
            #expect(try await Self.left(server) == Left(unsequenced: 0, marked: 0))
            await others.close()
        }
    }

    @Test("no entry is missed while families fall quiet and write again all the time")
    func stress() async throws {
        try await Self.quietly { server in
            let family = try await server.family()
            let families = [family.id, family.otherFamilyID]
            let others = try await TestDatabase(url: server.database.url, sessions: 8)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<6 {
                    group.addTask {
                        try await others.run { database in
                            for _ in 0..<60 {
                                try await Self.act(server, in: families[number % 2], database, database)
                            }
                        }
                    }
                }
                for _ in 0..<2 {
                    group.addTask { for _ in 0..<40 { try await server.runRound(pace: Self.byMarksAlone) } }
                }
                try await group.waitForAll()
            }
            // Nothing but marks is left to tell what waits.
            for _ in 0..<2 { try await server.runRound(pace: Self.byMarksAlone) }
            #expect(try await Self.left(server) == Left(unsequenced: 0, marked: 0))
            #expect(verdict(try await server.export(family.id, as: family.guardian)).isSound)
            await others.close()
        }
    }

    @Test(
        "a round that dies before it marks families as done leaves them marked for the next",
        arguments: Sequencer.Point.allCases)
    func dies(step: Sequencer.Point) async throws {
        struct Killed: Error {}
        try await Self.quietly { server in
            let family = try await server.family()
            try await server.commit([], in: family.id)
            await #expect(throws: Killed.self) {
                try await server.runRound(pace: Self.byMarksAlone) { if $0 == step { throw Killed() } }
            }
            #expect(try await Self.left(server).marked > 0)
            try await server.runRound(pace: Self.byMarksAlone)
            #expect(try await Self.left(server) == Left(unsequenced: 0, marked: 0))
        }
    }

    @Test("an entry of a family without its mark is sequenced when the sequencer visits all families in turn")
    func unmarked() async throws {
        try await Self.quietly { server in
            let family = try await server.family()
            try await server.commit([], in: family.id)
            try await server.commit([], in: family.otherFamilyID)
            try await server.sql("UPDATE family_clock SET awaits_sequencing = false")
            let (clock, keys) = (server.clock, try #require(TestServer.auditKeyring))
            try await server.database.run { database in
                var pace = Sequencer.Pace()
                pace.pageSize = 1
                let sequencer = Sequencer(
                    database: database, keys: keys, clock: clock, status: CheckpointStatus(isOn: true), log: Log(.off),
                    pace: pace)
                // The chain outside families, and two of families.
                for _ in 0..<3 { _ = try await sequencer.runRound() }
            }
            #expect(try await Self.left(server).unsequenced == 0)
        }
    }

    @Test("a round without news reads as much of ten thousand families as of a hundred")
    func idle() async throws {
        var pages: [[Int]] = []
        for families in [100, 10_000] {
            let counts = Counts()
            try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
                try await server.sql(
                    """
                    INSERT INTO family_clock (family_id, awaits_sequencing)
                    SELECT md5(i::text)::uuid, false FROM generate_series(1, \(families)) i
                    """)
                try await server.runRound(pace: Self.byMarksAlone)
                try await server.sql("VACUUM ANALYZE")
                let now = server.clock.now()
                let found = try await server.database.run { database in
                    try await database.transaction { transaction in
                        let planned = PlannedQueries(transaction)
                        for statement in [
                            LogStatements.newestCheckpoint, LogStatements.size,
                            LogStatements.pendingEntries(from: .outside, pageSize: Sequencer.Pace().pageSize),
                            LogStatements.firstFamilyOfNextPage(from: .outside, pageSize: Sequencer.Pace().pageSize),
                            LogStatements.clearSequencingMarks(quietSince: now),
                        ] { _ = try await planned.query(statement) }
                        return planned.plans.map(\.pages)
                    }
                }
                await counts.set(found)
            }
            pages.append(await counts.pages)
        }
        #expect(pages[0].count == 5)
        // A page of all families is read from the table where the index does not tell that its rows are visible.
        let slack = 2 * Int(Sequencer.Pace().pageSize)
        for (few, many) in zip(pages[0], pages[1]) { #expect(many <= few + few / 2 + slack, "\(few) to \(many)") }
    }

    private actor Counts {
        private(set) var pages: [Int] = []
        func set(_ pages: [Int]) { self.pages = pages }
    }
}
