import Contract
import Domain
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Pages of a guardian's audit log and other families")
struct GuardianAuditTests {
    /// Three thousand entries of the guardian's family, one a second, and fifteen hundred of the other, half a second
    /// between: all of those by and about the child, under the same trace and about the same thing.
    private static func fill(_ server: TestServer, _ family: Household) async throws -> (ResourceID, TraceID) {
        let (thing, trace) = (ResourceID(high: 5, low: 77), TraceID(high: 5, low: 99))
        for (id, count, offset, person) in [
            (family.id, 3_000, "0", family.guardian), (family.otherFamilyID, 1_500, "0.5", family.child),
        ] as [(FamilyID, Int64, String, TestPerson)] {
            try await server.sql(
                """
                INSERT INTO audit_entry
                    (family_id, n, at, kind, actor, subject, resource, trace, request, commit, prev, hash)
                SELECT \(id), i, \(ManualClock.start) + (i + \(offset)::numeric) * interval '1 second', 'nag.created',
                       \(person.pseudonym), \(person.pseudonym),
                       CASE WHEN \(person.id) = \(family.child.id) THEN \(thing) END,
                       CASE WHEN \(person.id) = \(family.child.id) THEN \(trace) ELSE md5('t' || i)::uuid END,
                       md5('r' || i)::uuid, sha256('c'), sha256('p'), sha256('h')
                FROM generate_series(1, \(count)) i
                """)
        }
        return (thing, trace)
    }

    @Test("a page of a guardian's log that ends before it is full names a time of the family's own, with any filter")
    func searchedTo() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            let family = try await server.family()
            let (thing, trace) = try await Self.fill(server, family)
            let own = Set(
                try await server.database.rows("SELECT at FROM audit_entry WHERE family_id = \(family.id)") {
                    try $0["at"] as Timestamp
                })
            let child = family.child
            var shortPages = 0
            for query in [
                AuditQuery(conditions: .init(actorID: child.id)), AuditQuery(conditions: .init(subjectID: child.id)),
                AuditQuery(conditions: .init(personID: child.id)),
                AuditQuery(conditions: .init(resourceID: thing)), AuditQuery(conditions: .init(traceID: trace)),
                AuditQuery(conditions: .init(q: child.id.description)),
                AuditQuery(conditions: .init(q: child.pseudonym.description)),
                AuditQuery(conditions: .init(q: thing.description)),
                AuditQuery(conditions: .init(q: String(child.pseudonym.description.suffix(8)))),
                AuditQuery(conditions: .init(q: child.name)),
                AuditQuery(conditions: .init(actorID: child.id, kind: "nag.created")),
            ] {
                var (query, pages) = (query, 0)
                repeat {
                    let page = try await server.call(API.listAuditEvents, query, as: family.guardian)
                    #expect(page.items.isEmpty)
                    if let searched = page.searchedTo {
                        shortPages += 1
                        #expect(own.contains(searched), "\(query)")
                    }
                    if let cursor = try AuditCursor.parse(page.nextCursor, in: family.id) {
                        #expect(own.contains(cursor.at), "\(query)")
                    }
                    query.cursor = page.nextCursor
                    pages += 1
                } while query.cursor != nil && pages < 10
                #expect(pages < 10)
            }
            #expect(shortPages > 10)
        }
    }
}
