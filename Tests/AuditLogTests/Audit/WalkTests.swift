import Contract
import Domain
import Postgres
import SQL
import SeededNumbers
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Scans of the audit log")
struct WalkTests {
    private struct Entry: Hashable {
        let family: FamilyID
        let number: Int64
        let at: Timestamp
        let kind: String
        let actor: TestPerson
        let subject: TestPerson?
        let resource: ResourceID?
        let trace: TraceID

        static func == (left: Entry, right: Entry) -> Bool {
            left.family == right.family && left.number == right.number
        }
        func hash(into hasher: inout Hasher) { hasher.combine(number) }

        /// Whether it is asked for, as plainly as it can be said.
        func isIn(_ query: AuditConditions, _ family: FamilyID?) -> Bool {
            let text = query.q ?? ""
            let id = ResourceID(text)
            return (family == nil || self.family == family) && (query.kind == nil || kind == query.kind)
                && (query.actorID == nil || actor.id == query.actorID)
                && (query.subjectID == nil || subject?.id == query.subjectID)
                && (query.resourceID == nil || resource == query.resourceID)
                && (query.traceID == nil || trace == query.traceID) && (query.from.map { at >= $0 } ?? true)
                && (query.to.map { at < $0 } ?? true)
                && (id.map { id in
                    resource == id || trace == id.retyped()
                        || [actor, subject].contains { $0?.id == id.retyped() || $0?.pseudonym == id.retyped() }
                } ?? kind.contains(text))
        }
    }

    private static let kinds = ["a.x", "a.y", "b.x", "c"]
    private static func thing(_ number: Int) -> ResourceID { ResourceID(high: 5, low: UInt64(number)) }
    private static func trace(_ number: Int) -> TraceID { TraceID(high: 6, low: UInt64(number)) }

    /// Entries of three families, many of them of the same moment, some kinds, people and things often and some rarely.
    private static func fill(_ server: TestServer, _ people: [TestPerson], _ random: inout SeededNumbers)
        async throws -> [Entry]
    {
        var entries: [Entry] = []
        func few(_ count: Int) -> Int {
            min(Int.random(in: 0..<count, using: &random), Int.random(in: 0..<count, using: &random))
        }
        for family in 1...3 as ClosedRange<UInt64> {
            var moment = 0
            for number in 1...(family == 1 ? 70 : 25) as ClosedRange<Int64> {
                moment += Int.random(in: 1...3, using: &random)
                let (hasSubject, hasResource) = (Bool.random(using: &random), Bool.random(using: &random))
                entries.append(
                    Entry(
                        family: FamilyID(high: 9, low: family), number: number,
                        at: ManualClock.start + .seconds(Int64(moment)), kind: kinds[few(kinds.count)],
                        actor: people[few(people.count)], subject: hasSubject ? people[few(people.count)] : nil,
                        resource: hasResource ? thing(few(5)) : nil, trace: trace(few(40))))
            }
        }
        for entry in entries {
            try await server.sql(
                """
                INSERT INTO audit_entry (family_id, n, at, kind, actor, subject, resource, trace, request, commit, prev, hash)
                VALUES (\(entry.family), \(entry.number), \(entry.at), \(entry.kind), \(entry.actor.pseudonym),
                        \(entry.subject?.pseudonym), \(entry.resource), \(entry.trace), \(entry.trace),
                        sha256(''), sha256(''), sha256(''))
                """)
        }
        return entries
    }

    @Test("pages of any depth, joined, are the whole answer: no entry skipped, none doubled")
    func pages() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            let family = try await server.family()
            var random = SeededNumbers(seed: 160)
            let people = Array(family.members.prefix(4))
            let entries = try await Self.fill(server, people, &random)
            var shortPages = 0
            for _ in 0..<160 {
                var query = AuditConditions()
                let limit = [1, 3, 60, 200].randomElement(using: &random) ?? 1
                func sometimes(_ change: () -> Void) { if Int.random(in: 0..<4, using: &random) == 0 { change() } }
                sometimes { query.kind = Self.kinds.randomElement(using: &random) }
                sometimes { query.actorID = people.randomElement(using: &random)?.id }
                sometimes { query.subjectID = people.randomElement(using: &random)?.id }
                sometimes { query.resourceID = Self.thing(Int.random(in: 0..<6, using: &random)) }
                sometimes { query.traceID = Self.trace(Int.random(in: 0..<9, using: &random)) }
                sometimes { query.from = ManualClock.start + .seconds(Int64.random(in: 0..<60, using: &random)) }
                sometimes { query.to = ManualClock.start + .seconds(Int64.random(in: 20..<140, using: &random)) }
                sometimes {
                    query.q =
                        [
                            "a", "x", ".", "c", people[0].id.description, people[1].pseudonym.description,
                            Self.thing(1).description, Self.trace(0).description,
                        ].randomElement(using: &random)
                }
                let isOfAll = Bool.random(using: &random)
                let scope = isOfAll ? nil : FamilyID(high: 9, low: UInt64.random(in: 1...3, using: &random))
                let depth = [1, 2, 7, 30, AuditScan.standardDepth].randomElement(using: &random) ?? 1
                let expected = entries.filter { $0.isIn(query, scope) }.sorted {
                    ($0.at, $0.family, $0.number) > ($1.at, $1.family, $1.number)
                }.map { "\($0.family) \($0.number)" }
                let asked = query
                let (found, short) = try await server.database.run { database in
                    try await Self.walk(asked, limit: limit, scope, depth, database)
                }
                #expect(found == expected, "\(query), limit \(limit), \(scope?.description ?? "all"), depth \(depth)")
                shortPages += short
            }
            #expect(shortPages > 0)
        }
    }

    /// All pages, one after another through their cursors' texts, and how many of them were short.
    private static func walk(
        _ query: AuditConditions, limit: Int, _ scope: FamilyID?, _ depth: Int, _ queries: any Queries
    ) async throws -> (found: [String], short: Int) {
        guard let filter = try await AuditFilter(query, queries) else { return ([], 0) }
        var (found, short, cursor): ([String], Int, AuditCursor?) = ([], 0, nil)
        repeat {
            let page = try await AuditScan(
                filter: filter, family: scope, before: cursor, limit: limit, depth: depth
            ).run(queries)
            for row in page.rows {
                let (family, number): (FamilyID, Int64) = (try row["family_id"], try row["n"])
                found.append("\(family) \(number)")
            }
            if let searched = page.searchedTo {
                short += 1
                #expect(page.next?.at == searched && page.rows.count <= limit)
            } else {
                #expect(page.rows.count == limit || page.next == nil)
            }
            let next = try AuditCursor.parse(page.next?.wireText, in: scope)
            #expect(next == page.next && (next == nil || next != cursor))
            cursor = next
        } while cursor != nil && found.count <= 1_000
        return (found, short)
    }
}
