import Audit
import Contract
import Domain
import ModelProviders
import NagzAI
import Postgres

/// A person's key for a model provider, as it is stored: its secret is sealed.
struct StoredAIKey {
    let user: UserID
    /// The key as its owner sees it: the provider, the model and the endpoint, without the secret.
    let response: AIKeyResponse
    /// The ID of the master key that sealed the secret.
    let masterID: [UInt8]
    /// The sealed secret.
    let sealedSecret: [UInt8]

    /// Seals a secret with a master key.
    /// - Parameter nonce: 24 random bytes.
    init(_ secret: Secret, _ key: AIKeyResponse, of user: UserID, by master: MasterKey, nonce: [UInt8]) {
        (self.user, response, masterID) = (user, key, master.id)
        sealedSecret = master.seal(
            Array(secret.wireText.utf8), for: Self.purpose,
            associatedData: Self.associatedData(user, key.provider, key.endpoint),
            nonce: nonce)
    }

    /// Reads a row of `AIKeyStatements`.
    init(_ row: Row) throws(PostgresError) {
        (user, masterID, sealedSecret) = (try row["user_id"], try row["master"], try row["sealed"])
        response = AIKeyResponse(
            provider: try row["provider"], hint: try row["hint"], model: try row["model"],
            endpoint: try row["endpoint"], schemaStyle: try row["schema_style"], tokensField: try row["tokens_field"],
            createdAt: try row["created_at"], lastUsedAt: try row["used_at"])
    }

    /// The digest of the sealed secret. It identifies the key as it is stored now: storing the key again or sealing it
    /// with another master key changes the digest.
    var sealedSecretDigest: [UInt8] { sha256(sealedSecret) }

    /// Returns the secret; nil if the keyring lacks the master key that sealed it, or if the key's owner, provider or
    /// endpoint was changed.
    private func openSecret(with keyring: AuditKeyring) -> String? {
        let bytes = keyring.masterKeys.first { $0.id == masterID }?.open(
            sealedSecret, for: Self.purpose,
            associatedData: Self.associatedData(user, response.provider, response.endpoint))
        return bytes.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the key with its secret, ready for use; nil if it cannot be opened.
    func opened(_ keyring: AuditKeyring) -> OpenedAIKey? {
        guard let secret = openSecret(with: keyring), let endpoint = ThirdPartyURL(response.endpoint) else {
            return nil
        }
        return OpenedAIKey(
            provider: response.provider, endpoint: endpoint, model: response.model,
            schemaStyle: response.schemaStyle, tokensField: response.tokensField, secret: ModelKey(secret),
            sealedSecretDigest: sealedSecretDigest)
    }

    /// Returns the same key, sealed with another master key; nil if it cannot be opened.
    func resealed(_ keyring: AuditKeyring, by master: MasterKey, nonce: [UInt8]) -> StoredAIKey? {
        openSecret(with: keyring).map { StoredAIKey(Secret($0), response, of: user, by: master, nonce: nonce) }
    }

    /// The label from which the master key derives the key that seals these secrets. Another label cannot open them.
    private static let purpose = "ai keys"

    /// Returns the bytes that a sealed key is bound to. Different owners, providers or endpoints never give the same
    /// bytes: an ID has 16 bytes, and no provider's name has a line break.
    private static func associatedData(_ user: UserID, _ provider: KeyProvider, _ endpoint: String) -> [UInt8] {
        user.bytes + Array("\(provider.rawValue)\n\(endpoint)".utf8)
    }
}

/// A person's key, ready for use. Its secret is not printed.
struct OpenedAIKey {
    let provider: KeyProvider
    let endpoint: ThirdPartyURL
    let model: String
    let schemaStyle: SchemaStyle
    let tokensField: TokensField
    let secret: ModelKey
    /// `StoredAIKey.sealedSecretDigest` of the stored key.
    let sealedSecretDigest: [UInt8]
}
