import Contract
import Domain
import Postgres
import Reactor
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Feed: pages whose entities a standby reads")
struct StandbyReadTests {
    private static func scene(_ server: TestServer) async throws -> Household {
        let home = try await server.family(consents: [.aiMediation, .gamificationParticipation])
        let now = server.clock.now()
        for number in 0..<7 {
            let recipient = [home.child, home.participant, home.secondGuardian][number % 3]
            let nag = NagID(high: 7, low: UInt64(number + 1))
            try await server.commit(
                [
                    FeedRows.nag(nag, from: home.guardian, to: recipient, at: now),
                    FeedRows.events(300, of: nag, from: home.guardian, for: recipient, by: home.guardian, at: now),
                    FeedRows.mediations(about: nag, by: home.guardian, at: now),
                ] + FeedRows.points(for: recipient, at: now),
                in: home.id, stampedRows: 300)
            server.clock.advance(by: .seconds(2))
        }
        return home
    }

    private static func caller(_ server: TestServer, _ person: TestPerson) throws -> Caller {
        try VerifiedTokens(server.tokens).caller(server.token(person), server.context)
    }

    @Test("a page from two statements equals the page from one statement")
    func same() async throws {
        try await TestServer.run { server in
            let home = try await Self.scene(server)
            let now = server.clock.now()
            let answer = try await server.page(SyncQuery(familyID: home.id), as: home.guardian)
            #expect(answer.hasMore, "a page is cut off")
            let starts: [(SyncQuery, TestPerson)] =
                [home.guardian, home.participant, home.child].flatMap { person in
                    [true, false].map { (SyncQuery(familyID: home.id, includesFacts: $0), person) }
                } + [
                    (SyncQuery(familyID: home.id, since: answer.serverTime.flooredToSecond), home.guardian),
                    (SyncQuery(familyID: home.id, since: answer.serverTime - .days(1)), home.guardian),
                    (SyncQuery(familyID: home.id, cursor: answer.cursor), home.guardian),
                    (SyncQuery(familyID: home.id, cursor: answer.cursor), home.child),
                ]
            for (query, person) in starts {
                let (caller, request) = (try Self.caller(server, person), FeedRequest(query))
                let pages = try await server.database.run { database in
                    func page(_ withEntities: Bool) async throws -> Rows {
                        try await database.query(
                            SyncStatements.page(
                                home.id, for: caller, from: request.start, request.size,
                                withEntities: withEntities, withFacts: query.includesFacts))
                    }
                    let rest = try await page(false)
                    let gate = try FeedGate(rest)
                    let start = gate.isPositionValid ? request.start.stamp.map { FeedStart.valid($0) } : nil
                    let entities = try await database.query(
                        SyncStatements.entitiesFromStandby(
                            home.id, for: caller, at: gate, from: start ?? .beginning, request.size))
                    return try [PageRows(await page(true)), PageRows(rest, entities: entities)].map {
                        String(decoding: try FeedPage($0, home.id, request, at: now).json, as: UTF8.self)
                    }
                }
                #expect(pages[0] == pages[1], "\(person.name), \(request.start)")
                #expect(pages[0].contains(#""bonus""#))
            }
        }
    }

    @Test("a family clock that is older, newer or of another epoch than the gate's gives no row")
    func clock() async throws {
        try await TestServer.run(isOfActs: false) { server in
            let home = try await Self.scene(server)
            let caller = try Self.caller(server, home.guardian)
            let (random, act) = (server.random, [FeedRows.mediations(by: home.guardian, at: server.clock.now())])
            let context = CallContext.ofTest(at: server.clock.now(), random)
            let counts = try await server.database.run { database in
                let rows = try await database.query(
                    SyncStatements.page(home.id, for: caller, from: .beginning, .exact))
                let entities = SyncStatements.entitiesFromStandby(
                    home.id, for: caller, at: try FeedGate(rows), from: .beginning, .exact)
                func count() async throws -> Int { try await database.query(entities).count }
                var counts = [try await count()]
                _ = try await database.query(
                    "UPDATE family_clock SET ts = ts - interval '1 microsecond' WHERE family_id = \(home.id)")
                counts.append(try await count())
                _ = try await database.query(
                    "UPDATE family_clock SET ts = ts + interval '1 microsecond' WHERE family_id = \(home.id)")
                counts.append(try await count())
                _ = try await database.query("UPDATE family_clock SET epoch = epoch + 1 WHERE family_id = \(home.id)")
                counts.append(try await count())
                _ = try await database.query("UPDATE family_clock SET epoch = epoch - 1 WHERE family_id = \(home.id)")
                counts.append(try await count())
                let _: StatusAnswer = try await Ledger(database: database, random: random).write(context, in: home.id) {
                    _ in .perform(Act.ofTest(act), StatusAnswer(status: "ok"))
                }
                counts.append(try await count())
                return counts
            }
            #expect(counts[0] > 500 && counts[0] == counts[2] && counts[0] == counts[4], "\(counts)")
            #expect(counts[1] == 0 && counts[3] == 0 && counts[5] == 0, "\(counts)")
        }
    }

    @Test("a page from the beginning, or from more than an hour ago, may be long")
    func length() throws {
        let now = ManualClock.start
        func cursor(_ position: Timestamp) -> FeedStart {
            .after(
                Cursor(
                    family: FamilyID(high: 1, low: 1), epoch: 1, position: position,
                    visibility: FeedVisibility(rawValue: 7), issuedAt: now))
        }
        #expect(FeedStart.beginning.mayHaveManyRows(at: now))
        #expect(
            cursor(now - .hours(2)).mayHaveManyRows(at: now) && !cursor(now - .minutes(59)).mayHaveManyRows(at: now))
        #expect(FeedStart.sinceSecond((now - .hours(2)).seconds).mayHaveManyRows(at: now))
        #expect(!FeedStart.sinceSecond(now.seconds).mayHaveManyRows(at: now))
    }

    @Test(
        "without a standby that answers, the primary answers the feed",
        arguments: ["host=/nowhere", "", "target_session_attrs=any"])
    func primary(_ standby: String) async throws {
        try await TestCluster.shared.withDatabase { url in
            try await TestServer.run(
                on: url,
                configure: {
                    // The database of the test itself is no standby, and libpq or the server notices that.
                    let own = $0.databaseURL + ($0.databaseURL.contains("?") ? "&" : "?")
                    $0.standbyURL = standby.hasPrefix("host") ? standby : own + standby
                }
            ) { server in
                let home = try await server.family()
                let nag = try await server.nag(from: home.guardian, to: home.child, in: home.id)
                for _ in 0..<20 {
                    let answer = try await server.call(API.syncEvents, SyncQuery(familyID: home.id), as: home.guardian)
                    #expect(answer.nags.map(\.id) == [nag])
                }
                let metrics = try await server.metrics().text
                #expect(metrics.contains(#"nagz_standby_reads_total{result="answered"} 0"#))
                #expect(metrics.contains(#"nagz_standby_reads_total{result="behind"} 0"#))
                #expect(metrics.contains(#"nagz_standby_reads_total{result="unavailable"} 20"#))
            }
        }
    }

    @Test("an outage is reported once when it has lasted, and its end only if it was reported")
    func outage() {
        let start = MonotonicTime(nanoseconds: 1_000_000_000)
        var outage = StandbyOutage()
        func recordFailure(_ milliseconds: Int) -> Bool {
            outage.recordFailure(at: start + .milliseconds(milliseconds))
        }
        func end() -> Bool { outage.end() }
        #expect(!end(), "there was none")
        #expect(!recordFailure(0) && !recordFailure(2_999))
        #expect(!end(), "too short")
        #expect(!recordFailure(3_000) && !recordFailure(5_999) && recordFailure(6_000) && !recordFailure(9_000))
        #expect(end() && !end())
        #expect(!recordFailure(20_000) && recordFailure(23_000))
    }

    @Test("the log says that and why the standby does not answer, and that it answers again")
    func log() throws {
        let recorder = LogRecorder()
        let log = Log(.info, descriptor: recorder.descriptor)
        let (use, start) = (StandbyUse(log), MonotonicTime(nanoseconds: 1_000_000_000))
        use.record(.answered, at: start)
        use.record(.behind, at: start + .seconds(1))
        use.record(.unavailable("connection refused"), at: start + .seconds(5))
        use.record(.behind, at: start + .seconds(6))
        use.record(.answered, at: start + .seconds(7))
        use.record(.answered, at: start + .seconds(8))
        log.stop()
        let lines = recorder.close()
        #expect(lines.count == 2)
        #expect(lines.first?.contains("standby_does_not_answer") ?? false && lines[0].contains("connection refused"))
        #expect(lines.last?.contains("standby_answers") ?? false)
        #expect([use.answered.value, use.behind.value, use.unavailable.value] == [3, 2, 1])
    }

    @Test("nagz doctor reports a standby of another cluster")
    func doctor() {
        #expect(StandbyCheck.result(isSameCluster: true, 10).text == "a standby of the database, 10 bytes behind")
        #expect(StandbyCheck.result(isSameCluster: true, -5).text.hasSuffix(" 0 bytes behind"))
        #expect(StandbyCheck.result(isSameCluster: false, 0).status == .failed)
    }
}
