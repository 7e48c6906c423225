import Audit
import Contract
import Domain
import Postgres
import SQL

/// The audit trail as people read it: newest first, page by page, narrowed by whatever they ask for, and one entry at a
/// time with its proof.
final class AuditTrail {
    private let backend: Backend

    init(_ backend: Backend) { self.backend = backend }

    /// Entries of the named family, of the caller's own, or of all for an administrator.
    /// - Throws: 403 for anybody else, 422 for a cursor that is not of this list.
    func list(_ caller: Caller, _ call: Call<AuditQuery, NoBody>) async throws -> AuditPage {
        let query = call.parameters
        let reader = try await backend.auditReader(
            caller, of: query.familyID, reading: API.listAuditEvents.operation, details: query.details)
        let search = try await AuditSearch(query, backend.database)
        let before = try AuditCursor.place(query.cursor, in: reader.family)
        guard search != .nothing else { return AuditPage(items: [], nextCursor: nil) }
        let rows = try await backend.database.query(
            AuditStatements.page(query, search, of: reader.family, before: before))
        let items = try (0..<min(rows.count, query.limit)).map { try Contract.AuditEntry(rows[$0], backend.sealing) }
        guard rows.count > query.limit else { return AuditPage(items: items, nextCursor: nil) }
        let last = rows[query.limit - 1]
        let next = AuditCursor(family: try last["family_id"], before: try last["n"], at: try last["at"])
        return AuditPage(items: items, nextCursor: next.text)
    }

    /// One entry, and the proof that it is in the log.
    /// - Throws: 404 when there is no such entry, 403 for whom its trail is none of the business of.
    func detail(_ caller: Caller, _ call: Call<AuditEntryPath, NoBody>) async throws -> AuditEntryDetail {
        let path = call.parameters
        guard let number = path.number else { throw Self.missing }
        _ = try await backend.auditReader(
            caller, of: path.familyID, reading: API.getAuditEvent.operation, details: ["n": path.n])
        let rows = try await backend.database.query(AuditStatements.entry(path.familyID, number))
        guard let row = rows.first else { throw Self.missing }
        let entry = try Contract.AuditEntry(row, backend.sealing)
        let at: Timestamp = try row["at"]
        var detail = AuditEntryDetail(
            entry: entry, atMicroseconds: Int(at.microseconds), payload: "erased", salt: nil, body: nil, proof: nil)
        switch try backend.sealing.body(row) {
        case .whole(let salt, let body):
            (detail.payload, detail.salt, detail.body) = ("whole", HexDigest(bytes: salt), hexadecimal(body))
        case .unreadable: detail.payload = "unreadable"
        case .erased: break
        }
        detail.proof = try await LogReader(backend).inclusion(of: path.familyID, number)
        return detail
    }

    private static let missing = APIError(.notFound, "There is no such entry.")
}

extension AuditQuery {
    /// What was asked for, for the trail: which conditions, and the ids among their values; no free text.
    fileprivate var details: [String: String] {
        var details: [String: String] = ["limit": String(limit)]
        details["actor"] = actorID?.description
        details["subject"] = subjectID?.description
        details["resource"] = resourceID?.description
        details["trace"] = traceID?.description
        details["kind"] = kind == nil ? nil : "given"
        details["q"] = q == nil ? nil : "given"
        details["from"] = from?.rfc3339
        details["to"] = to?.rfc3339
        details["cursor"] = cursor == nil ? nil : "given"
        return details
    }
}

/// What the free search of a query comes to.
enum AuditSearch: Equatable {
    /// Nothing is searched for.
    case everything
    /// Nothing can be found.
    case nothing
    /// The id of a person, a person's stand-in, a thing or a trace.
    case id(ResourceID)
    case kinds([String])

    /// Kinds are few and indexed: which of them hold the text is found out first.
    init(_ query: AuditQuery, _ queries: any Queries) async throws {
        guard let text = query.q?.split(whereSeparator: \.isWhitespace).joined(separator: " "), !text.isEmpty else {
            self = .everything
            return
        }
        if let id = ResourceID(text) {
            self = .id(id)
            return
        }
        let kinds: [String] = try await queries.query(AuditStatements.kinds).map { row throws(PostgresError) in
            try row["kind"]
        }
        let found = kinds.filter { $0.contains(text.lowercased()) }
        self = found.isEmpty ? .nothing : .kinds(found)
    }
}

/// A place in a list of the trail, opaque to clients: the family, number and time that the next page lies below.
struct AuditCursor {
    let family: FamilyID
    let before: Int64
    var at = Timestamp.epoch

    /// Nil when there is no cursor.
    /// - Throws: 422 for text that is no cursor of this list.
    static func place(_ text: String?, in family: FamilyID?) throws(APIError) -> AuditCursor? {
        guard let text else { return nil }
        guard let bytes = bytes(base64URL: text[...]), bytes.count == 32 else { throw refusal }
        func word(_ index: Int) -> UInt64 { bytes[(index * 8)..<(index * 8 + 8)].reduce(0) { $0 << 8 | UInt64($1) } }
        let place = AuditCursor(
            family: FamilyID(high: word(0), low: word(1)), before: Int64(bitPattern: word(2)),
            at: Timestamp(microseconds: Int64(bitPattern: word(3))))
        guard family == nil || place.family == family,
            (Timestamp.epoch...Timestamp(seconds: 253_402_300_799)).contains(place.at)
        else { throw refusal }
        return place
    }

    private static let refusal = APIError(
        .validationFailed, "cursor is not one of this family's trail.", field: "cursor")

    var text: String {
        let words = [before, at.microseconds]
        return base64URL(
            family.bytes
                + words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> Int64(56 - 8 * $0)) } })
    }
}

extension Contract.AuditEntry {
    /// Reads a row of `AuditStatements`.
    init(_ row: Row, _ sealing: Sealing) throws {
        let body = try sealing.body(row).bytes
        self.init(
            familyID: try row["family_id"], n: try row["n"], at: try row["at"], kind: try row["kind"],
            actor: try row["actor"], subject: try row["subject"], actorID: try row["actor_id"],
            subjectID: try row["subject_id"], resourceID: try row["resource"], traceID: try row["trace"],
            requestID: try row["request"], commit: try HexDigest(column: try row["commit"]),
            previous: try HexDigest(column: try row["prev"]), hash: try HexDigest(column: try row["hash"]),
            details: body.flatMap { AuditBody(canonical: $0)?.details })
    }
}

extension HexDigest {
    /// - Throws: `unexpectedShape` unless there are 32 bytes.
    init(column bytes: [UInt8]) throws(PostgresError) {
        guard let digest = HexDigest(bytes: bytes) else { throw .unexpectedShape("a hash of \(bytes.count) bytes") }
        self = digest
    }
}
