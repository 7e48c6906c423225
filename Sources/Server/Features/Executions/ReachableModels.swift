import Contract
import Domain
import ModelProviders
import NagzAI
import Postgres

/// The models that a person's question may be sent to.
struct ReachableModels {
    /// The model of the server's gateway; nil without one.
    var gateway: String?
    /// The person's own.
    var keys: [StoredAIKey] = []
    /// Whether the family's policy and the person's role allow models of third parties.
    var allowsThirdParties = false

    /// The key for a model: of the one that the client names, or else the first.
    func key(for model: String?) -> StoredAIKey? {
        guard let model else { return keys.first }
        return keys.first { $0.key.model == model }
    }
}

extension ReachableModels {
    /// Without keys of a person.
    init(_ gateways: ModelGateways) { gateway = gateways.server?.model }

    /// Reads the person's keys, and whether their family lets them use any.
    mutating func readKeys(of user: UserID, in home: FamilyID, _ queries: any Queries) async throws {
        guard let row = try await queries.query(AIKeyStatements.rights(of: user, in: home)).first else { return }
        let role: FamilyRole = try row["role"]
        allowsThirdParties = try role != .child && row["third_party_models"]
        keys = try await queries.query(AIKeyStatements.all(of: user)).map { row throws(PostgresError) in
            try StoredAIKey(row)
        }
    }
}

/// The model that a question is sent to.
enum ChosenModel {
    /// With its name.
    case gateway(String)
    case own(StoredAIKey)

    var provider: ProviderName {
        switch self {
        case .gateway: .serverGateway
        case .own: .ownProvider
        }
    }

    func isSame(as other: Self) -> Bool {
        switch (self, other) {
        case (.gateway(let one), .gateway(let other)): one == other
        case (.own(let one), .own(let other)): one.sealed == other.sealed
        case (.gateway, .own), (.own, .gateway): false
        }
    }

    var name: String {
        switch self {
        case .gateway(let name): name
        case .own(let stored): stored.key.model
        }
    }

    var reach: Reach {
        switch self {
        case .gateway: .server
        case .own: .thirdParty
        }
    }
}
