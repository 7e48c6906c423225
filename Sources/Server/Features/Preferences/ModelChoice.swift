import Contract
import Domain
import JSON
import ModelProviders
import NagzAI
import Postgres

/// The models that a person may choose with `ai_model_local` and `ai_model_cloud`.
struct ModelChoice {
    /// The model of the server's gateway; nil without one.
    private let gatewayModel: String?

    init(_ models: ModelGateways) { gatewayModel = models.serverGateway?.model }

    /// Requires that a change names only models that the person can use. A name that is stored already is not checked
    /// again: if its model no longer exists, questions report that.
    /// - Throws: 422 with the names of the models that the person can use, if the change names another one.
    func requireUsableModels(
        _ change: PreferenceChange, _ stored: StoredPreferences, of user: UserID, _ queries: any Queries
    ) async throws {
        if let name = change.newText(.aiLocalModel, stored) {
            let names = ProviderName.deviceProviders.map(\.rawValue) + [gatewayModel].compactMap(\.self)
            guard names.contains(name) else {
                throw APIError.modelIsUnknown(.aiLocalModel, "must be one of " + names.joined(separator: ", "))
            }
        }
        if let name = change.newText(.aiCloudModel, stored) {
            let keys = try await ReachableModels.keys(of: user, queries)
            guard keys.contains(where: { $0.isNamed(name) }) else {
                throw APIError.modelIsUnknown(
                    .aiCloudModel, "must be the model of a stored key: \(KeyProblem.nameList(keys))")
            }
        }
    }
}

extension PreferenceChange {
    /// Returns the text to which the change sets a key; nil if it sets no text, or the one that is stored already.
    fileprivate func newText(_ key: PreferenceKey, _ stored: StoredPreferences) -> String? {
        guard let text = self[key]?.stringValue, stored.document[key.rawValue] != .string(text) else { return nil }
        return text
    }
}
