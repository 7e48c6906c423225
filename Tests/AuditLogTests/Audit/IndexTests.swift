import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Pages of a long audit log")
struct IndexTests {
    /// Every filter the console offers, and every two of them together.
    private static func queries(_ family: Household) -> [(name: String, query: AuditConditions)] {
        let from = ManualClock.start + .hours(2)
        let parts: [(String, (inout AuditConditions) -> Void)] = [
            ("kind", { $0.kind = "kind.4" }), ("actor", { $0.actorID = family.guardian.id }),
            ("subject", { $0.subjectID = family.child.id }),
            ("resource", { $0.resourceID = ResourceID(high: 5, low: 77) }),
            ("trace", { $0.traceID = TraceID(high: 5, low: 99) }), ("rare", { $0.kind = "kind.rare" }),
            ("from", { $0.from = from }),
            ("to", { $0.to = from + .hours(1) }), ("q", { $0.q = "kind" }),
            ("id", { $0.q = family.child.pseudonym.description }),
        ]
        var queries: [(String, AuditConditions)] = [("nothing", AuditConditions())]
        for (first, one) in parts {
            var query = AuditConditions()
            one(&query)
            queries.append((first, query))
            for (second, other) in parts where second > first {
                var both = query
                other(&both)
                queries.append(("\(first) and \(second)", both))
            }
        }
        return queries
    }

    /// A hundred thousand entries written straight into the table, half of them of one family; of most that is searched
    /// for there are thousands.
    private static func fill(_ server: TestServer, _ family: Household) async throws {
        try await server.sql(
            """
            INSERT INTO audit_entry (family_id, n, at, kind, actor, subject, resource, trace, request, commit, prev, hash)
            SELECT CASE WHEN i % 2 = 0 THEN \(family.id) ELSE md5('f' || i % 50)::uuid END,
                   CASE WHEN i % 2 = 0 THEN i / 2 ELSE i / 50 END + 1,
                   \(ManualClock.start) + i * interval '0.2 seconds',
                   CASE WHEN i % 30000 = 0 THEN 'kind.rare' ELSE 'kind.' || i % 11 END,
                   CASE WHEN i % 4 = 0 THEN \(family.guardian.pseudonym) ELSE md5('a' || i % 400)::uuid END,
                   CASE WHEN i % 6 = 0 THEN \(family.child.pseudonym) WHEN i % 5 = 0 THEN md5('s' || i % 300)::uuid END,
                   CASE WHEN i % 10 = 5 THEN \(ResourceID(high: 5, low: 77)) ELSE md5('r' || i / 7)::uuid END,
                   CASE WHEN i % 8 = 0 THEN \(TraceID(high: 5, low: 99)) ELSE md5('t' || i)::uuid END,
                   md5('q' || i)::uuid, sha256('c'), sha256('p'), sha256('h')
            FROM generate_series(0, 99999) i
            """)
        try await server.sql("UPDATE family_clock SET seq = 50000 WHERE family_id = \(family.id)")
        try await server.sql("VACUUM ANALYZE audit_entry")
    }

    @Test("no filter and no two filters make a page of the audit log read more than its depth, of one or all families")
    func indexes() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            let family = try await server.family()
            try await Self.fill(server, family)
            for scope in [family.id, nil] {
                for (name, query) in Self.queries(family) {
                    for place in [nil, ManualClock.start + .hours(2)] {
                        let title =
                            "\(name), \(scope == nil ? "all" : "one"), from \(place == nil ? "the newest" : "a cursor")"
                        let plans = try await server.database.run { database in
                            try await database.transaction { transaction in
                                let planned = PlannedQueries(transaction)
                                let filter = try #require(try await AuditFilter(query, planned))
                                _ = try await AuditScan(
                                    filter: filter, family: scope,
                                    before: place.map { AuditCursor.below($0, of: scope) }, limit: 50,
                                    depth: 500
                                ).run(planned)
                                return planned.plans
                            }
                        }
                        for plan in plans {
                            #expect(!plan.text.contains("Seq Scan on audit_entry"), "\(title): \(plan.text)")
                            // Half of what the smallest of the walks would touch that goes on to the end.
                            #expect(plan.pages < 2_000, "\(title): \(plan.text)")
                        }
                    }
                }
            }
        }
    }

    @Test(
        "audit_number_at returns the number of a family's first entry at or after a moment, or the one after its last")
    func numberAt() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            let family = try await server.family()
            func number(_ moment: Timestamp) async throws -> Int64? {
                try await server.database.rows("SELECT audit_number_at(\(family.id), \(moment)) AS n") { try $0["n"] }[
                    0]
            }
            #expect(try await number(ManualClock.start) == nil)
            try await Self.fill(server, family)
            let step = Timestamp.Span.milliseconds(400)
            for place in [0, 1, 2, 777, 49_999] as [Int64] {
                let moment = ManualClock.start + Timestamp.Span(microseconds: place * step.microseconds)
                #expect(try await number(moment) == place + 1)
                #expect(try await number(moment + .milliseconds(1)) == place + 2)
            }
            #expect(try await number(.epoch) == 1)
            // Of every other family too, whose entries lie between, and whose first ones may be gone.
            try await Forger(server: server).disableTriggers()
            try await server.sql("DELETE FROM audit_entry WHERE family_id = md5('f7')::uuid AND n <= 100")
            for seconds in [0, 1, 4_000, 10_001, 19_000, 30_000] as [Int64] {
                let moment = ManualClock.start + .seconds(seconds)
                let numbers = try await server.rows(
                    """
                    SELECT audit_number_at(f, \(moment)) AS found,
                           (SELECT coalesce(min(n) FILTER (WHERE at >= \(moment)), max(n) + 1)
                            FROM audit_entry WHERE family_id = f) AS expected
                    FROM (SELECT md5('f' || i)::uuid AS f FROM generate_series(1, 49, 2) i) families
                    """)
                #expect(numbers.count == 25 && numbers.allSatisfy { $0["found"] == $0["expected"] }, "\(numbers)")
            }
        }
    }
}
