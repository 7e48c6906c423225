import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Rows that a page of the feed reads")
struct FeedPlanTests {
    /// 40,000 events of nags between the others, 600 of those that a participant received or sent.
    private static func fill(_ server: TestServer, _ family: Household) async throws {
        func events(_ count: Int, of nag: NagID, by actor: TestPerson, for recipient: TestPerson) -> SQL {
            """
            INSERT INTO nag_events (family_id, id, nag_id, event_type, actor_id, recipient_id, at, sync_seq, sync_ts)
            SELECT \(family.id), gen_random_uuid(), \(nag), 'nag_dismissed', \(actor.id), \(recipient.id), at, 1, at
            FROM (SELECT \(server.clock.now())::timestamptz - n * interval '100 seconds' AS at
                  FROM generate_series(1, \(count)::integer) n) s
            """
        }
        let others = try await server.nag(from: family.guardian, to: family.child, in: family.id)
        try await server.sql(events(40_000, of: others, by: family.child, for: family.child))
        let received = try await server.nag(from: family.guardian, to: family.participant, in: family.id)
        try await server.sql(events(300, of: received, by: family.participant, for: family.participant))
        let sent = try await server.nag(from: family.participant, to: family.child, in: family.id)
        try await server.sql(events(300, of: sent, by: family.child, for: family.child))
        try await server.sql("VACUUM ANALYZE")
    }

    @Test("a participant's pages read the events of their own nags, however many there are of others'")
    func participant() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            let family = try await server.family()
            try await Self.fill(server, family)
            let caller = try VerifiedTokens(server.tokens).caller(server.token(family.participant), server.context)
            let now = server.clock.now()
            let epoch = Cursor(
                family: family.id, epoch: 1, position: now - .days(45), visibility: FeedVisibility(rawValue: 6),
                issuedAt: now)
            let starts: [FeedStart] = [.beginning, .sinceSecond((now - .days(45)).seconds), .after(epoch)]
            // A `since` that was handed to the session.
            try await server.sql(
                SyncStatements.insertGrant(
                    GrantedPosition(second: (now - .days(45)).seconds, visibility: FeedVisibility(rawValue: 6)),
                    to: family.participant.session, in: family.id))
            let found = try await server.database.run { database in
                try await database.transaction { transaction in
                    let planned = PlannedQueries(transaction)
                    var events: [Int] = []
                    for start in starts {
                        let rows = try await planned.query(
                            SyncStatements.page(family.id, for: caller, from: start, .exact))
                        events.append((0..<rows.count).count { rows[$0].integerOrZero(0) == 2 })
                    }
                    return (plans: planned.plans, events: events)
                }
            }
            // Both nags were made with an event; 500 are a page.
            #expect(found.events == [500, 500, 500])
            for plan in found.plans {
                #expect(plan.pages < 1_000, "\(plan.pages) pages\n\(plan.text)")
                #expect(plan.text.contains("nag_events_received") && plan.text.contains("nag_events_sent"))
            }
        }
    }

    @Test("a participant's page holds the events of nags they received and sent, and no others")
    func same() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let pairs = [
                (family.guardian, family.participant), (family.participant, family.child),
                (family.participant, family.participant), (family.guardian, family.child),
                (family.secondGuardian, family.guardian),
            ]
            var own: Set<NagID> = []
            for (creator, recipient) in pairs {
                let nag = try await server.nag(from: creator, to: recipient, every: .daily)
                let isOwn = [creator.id, recipient.id].contains(family.participant.id)
                if isOwn { own.insert(nag.id) }
                _ = try await server.call(API.dismissNag, NagPath(nagID: nag.id), as: recipient)
                // The next of the series has an event that nobody made.
                _ = try await server.complete(nag.id, as: recipient)
                if isOwn {
                    let next: [NagID] = try await server.database.rows(
                        "SELECT id FROM nags WHERE parent_nag_id = \(nag.id)"
                    ) { try $0["id"] }
                    own.formUnion(next)
                }
            }
            let page = try await server.call(
                API.syncEvents, SyncQuery(familyID: family.id), as: family.participant)
            #expect(own.count == 6 && Set(page.nagEvents.map(\.nagID)) == own)
            #expect(page.nagEvents.count == 3 * 4)
            let unnamed = try await server.rows(
                """
                SELECT e.id FROM nag_events e JOIN nags n ON n.id = e.nag_id WHERE e.creator_id IS DISTINCT FROM n.creator_id
                """)
            #expect(unnamed.isEmpty)
        }
    }

    @Test("an event that a server of the previous release writes names the creator as well")
    func before() async throws {
        try await TestServer.run(isOfActs: false) { server in
            let family = try await server.family()
            // As older servers do: the nag and its first event in one statement.
            let nag = try await server.nag(from: family.participant, to: family.child, in: family.id)
            let page = try await server.call(
                API.syncEvents, SyncQuery(familyID: family.id), as: family.participant)
            #expect(page.nagEvents.map(\.nagID) == [nag])
            // The statement has not named them.
            let stored = try await server.rows("SELECT creator_id FROM nag_events WHERE nag_id = \(nag)")
            #expect(stored.map { $0["creator_id"] } == [.string(family.participant.id.description)])
        }
    }
}
