import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server

@Suite("The ledger")
struct LedgerTests {
    @Test("what is decided by counting is exact, however many decide at once")
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
                        ).one()
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

    @Test("a family whose clock has run ten minutes ahead waits; a moment less and it goes on")
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

    @Test("a second holds at most 400 rows of an entity: the next act's are stamped in the next one")
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

    @Test("after a consent is revoked nothing that needs it is written, however the calls interleave")
    func revocationRaces() async throws {
        try await TestServer.run { server in
            let family = try await server.family(consents: [])
            let nag = try await server.nag(from: family.guardian, to: family.child, in: family.id)
            for _ in 0..<25 {
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
            // In the order of the trail, each mediation lies between a grant and the revocation that follows it.
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
}
