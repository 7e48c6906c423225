import Audit
import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("The ledger")
struct LedgerTests {
    @Test("a decision by counting is exact with any number of decisions at once")
    func countedDecisions() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let (now, random, database) = (server.clock.now(), server.random, server.database)
            let sessions = try await TestDatabase(url: database.url, sessions: 8)
            let made = try await together(64) { number in
                try await sessions.run { database in
                    let answer: StatusAnswer = try await Ledger(database: database, random: random).write(
                        .ofTest(at: now, random), in: family.id
                    ) { queries in
                        let row = try await queries.query(
                            """
                            SELECT c.seq, (SELECT count(*) FROM nags n WHERE n.family_id = c.family_id) AS nags
                            FROM family_clock c WHERE c.family_id = \(family.id)
                            """
                        ).onlyRow()
                        let count: Int = try row["nags"]
                        guard count < 10 else { return .answer(StatusAnswer(status: "full")) }
                        let nag = FeedRows.nag(
                            NagID(high: 7, low: UInt64(number)), from: family.guardian, to: family.child, at: now)
                        return .perform(
                            .ofTest([nag], basis: .nothingChanged(since: try row["seq"])), StatusAnswer(status: "made"))
                    }
                    return answer.status == "made"
                }
            }
            await sessions.close()
            #expect(made.filter(\.self).count == 10)
            #expect(try await server.rows("SELECT count(*) AS n FROM nags") == [["n": 10]])
        }
    }

    @Test("a family whose clock is ten minutes ahead waits, and a moment less it goes on")
    func largestLead() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            func tone(_ nag: NagID) async throws {
                try await server.call(API.selectTone, ToneSelectRequest(nagID: nag), as: family.guardian)
            }
            let nag = try await server.nag(from: family.guardian, to: family.child, in: family.id)
            func setClock(ahead: Timestamp.Span) async throws {
                try await server.sql(
                    "UPDATE family_clock SET ts = \(server.clock.now() + ahead) WHERE family_id = \(family.id)")
            }
            try await setClock(ahead: .minutes(10))
            try await server.expectOnly {
                let refused = try await refusal { try await tone(nag) }
                #expect(refused.status == 429 && refused.retryAfter == 60)
            }
            server.clock.advance(by: .seconds(1))
            try await tone(nag)
        }
    }

    @Test(
        "a server whose clock is far ahead or behind writes nothing, and moves no family's clock"
    )
    func wrongClocks() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let random = server.random
            try await server.database.run { database in
                let ledger = Ledger(database: database, random: random, comparesClocks: true)
                let truth = SystemClock().now()
                func write(ahead: Timestamp.Span) async throws {
                    let _: StatusAnswer = try await ledger.write(.ofTest(at: truth + ahead, random), in: family.id) {
                        _ in
                        let act = Act(
                            kind: .aiSelectTone, basis: .nothing, actor: family.guardian.pseudonym, stampedRows: 0)
                        return .perform(act, StatusAnswer(status: "ok"))
                    }
                }
                for offset: Timestamp.Span in [.hours(1), .hours(-1)] {
                    let error = await #expect(throws: APIError.self) { try await write(ahead: offset) }
                    #expect(error?.status == 503 && error?.retryAfter == 30)
                }
                // A request may take minutes.
                try await write(ahead: .minutes(-5))
                try await write(ahead: .seconds(20))
                let shown: Timestamp = try await database.query(
                    "SELECT ts FROM family_clock WHERE family_id = \(family.id)"
                ).onlyRow()["ts"]
                #expect(truth <= shown && shown <= truth + .seconds(21))
            }
        }
    }

    @Test("a second holds at most 400 rows of an entity, and further acts are stamped in the next one")
    func bursts() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let now = server.clock.now()
            let nag = NagID(high: 8, low: 8)
            try await server.commit(
                [FeedRows.nag(nag, from: family.guardian, to: family.child, at: now)], in: family.id)
            for count in [400, 1, 399, 1] {
                let rows = FeedRows.events(count, of: nag, for: family.child, by: family.guardian, at: now)
                try await server.commit([rows], in: family.id, stampedRows: count)
            }
            let seconds = try await server.rows(
                """
                SELECT count(*) AS n FROM nag_events
                GROUP BY floor(extract(epoch FROM sync_ts)) ORDER BY floor(extract(epoch FROM sync_ts))
                """)
            #expect(seconds == [["n": 400], ["n": 400], ["n": 1]])
        }
    }

    @Test("after a consent is revoked nothing that needs it is written, in any interleaving")
    func revocationRaces() async throws {
        try await TestServer.run { server in
            let family = try await server.family(consents: [])
            let nag = try await server.nag(from: family.guardian, to: family.child, in: family.id)
            for _ in 0..<25 {
                try await server.ageRevokedConsents()
                let consent = try await server.grant(.aiMediation, in: family.id, as: family.guardian)
                let statuses = try await together(9) { number in
                    if number == 8 {
                        _ = try await server.revoke(consent.id, as: family.guardian)
                        return 200
                    }
                    return try await server.call(
                        "POST", "/api/v1/ai/select-tone", as: family.secondGuardian,
                        body: ["nag_id": .string(nag.description)]
                    ).status
                }
                #expect(statuses.allSatisfy { [200, 201, 403].contains($0) })
            }
            // In the order of the audit log, each mediation lies between a grant and the revocation that follows it.
            var isInForce = false
            for entry in try await server.audit(family.id) {
                switch entry.kind {
                case "consent.granted": isInForce = true
                case "consent.revoked": isInForce = false
                case "ai.select_tone": #expect(isInForce)
                default: break
                }
            }
        }
    }

    @Test("two first acts of one person use the same key in any order, and both can be read")
    func firstActsOfOnePerson() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let newcomer = try await server.account()
            let (now, random, holder) = (server.clock.now(), server.random, server.database)
            @Sendable func act(in family: FamilyID, on database: TestDatabase) async throws -> Ledger.Tally {
                try await database.run { database in
                    let ledger = Ledger(
                        database: database, random: random, sealing: Sealing(TestServer.auditKeyring, random: random))
                    let act = Act(
                        kind: .aiSelectTone, basis: .nothing, actor: newcomer.pseudonym, details: ["a": "b"],
                        stampedRows: 0)
                    let _: NoAnswer = try await ledger.write(.ofTest(at: now, random), in: family) { _ in
                        .perform(act, NoAnswer())
                    }
                    return ledger.tally
                }
            }
            let waiting = try await TestDatabase(url: holder.url)
            let other = try await TestDatabase(url: holder.url)
            let tally = try await holder.run { database in
                let late = try await database.transaction { transaction in
                    _ = try await transaction.query(
                        "SELECT FROM family_clock WHERE family_id = \(family.id) FOR UPDATE")
                    // Has found no key, has made one, and waits for the family's row.
                    let late = Task { try await act(in: family.id, on: waiting) }
                    try await transaction.waitUntilBlocking("the act never came to wait for the family's row")
                    _ = try await act(in: family.otherFamilyID, on: other)
                    return late
                }
                return try await late.value
            }
            await waiting.close()
            await other.close()
            #expect(tally.committedActs == 1 && tally.lostRaces == 1)
            #expect(try await server.rows("SELECT count(*) AS n FROM audit_subject_key") == [["n": 1]])
        }
    }
}
