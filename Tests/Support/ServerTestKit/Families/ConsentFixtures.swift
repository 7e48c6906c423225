import Audit
import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server

extension TestServer {
    func grant(_ type: ConsentType, in family: FamilyID?, as person: TestPerson) async throws -> ConsentResponse {
        try await call(API.grantConsent, ConsentCreate(familyID: family, type: type), as: person)
    }

    func revoke(_ consent: ConsentID, revoked: Bool = true, as person: TestPerson) async throws -> ConsentResponse {
        try await call(
            API.updateConsent, ConsentPath(consentID: consent), ConsentUpdate(isRevoked: revoked), as: person)
    }

    func consents(_ family: FamilyID, as person: TestPerson) async throws -> [ConsentResponse] {
        try await call(API.listConsents, ConsentListQuery(familyID: family), as: person).items
    }

    /// Returns whether a consent is in force, by the statement that every feature uses.
    func hasConsent(_ type: ConsentType, for person: TestPerson, in family: FamilyID) async throws -> Bool {
        try await rows(ConsentStatements.status(type, for: person.id, in: family))[0]["is_in_force"]?.boolValue
            ?? false
    }
}
