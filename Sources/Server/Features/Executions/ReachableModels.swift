import Contract
import Domain
import ModelProviders
import NagzAI
import Postgres

/// The models that a person's question may be sent to.
struct ReachableModels {
    /// The model of the server's gateway; nil without one.
    var gatewayModel: String?
    /// The person's own keys.
    var keys: [StoredAIKey] = []
    /// Whether the family's policy and the person's role allow models of third parties.
    var allowsThirdParties = false
    /// Whether the family's policy allows adults to use models of third parties.
    var familyAllowsThirdParties = false
    /// The names of the models that the person has chosen; nil for none.
    private var chosenModelNames: (local: String?, cloud: String?) = (nil, nil)
    private let gateways: ModelGateways

    /// Returns the key for a question: the one that the client names, otherwise the one that the person has chosen. A
    /// person with a single key need not choose.
    func key(for name: String?) -> Result<StoredAIKey, KeyProblem> {
        guard !keys.isEmpty else { return .failure(.noKey) }
        guard let keyName = name ?? chosenModelNames.cloud else {
            return keys.count == 1 ? .success(keys[0]) : .failure(.ambiguous(keys))
        }
        let matchingKeys = keys.filter { $0.isNamed(keyName) }
        guard let key = matchingKeys.first else {
            return .failure(name == nil ? .removed(keyName, keys) : .unknown(keyName, keys))
        }
        return matchingKeys.count == 1 ? .success(key) : .failure(.ambiguous(matchingKeys))
    }

    /// Returns the state of the network to the provider of a key.
    func network(of key: StoredAIKey) -> NetworkState { gateways.networkState(of: key) }

    /// Returns a notice that the gateway no longer has the model that the person has chosen; nil if the gateway may be
    /// asked.
    func gatewayNotice() -> String? {
        guard let local = chosenModelNames.local, local != gatewayModel,
            !ProviderName.deviceProviders.map(\.rawValue).contains(local)
        else { return nil }
        return "The model \(local) that you have chosen is not the server's any more."
            + (gatewayModel.map { " It has \($0)." } ?? " It has none.")
    }
}

/// A reason for which none of a person's keys is used. Its message says what to do.
enum KeyProblem: Error {
    /// The person has stored no key.
    case noKey
    /// Several keys are possible, and neither the client nor the person's choice names exactly one; with these keys.
    case ambiguous([StoredAIKey])
    /// The client named a model for which the person has no key; with that name and the person's keys.
    case unknown(String, [StoredAIKey])
    /// The person's choice names a key that was removed; with the chosen name and the person's remaining keys.
    case removed(String, [StoredAIKey])

    var message: String {
        switch self {
        case .noKey: "You have stored no key for such a model."
        case .ambiguous(let keys):
            "You have several models: choose one in your preferences, or name it. \(Self.sentence(naming: keys))"
        case .unknown(let name, let keys): "You have no key for the model \(name). \(Self.sentence(naming: keys))"
        case .removed(let name, let keys):
            "You have chosen the model \(name), for which you have no key any more. \(Self.sentence(naming: keys))"
        }
    }

    /// Returns a sentence with the names that the person can choose from.
    static func sentence(naming keys: [StoredAIKey]) -> String {
        keys.isEmpty ? "You have stored no key." : "You have: \(nameList(keys))."
    }

    /// Returns the names of the models that the person can choose, as a list for a message.
    static func nameList(_ keys: [StoredAIKey]) -> String {
        keys.isEmpty ? "you have stored none" : keys.map(\.name).joined(separator: ", ")
    }
}

extension StoredAIKey {
    /// The unambiguous name of the key: its provider and its model.
    var name: String { "\(response.provider.rawValue)/\(response.model)" }

    /// Whether a text names this key: by its model, its provider, or both.
    func isNamed(_ text: String) -> Bool {
        text == response.model || text == response.provider.rawValue || text == name
    }
}

extension ReachableModels {
    /// Creates the models for a person, before their keys are read.
    init(_ gateways: ModelGateways, _ settings: AISettings) {
        self.gateways = gateways
        gatewayModel = gateways.serverGateway?.model
        chosenModelNames = (settings.localModel, settings.cloudModel)
    }

    /// Reads the person's keys, and whether the family's policy and the person's role allow third parties' models.
    /// For somebody who is not an active member of the family, nothing changes.
    mutating func readKeysAndRights(of user: UserID, in home: FamilyID, _ queries: any Queries) async throws {
        guard let row = try await queries.query(AIKeyStatements.rights(of: user, in: home)).first else { return }
        let role: FamilyRole = try row["role"]
        familyAllowsThirdParties = try row["third_party_models"]
        allowsThirdParties = role != .child && familyAllowsThirdParties
        keys = try await Self.keys(of: user, queries)
    }

    /// Returns all keys of a person, in the order of their providers.
    static func keys(of user: UserID, _ queries: any Queries) async throws -> [StoredAIKey] {
        try await queries.query(AIKeyStatements.keys(of: user)).map { row throws(PostgresError) in
            try StoredAIKey(row)
        }
    }
}

/// The model that a question is sent to.
enum ChosenModel {
    /// The server's gateway, with the name of its model.
    case gateway(String)
    /// A third party's model, with the person's own key.
    case ownKey(StoredAIKey)

    var provider: ProviderName {
        switch self {
        case .gateway: .serverGateway
        case .ownKey: .ownProvider
        }
    }

    func isSame(as other: Self) -> Bool {
        switch (self, other) {
        case (.gateway(let one), .gateway(let other)): one == other
        case (.ownKey(let one), .ownKey(let other)): one.sealedSecret == other.sealedSecret
        case (.gateway, .ownKey), (.ownKey, .gateway): false
        }
    }

    var name: String {
        switch self {
        case .gateway(let name): name
        case .ownKey(let stored): stored.response.model
        }
    }

    var reach: Reach {
        switch self {
        case .gateway: .server
        case .ownKey: .thirdParty
        }
    }
}
