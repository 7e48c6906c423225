import Contract
import Domain
import ModelProviders
import NagzAI
import Postgres
import SQL

/// What can answer a member's questions, and why something cannot.
struct ProviderList {
    let services: Services

    init(_ services: Services) { self.services = services }

    /// The rules, the server's gateway, and the caller's own keys. All questions are answered by the rules at present.
    func list(_ caller: Caller, _ call: Call<FamilyQuery, NoBody>) async throws -> ModelProviderList {
        let member = try await services.access.member(caller, of: call.parameters.familyID, services.database)
        let rows = try await services.database.query(AIKeyStatements.all(of: caller.userID))
        let stored = Set(try rows.map { row throws(PostgresError) -> KeyProvider in try row["provider"] })
        let heuristic = ModelProviderItem(
            name: ProviderName.heuristic.rawValue, reach: .device, worksOffline: true, contextTokens: nil,
            tasks: TaskKind.allCases, reason: nil, isActive: true)
        let gateway = item(
            ProviderName.serverGateway.rawValue, .server, .localStandard, reason: await gatewayReason())
        let thirdParties = KeyProvider.allCases.map { provider in
            item(
                provider.rawValue, .thirdParty, .thirdParty,
                reason: Self.reason(isChild: member.role == .child, hasKey: stored.contains(provider)))
        }
        return ModelProviderList(items: [heuristic, gateway] + thirdParties)
    }

    private func item(
        _ name: String, _ reach: Reach, _ capabilities: ProviderCapabilities, reason: String?
    ) -> ModelProviderItem {
        ModelProviderItem(
            name: name, reach: reach, worksOffline: capabilities.worksOffline,
            contextTokens: capabilities.contextTokens,
            tasks: TaskKind.allCases.filter(capabilities.kinds.contains), reason: reason, isActive: false)
    }

    /// Nil if the gateway can be asked.
    private func gatewayReason() async -> String? {
        guard let gateway = services.models.server else { return UnavailabilityReason.notConfigured.rawValue }
        guard case .unavailable(let reason) = await gateway.isAvailable() else { return nil }
        return reason.rawValue
    }

    /// No family can allow third parties yet, so that a key changes only the reason.
    private static func reason(isChild: Bool, hasKey: Bool) -> String {
        if isChild { return "adults_only" }
        return hasKey ? "third_party_models_off" : UnavailabilityReason.notConfigured.rawValue
    }
}
