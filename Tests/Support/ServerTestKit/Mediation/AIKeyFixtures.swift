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
    /// Of that password, by argon2id at its least cost.
    private static let passwordHash =
        "$argon2id$v=19$m=8,t=1,p=1$iuIr1wqlk88fC7VC2zu9Sg$fh310/G8q8nSeNCGMr7eU56yBG089pt0hjWL3Hgj7g4"
    static let secret = "sk-canary-0123456789-wxyz"

    /// Gives all accounts with an email address that password.
    func setPasswords() async throws {
        try await sql("UPDATE users SET password_hash = \(Self.passwordHash) WHERE email IS NOT NULL")
    }

    /// Stores a key with the account's right password, unless another one is given.
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

    /// Stores a person's key for a service at an inner address, past the rules.
    func insertInnerKey(of person: TestPerson) async throws {
        try await insertKey(.custom, model: "test-model", endpoint: "https://127.0.0.1:1", of: person)
    }

    /// Stores a person's key for a service at any address, past the rules.
    func insertKey(_ provider: KeyProvider, model: String, endpoint: String, of person: TestPerson) async throws {
        let master = try #require(Self.auditKeyring?.masters.first)
        let key = AIKeyResponse(
            provider: provider, hint: "…wxyz", model: model, endpoint: endpoint,
            schemaStyle: .jsonSchema, tokensField: .maxTokens, createdAt: clock.now(), lastUsedAt: nil)
        let stored = StoredAIKey(Secret(Self.secret), key, of: person.id, by: master, nonce: random.bytes(24))
        try await sql(
            """
            INSERT INTO ai_keys (user_id, provider, endpoint, model, schema_style, tokens_field, master, sealed, hint, created_at)
            VALUES (\(person.id), \(provider), \(key.endpoint), \(key.model), \(key.schemaStyle), \(key.tokensField),
                    \(stored.master), \(stored.sealed), \(key.hint), \(key.createdAt))
            """)
    }
}

extension Configuration {
    /// Third parties are on this machine for once.
    mutating func callThirdParties(_ server: TestHTTPServer) {
        models.networks = NetworkGuard(allowing: ["127.0.0.1"].compactMap { NetworkBlock($0) })
        models.authorities = server.authority
    }
}
