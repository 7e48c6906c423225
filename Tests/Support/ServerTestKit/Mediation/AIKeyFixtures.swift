import Contract
import Domain
import HTTPClient
import JSON
import NagzAI
import SQL
import TestHTTPServer
import Testing

@testable import Server

extension TestServer {
    static let password = "correct horse battery"
    /// The hash of `password`, by argon2id at its lowest cost.
    private static let passwordHash =
        "$argon2id$v=19$m=8,t=1,p=1$iuIr1wqlk88fC7VC2zu9Sg$fh310/G8q8nSeNCGMr7eU56yBG089pt0hjWL3Hgj7g4"
    static let secret = "sk-canary-0123456789-wxyz"

    /// Sets `password` for all accounts with an email address.
    func setPasswords() async throws {
        try await sql("UPDATE users SET password_hash = \(Self.passwordHash) WHERE email IS NOT NULL")
    }

    /// Stores a key of a provider through the API. By default the account's password is correct.
    @discardableResult
    func setKey(
        _ provider: KeyProvider = .openai, _ secret: String = secret, endpoint: String? = nil,
        password: String = password, as person: TestPerson
    ) async throws -> AIKeyResponse {
        try await call(
            API.setAIKey, AIKeyPath(provider: provider),
            AIKeyUpdate(key: Secret(secret), model: "test-model", endpoint: endpoint, password: Secret(password)),
            as: person)
    }

    func keys(of person: TestPerson) async throws -> [AIKeyResponse] {
        try await call(API.listAIKeys, as: person).items
    }

    func check(_ provider: KeyProvider, as person: TestPerson) async throws -> AIKeyCheck {
        try await call(API.checkAIKey, AIKeyPath(provider: provider), as: person)
    }

    /// Inserts a person's key for a service at an address of this machine, which the API would refuse.
    func insertInnerKey(of person: TestPerson) async throws {
        try await insertKey(.custom, model: "test-model", endpoint: "https://127.0.0.1:1", of: person)
    }

    /// Inserts a person's key for a service at any address, without the checks of the API.
    func insertKey(_ provider: KeyProvider, model: String, endpoint: String, of person: TestPerson) async throws {
        let master = try #require(Self.auditKeyring?.masterKeys.first)
        let key = AIKeyResponse(
            provider: provider, hint: "…wxyz", model: model, endpoint: endpoint,
            schemaStyle: .jsonSchema, tokensField: .maxTokens, createdAt: clock.now(), lastUsedAt: nil)
        let stored = StoredAIKey(Secret(Self.secret), key, of: person.id, by: master, nonce: random.bytes(24))
        try await sql(
            """
            INSERT INTO ai_keys (user_id, provider, endpoint, model, schema_style, tokens_field, master, sealed, hint, created_at)
            VALUES (\(person.id), \(provider), \(key.endpoint), \(key.model), \(key.schemaStyle), \(key.tokensField),
                    \(stored.masterID), \(stored.sealedSecret), \(key.hint), \(key.createdAt))
            """)
    }
}

extension Configuration {
    /// Lets the test's server call `server` on this machine as a third party.
    mutating func callThirdParties(_ server: TestHTTPServer) {
        models.networks = NetworkGuard(allowing: ["127.0.0.1"].compactMap { NetworkBlock($0) })
        models.authorities = server.authority
    }
}
