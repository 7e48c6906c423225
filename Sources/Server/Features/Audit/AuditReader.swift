import Audit
import Contract
import Domain
import Postgres

/// Somebody who may read audit logs: a guardian their family's, an administrator all, and the two parties of a connection
/// that was accepted the connection's own. A connection's id takes the place of a family's.
///
/// An administrator's read is recorded in the audit log, in the chain outside families, before they see the answer; one
/// that an entry of the same trace covers already is not recorded again (`RecordedRead`). A guardian's is not recorded: the
/// log would grow whenever it is read.
struct AuditReader {
    /// The audit log to read; nil for all.
    let family: FamilyID?
    /// The administrator who reads; nil for everybody else.
    let administrator: Pseudonym?

    var isAdmin: Bool { administrator != nil }
}

extension Services {
    /// The caller as a reader of an audit log.
    /// - Parameters:
    ///   - family: the requested audit log; nil for the guardian's own, or for all of them for an administrator.
    ///   - what: names what is read, for the audit log.
    ///   - details: ids, counts and codes of the request.
    /// - Throws: 403 for everybody else; a member's attempt is recorded in their family's audit log.
    func auditReader(
        _ caller: Caller, of family: FamilyID?, reading what: Contract.Operation, details: AuditBody = [:]
    ) async throws -> AuditReader {
        let account = try await access.account(caller, database)
        if account.isAdmin {
            try await recordRead(caller, account, what, of: family, details)
            return AuditReader(family: family, administrator: account.pseudonym)
        }
        guard let family = family ?? account.family else {
            throw APIError(.authorizationDenied, .guardianOnly)
        }
        if try await isParty(account.id, of: family) { return AuditReader(family: family, administrator: nil) }
        let member = try await access.member(caller, of: family, database)
        if let denial = member.denial(of: .readAuditLog) {
            try await refuse(caller, member, .auditReadDenied, denial)
        }
        return AuditReader(family: family, administrator: nil)
    }

    /// Checks again, while something long is sent, that the reader may read it: between any two slices their session may have
    /// ended, or their right.
    /// - Throws: 401 or 403 when they may not.
    func requireReader(_ reader: AuditReader, _ caller: Caller) async throws {
        let caller = caller.at(clock.now())
        guard !reader.isAdmin, let family = reader.family else {
            return try await access.requireAdministrator(caller, database)
        }
        let account = try await access.account(caller, database)
        if try await isParty(account.id, of: family) { return }
        let member = try await access.member(caller, of: family, database)
        if let denial = member.denial(of: .readAuditLog) { throw APIError(.authorizationDenied, denial) }
    }

    /// Whether the user is one of the two parties of a connection of that id.
    private func isParty(_ user: UserID, of connection: FamilyID) async throws -> Bool {
        try await !database.query(ConnectionStatements.auditReader(user, of: connection)).isEmpty
    }
}
