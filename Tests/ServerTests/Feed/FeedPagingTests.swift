import Contract
import Domain
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Feed: paging")
struct FeedPagingTests {
    /// 2,400 events, 900 nags, 700 mediations and 600 points, in bursts, while the wall clock stands still.
    private func burst(_ server: TestServer) async throws -> Household {
        let home = try await server.family()
        let now = server.clock.now()
        let nag = NagID(high: 5, low: 5)
        try await server.commit([FeedRows.nag(nag, from: home.guardian, to: home.child, at: now)], in: home.id)
        for count in [400, 400, 1, 399, 300, 300, 300, 300] {
            try await server.commit(
                [FeedRows.events(count, of: nag, for: home.child, by: home.guardian, at: now)], in: home.id,
                stampedRows: count)
        }
        for _ in 0..<3 {
            try await server.commit(
                [
                    FeedRows.nags(299, from: home.guardian, to: home.participant, at: now),
                    FeedRows.nags(1, from: home.participant, to: home.child, at: now),
                ],
                in: home.id, stampedRows: 300)
        }
        for _ in 0..<7 {
            try await server.commit(
                [FeedRows.mediations(100, about: nag, by: home.guardian, at: now)], in: home.id, stampedRows: 100)
        }
        for _ in 0..<600 / 40 {
            try await server.commit(FeedRows.points(40, for: home.child, at: now), in: home.id, stampedRows: 40)
        }
        return home
    }

    private func expectAll(_ held: HeldRows, _ person: TestPerson, in home: Household) {
        let nags = [home.guardian: 901, home.secondGuardian: 901, home.participant: 900, home.child: 4][person]
        #expect(held.nags.count == nags, "\(person.name)")
        #expect(held.events.count == (person == home.participant ? 0 : 2_400), "\(person.name)")
        #expect(held.mediations.count == (person == home.guardian ? 700 : 0), "\(person.name)")
        #expect(held.points.count == 600, "\(person.name)")
    }

    @Test("a client by since gets everything, every full page advances, and its time never goes back")
    func legacy() async throws {
        try await TestServer.run { server in
            let home = try await burst(server)
            for person in home.members {
                var syncer = LegacySyncer(person, home.id)
                try await syncer.catchUp(server)
                expectAll(syncer.held, person, in: home)
                #expect(syncer.faults.isEmpty, "\(person.name)")
                #expect(syncer.polls <= 12, "\(person.name)")
            }
        }
    }

    @Test("a client by cursor gets each row exactly once")
    func exact() async throws {
        try await TestServer.run { server in
            let home = try await burst(server)
            for person in home.members {
                var syncer = CursorSyncer(person, home.id)
                try await syncer.catchUp(server)
                expectAll(syncer.held, person, in: home)
                #expect(syncer.held.repeats == 0 && syncer.refetches == 1, "\(person.name)")
                #expect(try await syncer.poll(server).count == 0)
            }
        }
    }

    @Test("a long past can be paged through by cursor, although its positions are old")
    func longPast() async throws {
        try await TestServer.run { server in
            let home = try await server.family()
            let nag = NagID(high: 5, low: 5)
            for days in [80, 79, 70, 60, 55, 45, 40, 30, 25, 20] as [Int64] {
                let moment = server.clock.now() - .days(days)
                let events = FeedRows.events(300, of: nag, for: home.child, by: home.guardian, at: moment)
                try await server.commit([events], in: home.id, stampedRows: 300, at: moment)
            }
            var syncer = CursorSyncer(home.guardian, home.id)
            try await syncer.catchUp(server)
            #expect(syncer.held.events.count == 3_000 && syncer.held.repeats == 0 && syncer.refetches == 1)
        }
    }

    @Test("a page is of one moment: changes while a client pages come later, and once")
    func changesWhilePaging() async throws {
        try await TestServer.run { server in
            let home = try await burst(server)
            let now = server.clock.now()
            var (legacy, exact) = (LegacySyncer(home.guardian, home.id), CursorSyncer(home.guardian, home.id))
            let first = try await exact.poll(server)
            try await legacy.poll(server)
            #expect(first.hasMore && first.isFull || first.count > 400)
            // A nag that was given already, one that was not yet, and new rows.
            let given = try #require(first.nags.last?.id)
            let pending: NagID = try await server.database.rows(
                "SELECT id FROM nags WHERE family_id = \(home.id) ORDER BY sync_ts DESC, id LIMIT 1"
            ) { try $0["id"] }[0]
            for nag in [given, pending] {
                try await server.commit([FeedRows.close(nag, as: .withdrawn, at: now)], in: home.id)
            }
            try await server.commit(
                [FeedRows.events(50, of: given, for: home.child, by: home.guardian, at: now)], in: home.id,
                stampedRows: 50)
            try await exact.catchUp(server)
            try await legacy.catchUp(server)
            for held in [legacy.held, exact.held] {
                #expect(held.nags.count == 901 && held.events.count == 2_450 && held.points.count == 600)
                #expect(held.nags[given]?.status == "withdrawn" && held.nags[pending]?.status == "withdrawn")
            }
            #expect(exact.held.repeats == 0 && legacy.faults.isEmpty)
        }
    }

    /// As long as a description may be, in bytes as well.
    private static let longText = String(repeating: "👍", count: 2_000)

    @Test(
        "pages cut by bytes lose nothing, repeat nothing by cursor, and each advances",
        arguments: [(1, 200), (300, 3), (399, 2)])
    func bytes(_ rows: Int, _ acts: Int) async throws {
        try await TestServer.run { server in
            let home = try await server.family()
            let nag = NagID(high: 5, low: 5)
            for act in 0..<acts {
                let now = server.clock.now()
                let nags = FeedRows.nags(
                    rows, from: home.guardian, to: home.child, description: Self.longText, at: now)
                try await server.commit([nags], in: home.id, stampedRows: rows)
                // Entities without large rows are not cut, and reach farther back and forth.
                if act % 50 == 0 {
                    let events = FeedRows.events(20, of: nag, for: home.child, by: home.guardian, at: now)
                    try await server.commit([events], in: home.id, stampedRows: 20)
                }
                server.clock.advance(by: .seconds(1))
            }
            var (legacy, exact) = (LegacySyncer(home.secondGuardian, home.id), CursorSyncer(home.guardian, home.id))
            var (page, last) = (try await legacy.poll(server), Timestamp.epoch)
            while page.hasMore {
                #expect(page.nags.count < 500 && page.serverTime.seconds > last.seconds)
                // A second is never cut; beyond it a page holds half a megabyte and a row.
                #expect(page.nags.count <= rows + FeedPage.maxPartBytes / 8_000 + rows)
                last = page.serverTime
                page = try await legacy.poll(server)
            }
            try await exact.catchUp(server)
            for held in [legacy.held, exact.held] {
                #expect(held.nags.count == rows * acts && held.events.count == (acts + 49) / 50 * 20)
            }
            #expect(exact.held.repeats == 0 && exact.refetches == 1 && legacy.faults.isEmpty && legacy.polls > 1)
        }
    }

    /// With all rows in one second the answer itself is too large. With more than a second only the rows are, which are all
    /// in memory before the page is cut.
    @Test("a page without free memory is 503, and does not affect others", arguments: [[399], [5, 394]])
    func noMemory(acts: [Int]) async throws {
        let limits: @Sendable (inout Configuration) -> Void = { configuration in
            configuration.maxAnswerMemoryBytes = 1 << 20
            configuration.maxAnswerMemoryBytesPerAddress = 1 << 20
        }
        try await TestServer.run(configure: limits) { server in
            let home = try await server.family()
            let other = try await server.family()
            for rows in acts {
                let nags = FeedRows.nags(
                    rows, from: home.guardian, to: home.child, description: Self.longText, at: server.clock.now())
                try await server.commit([nags], in: home.id, stampedRows: rows)
                server.clock.advance(by: .seconds(1))
            }
            let path = "/api/v1/sync/events?family_id="
            let refused = try await server.call("GET", path + "\(home.id)", as: home.guardian)
            #expect(refused.status == 503 && refused.header("retry-after") == "1")
            #expect(try await server.call("GET", path + "\(other.id)", as: other.guardian).status == 200)
            #expect(try await server.call("GET", path + "\(home.id)", as: home.participant).status == 200)
        }
    }

    @Test("2,000 rows are a full first page, 1,999 are not", arguments: [1_999, 2_000, 2_001])
    func edges(_ count: Int) async throws {
        try await TestServer.run { server in
            let home = try await server.family()
            let now = server.clock.now()
            var left = count
            while left > 0 {
                let part = min(250, left)
                try await server.commit(
                    [FeedRows.nags(part, from: home.guardian, to: home.child, at: now)], in: home.id, stampedRows: part)
                server.clock.advance(by: .seconds(1))
                left -= part
            }
            let answer = try await server.call(API.syncEvents, SyncQuery(familyID: home.id), as: home.guardian)
            #expect(answer.nags.count == min(count, 2_000))
            #expect(answer.hasMore == (count >= 2_000))
            var (legacy, exact) = (LegacySyncer(home.child, home.id), CursorSyncer(home.child, home.id))
            try await legacy.catchUp(server)
            try await exact.catchUp(server)
            #expect(legacy.held.nags.count == count && exact.held.nags.count == count && exact.held.repeats == 0)
        }
    }
}
