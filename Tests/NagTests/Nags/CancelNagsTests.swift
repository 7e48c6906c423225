import Audit
import Contract
import Domain
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Cancellation of a leaving member's nags")
struct CancelNagsTests {
    /// As the families' feature does it: act after act until none is open.
    private static func cancelAll(of person: TestPerson, by actor: TestPerson, on server: TestServer) async throws
        -> Int
    {
        let context = server.context
        guard let family = person.familyID else { return 0 }
        return try await server.database.run { database in
            let ledger = Ledger(database: database, random: server.random)
            var acts = 0
            while try await database.query(NagStatements.countOpen(of: person.id, in: family))
                .onlyRow()["count"] as Int > 0
            {
                let _: NoAnswer = try await ledger.write(context, in: family) { queries in
                    let seq = try await Ledger.newestSequenceNumber(of: family, queries)
                    let act = Act(
                        kind: .nagsCancelled, basis: .nothingChanged(since: seq), actor: actor.pseudonym,
                        subject: person.pseudonym, stampedRows: NagStatements.cancelBatchSize,
                        statements: NagStatements.cancelOpenBatch(of: person.id, in: family, at: context.now))
                    return .perform(act, NoAnswer())
                }
                acts += 1
            }
            return acts
        }
    }

    @Test("all open nags of somebody who leaves are cancelled, each with its event, and no others")
    func few() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let open = try await server.nag(from: family.guardian, to: family.child)
            let done = try await server.nag(from: family.guardian, to: family.child)
            _ = try await server.complete(done.id, as: family.child)
            let other = try await server.nag(from: family.guardian, to: family.participant)
            let acts = try await server.expectOnly(
                audit: ["nags.cancelled"], events: ["nag_cancelled"], stamped: 1
            ) { try await Self.cancelAll(of: family.child, by: family.guardian, on: server) }
            #expect(acts == 1)
            func status(_ nag: NagResponse) async throws -> NagStatus {
                try await server.call(API.getNag, NagPath(nagID: nag.id), as: family.guardian).status
            }
            #expect(try await status(open) == .cancelledRelationshipChange)
            #expect(try await status(done) == .completed)
            #expect(try await status(other) == .open)
        }
    }

    @Test("900 nags are cancelled in three acts, none of which stamps more than 400 rows in a second")
    func many() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let (guardian, child) = (family.guardian.id, family.child.id)
            try await server.sql(
                """
                INSERT INTO nags (family_id, id, creator_id, recipient_id, due_at, category, done_definition, status,
                                  created_at, cycle_started_at, sync_seq, sync_ts)
                SELECT \(family.id), gen_random_uuid(), \(guardian), \(child), now(), 'other', 'ack_only', 'open', now(),
                       now(), 0, 'epoch' FROM generate_series(1, 900)
                """)
            #expect(try await Self.cancelAll(of: family.child, by: family.guardian, on: server) == 3)
            let counts: [Int] = try await server.database.rows(
                """
                SELECT count(DISTINCT e.nag_id) AS count FROM nag_events e JOIN nags n ON n.id = e.nag_id
                    AND n.sync_seq = e.sync_seq AND n.status = 'cancelled_relationship_change'
                GROUP BY e.sync_seq ORDER BY 1
                """
            ) { try $0["count"] }
            #expect(counts == [100, 400, 400])
        }
    }
}
