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

    /// The rules, the server's gateway, and the caller's own keys. Active is what answers the caller's questions: the rules
    /// always, and a model where it can be asked and the caller's `ai_mode` uses it.
    func list(_ caller: Caller, _ call: Call<FamilyQuery, NoBody>) async throws -> ModelProviderList {
        let member = try await services.access.member(caller, of: call.parameters.familyID, services.database)
        let family = call.parameters.familyID
        let settings = try await services.database.query(AIStatements.gate(caller.userID, in: family)).one()
        let mode = try AISettings(settings).mode
        let rights = try await services.database.query(AIKeyStatements.rights(of: caller.userID, in: family)).one()
        let isAllowed: Bool = try rights["third_party_models"]
        let rows = try await services.database.query(AIKeyStatements.all(of: caller.userID))
        let stored = Set(try rows.map { row throws(PostgresError) -> KeyProvider in try row["provider"] })
        let heuristic = ModelProviderItem(
            name: ProviderName.heuristic.rawValue, reach: .device, worksOffline: true, contextTokens: nil,
            tasks: TaskKind.allCases, reason: nil, isActive: true)
        let gateway = item(
            ProviderName.serverGateway.rawValue, .server, .localStandard, reason: await gatewayReason(),
            isUsed: mode == .auto)
        let thirdParties = KeyProvider.allCases.map { provider in
            item(
                provider.rawValue, .thirdParty, .thirdParty,
                reason: Self.reason(
                    isChild: member.role == .child, hasKey: stored.contains(provider), isAllowed: isAllowed),
                isUsed: mode == .auto || mode == .byoOnly)
        }
        return ModelProviderList(items: [heuristic, gateway] + thirdParties)
    }

    private func item(
        _ name: String, _ reach: Reach, _ capabilities: ProviderCapabilities, reason: String?, isUsed: Bool
    ) -> ModelProviderItem {
        ModelProviderItem(
            name: name, reach: reach, worksOffline: capabilities.worksOffline,
            contextTokens: capabilities.contextTokens,
            tasks: TaskKind.allCases.filter(capabilities.kinds.contains), reason: reason,
            isActive: reason == nil && isUsed)
    }

    /// Nil if the gateway can be asked.
    private func gatewayReason() async -> String? {
        guard let gateway = services.models.server else { return UnavailabilityReason.notConfigured.rawValue }
        guard case .unavailable(let reason) = await gateway.isAvailable() else { return nil }
        return reason.rawValue
    }

    /// Nil if a third party can be asked. Whether it accepts the key is not asked here.
    private static func reason(isChild: Bool, hasKey: Bool, isAllowed: Bool) -> String? {
        if isChild { return "adults_only" }
        guard hasKey else { return UnavailabilityReason.notConfigured.rawValue }
        return isAllowed ? nil : "third_party_models_off"
    }
}
