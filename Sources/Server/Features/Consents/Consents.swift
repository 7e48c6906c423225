import Audit
import Contract
import Domain
import Postgres
import SQL

/// Consents: a guardian gives them for the family, an adult for themselves. Children give none.
///
/// A record is never deleted; revoking a consent and giving it again makes two records. Giving and revoking
/// take effect for everybody concerned at the same moment.
package final class Consents {
    private let services: Services

    package init(_ services: Services) { self.services = services }

    /// Registers the operations of the tag `consents`.
    func register(in routes: RouteTable) {
        routes.signedIn(API.listConsents, list)
        routes.signedIn(API.grantConsent, grant)
        routes.signedIn(API.updateConsent, update)
    }

    /// Lists the consents in force for the caller, as a member of a family. Revoked ones are left out, because clients
    /// read a listed consent as granted.
    func list(_ caller: Caller, _ call: Call<ConsentListQuery, NoBody>) async throws -> Page<ConsentResponse> {
        let page = call.parameters.page
        let member = try await services.access.member(caller, of: call.parameters.familyID, services.database)
        let rows = try await services.database.query(ConsentStatements.page(page, for: member))
        return try Page(rows, answering: page) { try ConsentResponse(ifAny: $0) }
    }

    /// Gives a consent. If the caller has given it already, the existing one is returned.
    /// - Throws: 403 for a child, for a participant who may not give this consent, and for too many of a type in a day;
    ///   422 without a family unless the consent is personal.
    package func grant(_ caller: Caller, _ call: Call<NoParameters, ConsentCreate>) async throws -> ConsentResponse {
        if call.body.type == .smsOptIn { return try await grantForOneself(caller, call.body.type) }
        guard let family = call.body.familyID else { throw APIError.consentNeedsFamily }
        let type = call.body.type
        return try await services.ledger.write(caller, in: family) { queries in
            let member = try await services.access.member(caller, of: family, queries)
            if member.role == .child { return Self.childRefusal(member) }
            if type == .childAccountCreation, let denial = member.denial(of: .grantFamilyConsent) {
                return .denied(.consentGrantDenied, to: member, denial)
            }
            let existing = try await queries.query(
                ConsentStatements.unrevokedConsents(type, by: member.userID, in: family))
            if let row = existing.first { return .answer(try ConsentResponse(row)) }
            if let denial = try await denialOfAnotherConsent(type, caller, queries) {
                return .denied(
                    .consentGrantDenied, to: member, reason: denial.rawValue, APIError(.policyForbidden, denial))
            }
            let consent = ConsentResponse(
                id: services.random.identifier(at: caller.now), userID: member.userID, familyID: family, type: type)
            let act = Act(
                kind: .consentGranted, basis: .nothingChanged(since: member.seq), actor: member.pseudonym,
                subject: member.pseudonym, resource: consent.id.retyped(), details: ["type": type.rawValue],
                changesRights: true, stampedRows: 0, statements: [ConsentStatements.insert(consent, at: caller.now)])
            return .perform(act, consent)
        }
    }

    /// Returns the reason for which the caller may give no more consents of that type within a day; nil if they may.
    /// The limit exists because the records are never deleted.
    private func denialOfAnotherConsent(
        _ type: ConsentType, _ caller: Caller, _ queries: any Queries
    ) async throws -> Denial? {
        let count = try await queries.query(
            ConsentStatements.countGiven(type, by: caller.userID, since: caller.now - .days(1))
        ).onlyRow()
        return ConsentLimit.denial(givenWithinDay: try count["count"])
    }

    /// Grants a personal consent, which needs no family.
    private func grantForOneself(_ caller: Caller, _ type: ConsentType) async throws -> ConsentResponse {
        try await services.writeToOwnChain(caller) { account, seq, queries in
            if account.role == .child, let family = account.family {
                return Self.childRefusal(try await services.access.member(caller, of: family, queries))
            }
            let existing = try await queries.query(
                ConsentStatements.unrevokedConsents(type, by: account.id, in: nil))
            if let row = existing.first { return .answer(try ConsentResponse(row)) }
            if let denial = try await denialOfAnotherConsent(type, caller, queries) {
                return .refuse(
                    .denial(
                        .consentGrantDenied, basis: .rightsUnchanged(since: seq), actor: account.pseudonym,
                        reason: denial.rawValue),
                    APIError(.policyForbidden, denial))
            }
            let consent = ConsentResponse(
                id: services.random.identifier(at: caller.now), userID: account.id, familyID: nil, type: type)
            let act = Act(
                kind: .consentGranted, basis: .nothingChanged(since: seq), actor: account.pseudonym,
                subject: account.pseudonym, resource: consent.id.retyped(), details: ["type": type.rawValue],
                changesRights: true, stampedRows: 0, statements: [ConsentStatements.insert(consent, at: caller.now)])
            return .perform(act, consent)
        }
    }

    /// Revokes a consent: for its giver, and for guardians of its family. It stays revoked; giving it again makes a new
    /// one. A request that does not ask to revoke returns an unrevoked consent, and gets 422 for a revoked one.
    package func update(_ caller: Caller, _ call: Call<ConsentPath, ConsentUpdate>) async throws -> ConsentResponse {
        let (id, isRevoking) = (call.parameters.consentID, call.body.isRevoked)
        return try await services.writeToOwnChain(caller) { account, seq, queries in
            guard let row = try await queries.query(ConsentStatements.consent(id)).first else {
                throw APIError.noSuchConsent
            }
            let consent = try ConsentResponse(row)
            let isOwn = consent.userID == account.id && (consent.familyID == nil || consent.familyID == account.family)
            if !isOwn {
                guard let family = consent.familyID, family == account.family else {
                    throw APIError.noSuchConsent
                }
                let member = try await services.access.member(caller, of: family, queries)
                if let denial = member.denial(of: .grantFamilyConsent) {
                    return .denied(.consentRevokeDenied, to: member, denial, subject: try row["pseudonym"])
                }
            }
            let revokedAt: Timestamp? = try row["revoked_at"]
            guard isRevoking else {
                guard revokedAt == nil else { throw APIError.consentStaysRevoked }
                return .answer(consent)
            }
            guard revokedAt == nil else { return .answer(consent) }
            let act = Act(
                kind: .consentRevoked, basis: .nothingChanged(since: seq), actor: account.pseudonym,
                subject: try row["pseudonym"], resource: consent.id.retyped(),
                details: ["type": consent.type.rawValue], changesRights: true, stampedRows: 0,
                statements: [ConsentStatements.revoke(consent.id, at: caller.now)]
                    + (consent.type == .aiMediation
                        ? [
                            DraftStatements.expireWithoutConsent(
                                remainingConsents: "consent.id <> \(consent.id)", at: caller.now)
                        ]
                        : [])
            )
            return .perform(act, consent)
        }
    }

    private static func childRefusal(_ member: Member) -> Decision<ConsentResponse> {
        .denied(
            .consentGrantDenied, to: member, reason: "child",
            APIError.childrenGrantNoConsents)
    }
}

extension ConsentResponse {
    fileprivate init(_ row: Row) throws(PostgresError) {
        self.init(
            id: try row["id"], userID: try row["user_id"], familyID: try row["family_id"], type: try row["consent_type"]
        )
    }

    /// Reads a consent; nil for a row of nulls.
    fileprivate init?(ifAny row: Row) throws(PostgresError) {
        guard let _: ConsentID = try row["id"] else { return nil }
        try self.init(row)
    }
}
