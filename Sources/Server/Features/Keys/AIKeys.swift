import Audit
import Contract
import Domain
import ModelProviders
import NagzAI
import Postgres
import SQL

/// People's own keys for third parties' models. Everybody sees, checks and deletes only their own.
///
/// A secret is sealed before it is stored, is bound to its owner, provider and endpoint, and is sent to that endpoint
/// only. Keys are deleted with their owner's account.
final class AIKeys {
    private let services: Services
    /// Limits the calls that check keys and endpoints: each person has at most one at a time.
    private let callLimiter: KeyedLimiter<UserID>

    init(_ services: Services) {
        self.services = services
        callLimiter = KeyedLimiter(services.database.poller, sharing: services.models.shared.checkTurns)
    }

    /// Registers the operations of the tag `keys`.
    func register(in routes: RouteTable) {
        routes.signedIn(API.setAIKey, setKey)
        routes.signedIn(API.listAIKeys, list)
        routes.signedIn(API.deleteAIKey, delete)
        routes.signedIn(API.checkAIKey, check)
        routes.signedIn(API.listModelProviders, ProviderList(services).list)
    }

    /// Stores one of the caller's own keys, and replaces an earlier one for the same provider.
    func setKey(_ caller: Caller, _ call: Call<AIKeyPath, AIKeyUpdate>) async throws -> AIKeyResponse {
        if let earlier: AIKeyResponse = try await services.ledger.replayEarlierAnswer(caller) { return earlier }
        let (provider, body) = (call.parameters.provider, call.body)
        let (account, email) = try await requireAdult(caller)
        guard let master = services.auditKeyring?.masterKeys.first else { throw APIError.keyringIsMissing }
        let endpoint = try Self.endpoint(of: provider, body.endpoint)
        return try await services.withConfirmedPassword(
            body.password, of: account, email, caller, in: account.chain
        ) { successStatement in
            if provider == .custom { try await requirePublic(endpoint, caller) }
            let key = AIKeyResponse(
                provider: provider, hint: "…" + body.key.wireText.suffix(4), model: body.model,
                endpoint: endpoint.text, schemaStyle: body.schemaStyle ?? .jsonSchema,
                tokensField: body.tokensField ?? provider.usualTokensField, createdAt: caller.now, lastUsedAt: nil)
            let stored = StoredAIKey(
                body.key, key, of: caller.userID, by: master, nonce: services.random.bytes(24))
            return try await services.writeToOwnChain(caller) { account, seq, queries in
                guard account.adultAddress != nil else { return Self.denied(account, since: seq) }
                let count = DailyCount(limit: .aiKeysStored, user: caller.userID)
                let act = Act(
                    kind: .aiKeySet, basis: .nothingChanged(since: seq), actor: account.pseudonym,
                    details: ["provider": provider.rawValue], stampedRows: 0,
                    statements: [
                        AIKeyStatements.store(stored), successStatement,
                        try await count.checkedIncrement(at: caller.now, queries),
                    ])
                return .perform(act, key)
            }
        }
    }

    /// Lists the caller's own keys.
    func list(_ caller: Caller, _ call: Call<NoParameters, NoBody>) async throws -> AIKeyList {
        _ = try await services.access.account(caller, services.database)
        let rows = try await services.database.query(AIKeyStatements.keys(of: caller.userID))
        return AIKeyList(items: try rows.map { row throws(PostgresError) in try StoredAIKey(row).response })
    }

    /// Deletes one of the caller's own keys.
    func delete(_ caller: Caller, _ call: Call<AIKeyPath, NoBody>) async throws -> NoAnswer {
        let provider = call.parameters.provider
        return try await services.writeToOwnChain(caller) { account, seq, queries in
            guard try await queries.query(AIKeyStatements.key(of: caller.userID, provider)).first != nil else {
                throw APIError.noSuchProviderKey
            }
            let act = Act(
                kind: .aiKeyDeleted, basis: .nothingChanged(since: seq), actor: account.pseudonym,
                details: ["provider": provider.rawValue], stampedRows: 0,
                statements: [AIKeyStatements.delete(of: caller.userID, provider)])
            return .perform(act, NoAnswer())
        }
    }

    /// Returns whether the provider accepts the key and has the model (`HTTPModelProvider.availability`), and records
    /// that the key was used.
    func check(_ caller: Caller, _ call: Call<AIKeyPath, NoBody>) async throws -> AIKeyCheck {
        _ = try await requireAdult(caller)
        let keyQuery = AIKeyStatements.key(of: caller.userID, call.parameters.provider)
        guard let stored = try await services.database.query(keyQuery).first.map(StoredAIKey.init) else {
            throw APIError.noSuchProviderKey
        }
        guard let keyring = services.auditKeyring else { throw APIError.keyringIsMissing }
        guard let key = stored.opened(keyring) else { throw APIError.providerKeyIsUnreadable }
        let availability = try await callLimiter.run(caller.userID) {
            await services.models.provider(key).availability()
        }
        _ = try await services.database.query(AIKeyStatements.markUsed(stored, at: caller.now))
        return AIKeyCheck(availability)
    }

    // MARK: Conditions

    /// Returns the caller's account and its email address.
    /// - Throws: 403 for children and accounts without a sign-in of their own, with an entry in the audit log.
    private func requireAdult(_ caller: Caller) async throws -> (Account, email: String) {
        let account = try await services.access.account(caller, services.database)
        if let email = account.adultAddress { return (account, email) }
        let _: NoAnswer = try await services.writeToOwnChain(caller) { account, seq, _ in
            Self.denied(account, since: seq)
        }
        throw APIError(.authorizationDenied, .keysForAdultsOnly)
    }

    private static func denied<Answer>(_ account: Account, since seq: Int64) -> Decision<Answer> {
        let denial = Denial.keysForAdultsOnly
        return .refuse(
            .denial(
                .aiKeyUseDenied, basis: .rightsUnchanged(since: seq), actor: account.pseudonym, reason: denial.rawValue),
            APIError(.authorizationDenied, denial))
    }

    /// Returns the endpoint that a key is sent to.
    /// - Throws: 422 for a custom provider without a valid endpoint, and for any other provider with one.
    private static func endpoint(
        of provider: KeyProvider, _ customEndpoint: String?
    ) throws(APIError) -> ThirdPartyURL {
        if let usualEndpoint = provider.usualEndpoint {
            guard customEndpoint == nil, let url = ThirdPartyURL(usualEndpoint) else {
                throw APIError.onlyCustomProvidersHaveEndpoints
            }
            return url
        }
        guard let url = customEndpoint.flatMap({ ThirdPartyURL($0) }) else {
            throw APIError.customProviderNeedsEndpoint
        }
        return url
    }

    /// Requires an endpoint on the public internet.
    /// - Throws: 422 for another one.
    private func requirePublic(_ endpoint: ThirdPartyURL, _ caller: Caller) async throws {
        guard endpoint.canBePublic else { throw APIError.endpointIsNotPublic }
        let isPublic = try await callLimiter.run(caller.userID) {
            try await services.models.resolvesToPublicAddress(endpoint)
        }
        guard isPublic else { throw APIError.endpointIsNotPublic }
    }
}

extension KeyProvider {
    /// The usual endpoint; nil for a custom provider.
    var usualEndpoint: String? {
        switch self {
        case .openai: "https://api.openai.com/v1"
        case .anthropic: "https://api.anthropic.com"
        case .custom: nil
        }
    }

    /// The field for the limit of tokens in a request, unless the owner of the key chooses another one.
    fileprivate var usualTokensField: TokensField { self == .openai ? .maxCompletionTokens : .maxTokens }
}
