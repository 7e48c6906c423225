import Audit
import Contract
import Domain
import Postgres

/// The audit trail as people read it: newest first, page by page, narrowed by whatever they ask for.
///
/// Guardians read their own family's. A member whom the role matrix refuses leaves an entry in the trail they asked for.
/// Reading by a guardian does not: the trail would grow by being looked at.
final class AuditTrail {
    private let backend: Backend

    init(_ backend: Backend) { self.backend = backend }

    /// Entries of the named family, or of the caller's own.
    /// - Throws: 403 for anybody but a guardian of it, 422 for a cursor that is not this family's.
    func list(_ caller: Caller, _ call: Call<AuditQuery, NoBody>) async throws -> AuditPage {
        let query = call.parameters
        let family = try await family(of: caller, query)
        let member = try await backend.access.member(caller, of: family, backend.database)
        if let denial = RoleMatrix.denial(of: .readAuditTrail, by: Standing(role: member.role)) {
            return try await refuse(caller, member, denial)
        }
        let before = try AuditCursor.place(query.cursor, in: family)
        let rows = try await backend.database.query(AuditStatements.page(query, of: family, before: before))
        var items = try rows.map { try Contract.AuditEntry($0, backend.sealing) }
        guard items.count > query.limit else { return AuditPage(items: items, nextCursor: nil) }
        items.removeLast()
        let next = items.last.map { AuditCursor(family: family, before: Int64($0.n)).text }
        return AuditPage(items: items, nextCursor: next)
    }

    private func family(of caller: Caller, _ query: AuditQuery) async throws -> FamilyID {
        if let family = query.familyID { return family }
        guard let family = try await backend.access.account(caller, backend.database).family else {
            throw APIError(.authorizationDenied, Denial.guardianOnly.message)
        }
        return family
    }

    private func refuse(_ caller: Caller, _ member: Member, _ denial: Denial) async throws -> AuditPage {
        try await backend.ledger.write(caller, in: member.familyID) { queries in
            let member = try await backend.access.member(caller, of: member.familyID, queries)
            let act = Act(
                kind: "audit.read.denied", basis: .rightsUnchanged(since: member.seq), actor: member.pseudonym,
                details: ["reason": denial.rawValue], stampedRows: 0)
            return .refuse(act, APIError(.authorizationDenied, denial.message))
        }
    }
}

/// A place in one family's trail, opaque to clients: the family, and the number the next page lies below.
struct AuditCursor {
    let family: FamilyID
    let before: Int64

    /// Nil when there is no cursor.
    /// - Throws: 422 for text that is no cursor of this family.
    static func place(_ text: String?, in family: FamilyID) throws(APIError) -> Int64? {
        guard let text else { return nil }
        guard let bytes = bytes(base64URL: text[...]), bytes.count == 24, bytes.starts(with: family.bytes) else {
            throw APIError(.validationFailed, "cursor is not one of this family's trail.", field: "cursor")
        }
        return Int64(bitPattern: bytes.dropFirst(16).reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    var text: String {
        base64URL(family.bytes + (0..<8).map { UInt8(truncatingIfNeeded: before >> Int64(56 - 8 * $0)) })
    }
}

extension Contract.AuditEntry {
    init(_ row: Row, _ sealing: Sealing) throws {
        let body = try sealing.body(row).bytes
        self.init(
            familyID: try row["family_id"], n: try row["n"], at: try row["at"], kind: try row["kind"],
            actor: try row["actor"], subject: try row["subject"], actorID: try row["actor_id"],
            subjectID: try row["subject_id"], resourceID: try row["resource"], traceID: try row["trace"],
            requestID: try row["request"], commit: try Self.digest(try row["commit"]),
            previous: try Self.digest(try row["prev"]), hash: try Self.digest(try row["hash"]),
            details: body.flatMap { AuditBody(canonical: $0)?.details })
    }

    private static func digest(_ bytes: [UInt8]) throws(PostgresError) -> HexDigest {
        guard let digest = HexDigest(bytes: bytes) else { throw .unexpectedShape("a hash of \(bytes.count) bytes") }
        return digest
    }
}
