import Audit
import Contract
import Domain
import Postgres
import SQL

/// The audit log for readers: newest first, filtered, page by page; and single entries with their inclusion proofs.
package final class AuditEvents {
    private let services: Services

    package init(_ services: Services) { self.services = services }

    /// Lists entries of the named family, of the caller's own, or of all families for an administrator.
    /// - Throws: 403 for other callers, 422 for a cursor that is not of this list.
    package func list(_ caller: Caller, _ call: Call<AuditQuery, NoBody>) async throws -> AuditPage {
        let query = call.parameters
        let reader = try await services.authorizeAndRecordRead(
            caller, of: query.conditions.familyID, reading: API.listAuditEvents.operation, details: query.details)
        let before = try AuditCursor.parse(query.cursor, in: reader.family)
        guard let filter = try await services.auditFilter(query.conditions, for: reader) else {
            return AuditPage(items: [], nextCursor: nil)
        }
        let outcome = try await AuditScan(
            filter: filter, family: reader.family, before: before, limit: query.limit, staysInFamily: !reader.isAdmin
        ).run(services.database)
        return AuditPage(
            items: try outcome.rows.map { try Contract.AuditEntry($0, services.sealing) },
            nextCursor: outcome.next?.wireText,
            searchedTo: outcome.searchedTo)
    }

    /// Returns one entry with its inclusion proof; without a proof while the newest checkpoint does not cover the
    /// entry.
    /// - Throws: 404 when there is no such entry, 403 when the caller may not read that audit log.
    func get(_ caller: Caller, _ call: Call<AuditEntryPath, NoBody>) async throws -> AuditEntryDetail {
        let path = call.parameters
        guard let number = path.number else { throw APIError.noSuchAuditEntry }
        _ = try await services.authorizeAndRecordRead(
            caller, of: path.familyID, reading: API.getAuditEvent.operation, details: ["n": path.n])
        let rows = try await services.database.query(AuditStatements.entry(path.familyID, number))
        guard let row = rows.first else { throw APIError.noSuchAuditEntry }
        let entry = try Contract.AuditEntry(row, services.sealing)
        let at: Timestamp = try row["at"]
        var detail = AuditEntryDetail(
            entry: entry, atMicroseconds: Int(at.microseconds), payload: "erased", salt: nil, body: nil, proof: nil)
        switch try services.sealing.openBody(of: row) {
        case .whole(let salt, let body):
            (detail.payload, detail.salt, detail.body) = ("whole", HexDigest(bytes: salt), hexadecimal(body))
        case .unreadable: detail.payload = "unreadable"
        case .erased: break
        }
        detail.proof = try await LogReader(services).inclusionProof(of: path.familyID, number)
        return detail
    }
}

extension AuditQuery {
    /// The details of the query for its own audit entry.
    fileprivate var details: AuditBody {
        var details = conditions.details
        details["limit"] = String(limit)
        details["cursor"] = cursor == nil ? nil : "given"
        return details
    }
}

extension AuditConditions {
    /// The details of the conditions for an audit entry. They contain ids, times and known kinds; `given` stands for
    /// any other value.
    var details: AuditBody {
        var details: AuditBody = [:]
        details["actor"] = actorID?.description
        details["subject"] = subjectID?.description
        details["person"] = personID?.description
        details["resource"] = resourceID?.description
        details["trace"] = traceID?.description
        details["kind"] = kind.map { AuditKind(rawValue: $0) == nil ? "given" : $0 }
        details["q"] = q.map { text in AuditKind.allCases.contains { $0.rawValue.hasPrefix(text) } ? text : "given" }
        details["from"] = from?.rfc3339
        details["to"] = to?.rfc3339
        details["without_own_reads"] = withoutOwnReads ? "true" : nil
        return details
    }
}

extension Contract.AuditEntry {
    /// Reads a row of `AuditStatements`.
    init(_ row: Row, _ sealing: Sealing) throws {
        let body = try sealing.openBody(of: row).bytes
        self.init(
            familyID: try row["family_id"], n: try row["n"], at: try row["at"], kind: try row["kind"],
            actor: try row["actor"], subject: try row["subject"], actorID: try row["actor_id"],
            subjectID: try row["subject_id"], resourceID: try row["resource"], traceID: try row["trace"],
            requestID: try row["request"], commit: try HexDigest(column: try row["commit"]),
            previous: try HexDigest(column: try row["prev"]), hash: try HexDigest(column: try row["hash"]),
            details: body.flatMap { AuditBody(canonical: $0)?.dictionary })
    }
}

extension HexDigest {
    /// - Throws: `unexpectedShape` unless there are 32 bytes.
    init(column bytes: [UInt8]) throws(PostgresError) {
        guard let digest = HexDigest(bytes: bytes) else { throw .unexpectedShape("a hash of \(bytes.count) bytes") }
        self = digest
    }
}
