import Audit
import Domain
import Postgres
import SQL
import Testing

@testable import Server

/// An attacker who may change everything in the database, and knows how the audit log is made.
struct Forger {
    /// The extent of the attacker's changes.
    enum Effort: String, CaseIterable, Sendable {
        /// The attacker changes only the rows of entries.
        case plain
        /// The attacker also computes the hashes of the chains again, so that they are consistent.
        case rechained
        /// The attacker also builds the Merkle log again, and signs it with the stolen key.
        case resigned
    }

    /// An entry with the rows that belong to it in the database.
    struct Line: Sendable {
        var entry: AuditEntry
        var salt: [UInt8]?
        /// The stored body, which is sealed if there is a key.
        var body: [UInt8]?
        var key: Pseudonym?
        /// The unsealed body.
        var plain: [UInt8]?
        /// The position in the Merkle log; nil if the entry was not sequenced.
        var position: Int64?
    }

    let server: TestServer

    /// Disables the triggers that protect the audit log's tables.
    func disableTriggers() async throws {
        for table in ["audit_entry", "audit_payload", "audit_leaf", "audit_node", "audit_checkpoint", "audit_prune"] {
            try await server.sql(SQL(unsafeSQL: "ALTER TABLE \(table) DISABLE TRIGGER ALL"))
        }
    }

    /// Returns all entries in the order of the Merkle log. Those without a position come last.
    func lines() async throws -> [Line] {
        try await server.database.rows(
            """
            SELECT e.*, p.salt, p.body, p.key_id, k.wrapped, l.position
            FROM audit_entry e LEFT JOIN audit_payload p USING (family_id, n)
            LEFT JOIN audit_subject_key k ON k.id = p.key_id
            LEFT JOIN audit_leaf l USING (family_id, n) ORDER BY l.position, e.family_id, e.n
            """
        ) { row in
            let act = AuditEntry.Act(
                kind: try row["kind"], actor: try row["actor"], subject: try row["subject"],
                resource: try row["resource"], trace: try row["trace"], request: try row["request"],
                commitment: try row["commit"])
            return Line(
                entry: AuditEntry(
                    family: try row["family_id"], number: try row["n"], at: try row["at"], act: act,
                    previous: try row["prev"], hash: try row["hash"]),
                salt: try row["salt"], body: try row["body"], key: try row["key_id"], plain: try row.unsealedBody(),
                position: try row["position"])
        }
    }

    /// Changes the entries of the audit log, and what protects them as far as `effort` says.
    func forge(_ effort: Effort, _ change: (inout [Line]) -> Void) async throws {
        try await disableTriggers()
        var lines = try await lines()
        change(&lines)
        if effort != .plain { lines = try await rechained(lines) }
        try await server.sql("DELETE FROM audit_entry")
        try await server.sql("DELETE FROM audit_payload")
        for line in lines { try await insert(line) }
        if effort == .resigned { try await resign(lines) }
    }

    /// Returns the entries with new numbers, times, commitments and hashes, so that every chain is consistent.
    private func rechained(_ lines: [Line]) async throws -> [Line] {
        var heads: [FamilyID: AuditEntry] = [:]
        var rechained: [Line] = []
        for var line in lines {
            let last = heads[line.entry.family]
            line.entry.number = (last?.number ?? 0) + 1
            line.entry.previous = last?.hash ?? AuditEntry.genesisHash
            if let last, line.entry.at <= last.at { line.entry.at = last.at + Timestamp.Span(microseconds: 1) }
            if let salt = line.salt, let plain = line.plain {
                line.entry.act.commitment = AuditBody.commitment(salt: salt, body: plain)
                // The master key was stolen as well.
                if line.key == nil { line.body = plain }
                if let key = line.key, let opened = try await key.subjectKey(server) {
                    line.body = opened.seal(
                        plain, commitment: line.entry.act.commitment, nonce: server.random.bytes(24))
                }
            }
            line.entry.hash = line.entry.expectedHash
            heads[line.entry.family] = line.entry
            rechained.append(line)
        }
        return rechained
    }

    private func insert(_ line: Line) async throws {
        let (entry, act) = (line.entry, line.entry.act)
        try await server.sql(
            """
            INSERT INTO audit_entry (family_id, n, at, kind, actor, subject, resource, trace, request, commit, prev, hash)
            VALUES (\(entry.family), \(entry.number), \(entry.at), \(act.kind), \(act.actor), \(act.subject),
                    \(act.resource), \(act.trace), \(act.request), \(act.commitment), \(entry.previous), \(entry.hash))
            """)
        guard let salt = line.salt, let body = line.body else { return }
        try await server.sql(
            """
            INSERT INTO audit_payload (family_id, n, key_id, salt, body)
            VALUES (\(entry.family), \(entry.number), \(line.key), \(salt), \(body))
            """)
    }

    /// Builds the Merkle log again from those of the entries that had a position, and signs it with the stolen key.
    func resign(_ lines: [Line]) async throws {
        for table in ["audit_leaf", "audit_node", "audit_checkpoint"] {
            try await server.sql(SQL(unsafeSQL: "DELETE FROM \(table)"))
        }
        guard var frontier = TileFrontier(size: 0, NodeStore()) else { return }
        for line in lines where line.position != nil {
            let leaf = LogLeaf(family: line.entry.family, number: line.entry.number, entryHash: line.entry.hash)
            try await server.sql(LogStatements.insertLeaves([(leaf, leaf.hash)], from: frontier.size))
            let nodes = frontier.append(leaf.hash).filter { $0.level > 0 }
            if !nodes.isEmpty { try await server.sql(LogStatements.insertNodes(nodes)) }
        }
        try await setClocks(lines)
        let keys = try #require(TestServer.auditKeyring)
        let checkpoint = Checkpoint(
            origin: keys.origin, size: frontier.size, root: frontier.root, time: server.clock.now())
        try await server.sql(LogStatements.insertCheckpoint(checkpoint, checkpoint.signed(by: keys.signingKeys)))
    }
}

extension Forger {
    /// Sets the clock of each family to the last entry of its chain.
    private func setClocks(_ lines: [Line]) async throws {
        try await server.sql("UPDATE family_clock SET seq = 0, head = sha256('')")
        var heads: [FamilyID: AuditEntry] = [:]
        for line in lines { heads[line.entry.family] = line.entry }
        for (family, entry) in heads {
            try await server.sql(
                "UPDATE family_clock SET seq = \(entry.number), head = \(entry.hash) WHERE family_id = \(family)")
        }
    }
}

extension Pseudonym {
    /// Returns the person's key, unwrapped with the master key; nil without one.
    fileprivate func subjectKey(_ server: TestServer) async throws -> SubjectKey? {
        let id = self
        return try await server.database.rows("SELECT wrapped FROM audit_subject_key WHERE id = \(id)") { row in
            TestServer.auditKeyring?.masterKeys[0].unwrap(try row["wrapped"], id: id)
        }.first ?? nil
    }
}
