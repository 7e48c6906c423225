import Contract
import Domain
import Postgres
import SQL
import Testing

@testable import Server

@Suite("Pages of a long trail")
struct IndexTests {
    /// Every filter the console offers, and every two of them together.
    private static func queries(_ family: Household) -> [(name: String, query: AuditQuery)] {
        let from = ManualClock.start + .hours(2)
        let parts: [(String, (inout AuditQuery) -> Void)] = [
            ("kind", { $0.kind = "kind.3" }), ("actor", { $0.actorID = family.guardian.id }),
            ("subject", { $0.subjectID = family.child.id }),
            ("resource", { $0.resourceID = ResourceID(high: 5, low: 77) }),
            ("trace", { $0.traceID = TraceID(high: 5, low: 99) }), ("from", { $0.from = from }),
            ("to", { $0.to = from + .hours(1) }), ("q", { $0.q = "kind" }),
            ("id", { $0.q = family.child.pseudonym.description }),
        ]
        var queries: [(String, AuditQuery)] = [("nothing", AuditQuery())]
        for (first, one) in parts {
            var query = AuditQuery()
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

    /// A hundred thousand entries of fifty families, written straight into the table.
    private static func fill(_ server: TestServer, _ family: Household) async throws {
        try await server.sql(
            """
            INSERT INTO audit_entry (family_id, n, at, kind, actor, subject, resource, trace, request, commit, prev, hash)
            SELECT CASE WHEN i % 50 = 0 THEN \(family.id) ELSE md5('f' || i % 50)::uuid END, i / 50 + 1,
                   \(ManualClock.start) + i * interval '0.2 seconds', 'kind.' || i % 23,
                   CASE WHEN i % 100 = 0 THEN \(family.guardian.pseudonym) ELSE md5('a' || i % 400)::uuid END,
                   CASE WHEN i % 150 = 0 THEN \(family.child.pseudonym) WHEN i % 3 = 0 THEN md5('s' || i % 300)::uuid END,
                   md5('r' || i / 7)::uuid, md5('t' || i)::uuid, md5('q' || i)::uuid,
                   sha256('c'), sha256('p'), sha256('h')
            FROM generate_series(0, 99999) i
            """)
        try await server.sql("UPDATE family_clock SET seq = 2000 WHERE family_id = \(family.id)")
        try await server.sql("ANALYZE audit_entry")
    }

    @Test("no filter and no pair of filters walks the table, of one family or of all")
    func indexes() async throws {
        try await TestServer.run(configure: { $0.sequencesTrail = false }, isOfActs: false) { server in
            let family = try await server.family()
            try await Self.fill(server, family)
            // As the server's own sessions plan.
            try await server.sql("SET plan_cache_mode = force_generic_plan")
            for scope in [family.id, nil] {
                for (name, query) in Self.queries(family) {
                    let cost = try await server.database.run { database in
                        let search = try await AuditSearch(query, database)
                        let statement = AuditStatements.page(query, search, of: scope, before: nil)
                        let text = try await database.query(
                            "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) \(statement)"
                        )
                        .map { row throws(PostgresError) -> String in try row["QUERY PLAN"] }.joined(separator: "\n")
                        return text
                    }
                    #expect(
                        !cost.contains("Seq Scan on audit_entry"), "\(name), \(scope == nil ? "all" : "one"): \(cost)")
                    let pages = cost.split(separator: "\n").first { $0.contains("Buffers:") }.map(String.init) ?? ""
                    let hits = pages.matches(of: /(?:hit|read)=(\d+)/).reduce(0) { $0 + (Int($1.output.1) ?? 0) }
                    #expect(hits < 3_000, "\(name), \(scope == nil ? "all" : "one"): \(cost)")
                }
            }
        }
    }

    @Test("a moment's number is found by halving")
    func numberAt() async throws {
        try await TestServer.run(configure: { $0.sequencesTrail = false }, isOfActs: false) { server in
            let family = try await server.family()
            func number(_ moment: Timestamp) async throws -> Int64? {
                try await server.database.rows("SELECT audit_number_at(\(family.id), \(moment)) AS n") { try $0["n"] }[
                    0]
            }
            #expect(try await number(ManualClock.start) == nil)
            try await Self.fill(server, family)
            let step = Timestamp.Span.seconds(10)
            for place in [0, 1, 2, 777, 1_999] as [Int64] {
                let moment = ManualClock.start + Timestamp.Span(microseconds: place * step.microseconds)
                #expect(try await number(moment) == place + 1)
                #expect(try await number(moment + .milliseconds(1)) == place + 2)
            }
            #expect(try await number(.epoch) == 1)
        }
    }
}
