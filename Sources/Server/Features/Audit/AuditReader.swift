import Audit
import Contract
import Domain
import Postgres

/// A person who may read audit logs. A guardian reads the family's, an administrator reads all, and a party of an
/// accepted connection reads the connection's, whose id takes the place of a family's.
///
/// An administrator's read is recorded in the audit log, in the chain outside families, before the response is sent,
/// unless an entry of the same trace covers it already (`RecordedRead`). Other people's reads are not recorded: the log
/// would grow whenever it is read.
struct AuditReader {
    /// The audit log to read; nil for all.
    let family: FamilyID?
    /// The administrator who reads; nil for everybody else.
    let administrator: Pseudonym?

    var isAdmin: Bool { administrator != nil }
}

extension Services {
    /// Returns the caller as a reader of an audit log, and records the read of an administrator.
    /// - Parameters:
    ///   - family: the requested audit log; nil for the guardian's own, or for all of them for an administrator.
    ///   - operation: the operation that reads, which the audit log names.
    ///   - details: ids, counts and codes of the request.
    /// - Throws: 403 for somebody who may not read it; a member's attempt is recorded in their family's audit log.
    func authorizeAndRecordRead(
        _ caller: Caller, of family: FamilyID?, reading operation: Contract.Operation, details: AuditBody = [:]
    ) async throws -> AuditReader {
        let account = try await access.account(caller, database)
        if account.isAdmin {
            try await recordAdminRead(caller, account, operation, of: family, details)
            return AuditReader(family: family, administrator: account.pseudonym)
        }
        guard let family = family ?? account.family else {
            throw APIError(.authorizationDenied, .guardianOnly)
        }
        if try await isAcceptedParty(account.id, of: family) { return AuditReader(family: family, administrator: nil) }
        let member = try await access.member(caller, of: family, database)
        if let denial = member.denial(of: .readAuditLog) {
            try await refuse(caller, member, .auditReadDenied, denial)
        }
        return AuditReader(family: family, administrator: nil)
    }

    /// Checks again, during a long read, that the reader may read the audit log: the session or the right may have
    /// ended since the last check.
    /// - Throws: 401 or 403 when they may not.
    func recheckReader(_ reader: AuditReader, _ caller: Caller) async throws {
        let caller = caller.copy(at: clock.now())
        guard !reader.isAdmin, let family = reader.family else {
            return try await access.requireAdministrator(caller, database)
        }
        let account = try await access.account(caller, database)
        if try await isAcceptedParty(account.id, of: family) { return }
        let member = try await access.member(caller, of: family, database)
        if let denial = member.denial(of: .readAuditLog) { throw APIError(.authorizationDenied, denial) }
    }

    /// Returns whether the user is a party of an accepted connection with that ID.
    private func isAcceptedParty(_ user: UserID, of connection: FamilyID) async throws -> Bool {
        try await !database.query(ConnectionStatements.acceptedParty(user, of: connection)).isEmpty
    }
}
