import Audit
import Domain
import Postgres
import SQL
import Testing

@testable import Server

/// An entry of the audit log with its unsealed body, for tests.
struct AuditLine: Sendable, Hashable {
    var family: FamilyID
    var n: Int
    var at: Timestamp
    var kind: String
    var actor: Pseudonym
    var subject: Pseudonym?
    var resource: ResourceID?
    /// The members of the body; empty if the body was erased.
    var details: [String: String]
}

/// A row of a family's feed.
struct FeedRow: Sendable, Hashable {
    enum Entity: String, Sendable {
        case nag, event, mediation, score
    }

    var entity: Entity
    /// The status of a nag; the type of any other row.
    var type: String
    var id: EventID
    var seq: Int
    var at: Timestamp
}

extension Row {
    /// Returns the unsealed body of a row with `commit`, `body`, `key_id` and `wrapped`; nil without a body or without
    /// its key.
    func unsealedBody() throws -> [UInt8]? {
        guard let body: [UInt8] = try self["body"] else { return nil }
        guard let id: Pseudonym = try self["key_id"] else { return body }
        guard let wrapped: [UInt8] = try self["wrapped"] else { return nil }
        return TestServer.auditKeyring?.masterKeys[0].unwrap(wrapped, id: id)?
            .open(body, commitment: try self["commit"])
    }
}

extension TestServer {
    /// Returns a family's audit log, oldest entry first.
    func audit(_ family: FamilyID) async throws -> [AuditLine] {
        try await database.rows(
            """
            SELECT e.family_id, e.n, e.at, e.kind, e.actor, e.subject, e.resource, e.commit, p.body, p.key_id, k.wrapped
            FROM audit_entry e LEFT JOIN audit_payload p USING (family_id, n)
            LEFT JOIN audit_subject_key k ON k.id = p.key_id
            WHERE e.family_id = \(family) ORDER BY e.n
            """
        ) { row in
            let body = try row.unsealedBody()
            return AuditLine(
                family: try row["family_id"], n: try row["n"], at: try row["at"], kind: try row["kind"],
                actor: try row["actor"], subject: try row["subject"], resource: try row["resource"],
                details: body.flatMap { AuditBody(canonical: $0) }?.dictionary ?? [:])
        }
    }

    /// Returns the rows of a family's feed in its order. A nag is one row, with the number and time of its latest
    /// change.
    func feed(_ family: FamilyID) async throws -> [FeedRow] {
        try await database.rows(
            """
            SELECT 'nag' AS entity, status AS type, id, sync_seq, sync_ts FROM nags WHERE family_id = \(family)
            UNION ALL
            SELECT 'event', event_type, id, sync_seq, sync_ts FROM nag_events WHERE family_id = \(family)
            UNION ALL
            SELECT 'mediation', prompt_type, id, sync_seq, sync_ts FROM ai_mediation_events WHERE family_id = \(family)
            UNION ALL
            SELECT 'score', event_type, id, sync_seq, sync_ts FROM gamification_events WHERE family_id = \(family)
            ORDER BY sync_ts, id
            """
        ) { row in
            let entity: String = try row["entity"]
            return FeedRow(
                entity: FeedRow.Entity(rawValue: entity) ?? .nag, type: try row["type"], id: try row["id"],
                seq: try row["sync_seq"], at: try row["sync_ts"])
        }
    }

    /// Runs `body` and expects it to have caused these audit entries and these new rows of the feed, in any family, and
    /// nothing else: with nothing expected, no table may change at all.
    /// - Parameters:
    ///   - audit: kinds of entries, in any order.
    ///   - events: types of nag events; `scores` of gamification events, `mediations` prompt types of AI events.
    ///   - stamped: the number of nags that are created or changed; nil if it is not checked.
    @discardableResult
    func expectOnly<Value>(
        audit: [String] = [], events: [String] = [], scores: [String] = [], mediations: [String] = [],
        stamped: Int? = nil, sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Value
    ) async throws -> Value {
        let before = try await clocks()
        let isNothing = audit.isEmpty && events.isEmpty && scores.isEmpty && mediations.isEmpty
        let contents = isNothing ? try await digests() : []
        let value = try await body()
        var found: (audit: [String], feed: [FeedRow]) = ([], [])
        for family in try await clocks() {
            let earlier = before.first { $0.family == family.family }?.seq ?? 0
            guard family.seq > earlier else { continue }
            found.audit += try await self.audit(family.family).filter { $0.n > earlier }.map(\.kind)
            found.feed += try await feed(family.family).filter { $0.seq > earlier }
        }
        func types(_ entity: FeedRow.Entity) -> [String] {
            found.feed.filter { $0.entity == entity }.map(\.type).sorted()
        }
        #expect(found.audit.sorted() == audit.sorted(), "audit entries", sourceLocation: sourceLocation)
        #expect(types(.event) == events.sorted(), "nag events", sourceLocation: sourceLocation)
        #expect(types(.score) == scores.sorted(), "gamification events", sourceLocation: sourceLocation)
        #expect(types(.mediation) == mediations.sorted(), "AI mediation events", sourceLocation: sourceLocation)
        if let stamped { #expect(types(.nag).count == stamped, "nags changed", sourceLocation: sourceLocation) }
        if isNothing { #expect(try await digests() == contents, "tables changed", sourceLocation: sourceLocation) }
        return value
    }

    private func clocks() async throws -> [(family: FamilyID, seq: Int)] {
        try await database.rows("SELECT family_id, seq FROM family_clock ORDER BY family_id") {
            (try $0["family_id"], try $0["seq"])
        }
    }

    /// Returns a digest of each table, except for those that requests and the sequencer change without an act.
    func digests() async throws -> [String] {
        let names: [String] = try await database.rows(
            """
            SELECT tablename::text AS name FROM pg_tables WHERE schemaname = 'public'
                AND tablename NOT IN ('schema_migrations', 'sign_in_attempts', 'pin_attempts', 'refusal_counts', 'sync_grants',
                                      'audit_leaf', 'audit_node', 'audit_checkpoint', 'audit_key', 'audit_subject_key') ORDER BY 1
            """
        ) { try $0["name"] }
        let parts = names.map { name in
            // The sequencer may change this column of a family at any time.
            let row = name == "family_clock" ? "(to_jsonb(t) - 'awaits_sequencing')::text" : "t::text"
            return SQL(
                unsafeSQL: "SELECT '\(name) ' || coalesce(md5(string_agg(\(row), ' ' ORDER BY \(row))), '') AS digest"
                    + " FROM \(name) t")
        }
        return try await database.rows(.joined(parts, separator: " UNION ALL ")) { try $0["digest"] }
    }
}
