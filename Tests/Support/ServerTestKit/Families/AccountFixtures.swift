import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server

extension TestServer {
    /// Creates an account through the API.
    @discardableResult
    func signUp(
        _ email: String, password: String = "correct horse", name: String? = nil, born: DateOfBirth? = nil
    ) async throws -> AuthResponse {
        try await call(
            API.signUp,
            SignupRequest(
                email: try EmailAddress(wireText: email), password: Secret(password), displayName: name,
                dateOfBirth: born))
    }

    func logIn(_ email: String, password: String) async throws -> AuthResponse {
        try await call(API.logIn, LoginRequest(email: try EmailAddress(wireText: email), password: Secret(password)))
    }

    /// Returns the status of the response to a read-only request with this access token.
    func status(of accessToken: Secret, _ family: FamilyID = FamilyID(high: 1, low: 1)) async throws -> Int {
        try await call("GET", "/api/v1/families/\(family)", token: accessToken.wireText).status
    }
}

extension TestServer {
    /// Sets the user name and the PIN of the family's child.
    func setPIN(_ family: Household, username: String = "Cleo", pin: String = "4711") async throws {
        try await call(
            API.setChildCredentials, MemberPath(familyID: family.id, userID: family.child.id),
            ChildCredentialsSet(username: username, pin: try PIN(wireText: pin)), as: family.guardian)
    }

    func childLogIn(_ code: String, _ username: String, _ pin: String) async throws -> AuthResponse {
        try await call(
            API.childLogIn, ChildLoginRequest(familyCode: code, username: username, pin: try PIN(wireText: pin)))
    }
}

extension TestServer {
    func refresh(_ token: Secret) async throws -> AuthResponse {
        try await call(API.refreshSession, RefreshRequest(refreshToken: token))
    }
}

extension TestServer {
    /// Returns the family with its codes, as a guardian reads it: `guardian`, or the household's first guardian.
    func codes(of family: Household, as guardian: TestPerson? = nil) async throws -> FamilyResponse {
        try await call(API.getFamily, FamilyPath(familyID: family.id), as: guardian ?? family.guardian)
    }

    func childCode(of family: Household) async throws -> String { try await codes(of: family).childCode ?? "" }
}

extension TestServer {
    /// Returns the number of a person's relationships in the family, by their status.
    func relationships(of person: UserID, in family: FamilyID) async throws -> [String: Int] {
        try await rows(
            "SELECT status FROM relationships WHERE family_id = \(family) AND \(person) IN (party_a, party_b)"
        ).reduce(into: [:]) { $0[$1["status"]?.stringValue ?? "", default: 0] += 1 }
    }
}
