import Contract
import Domain
import ModelProviders
import NagzAI
import Postgres
import SQL

/// The providers that can answer a member's questions, and the reasons for which others cannot.
struct ProviderList {
    let services: Services

    init(_ services: Services) { self.services = services }

    /// Lists the rules, the server's gateway, and all third parties, even those for which the caller has no key. The
    /// gateway is asked whether it is available; for a third party, the list shows the result of the latest check or
    /// question.
    func list(_ caller: Caller, _ call: Call<FamilyQuery, NoBody>) async throws -> ModelProviderList {
        let family = call.parameters.familyID
        let member = try await services.access.member(caller, of: family, services.database)
        let permission = try await services.database.query(AIStatements.permission(caller.userID, in: family)).onlyRow()
        let settings = try AISettings(permission)
        var models = ReachableModels(services.models, settings)
        try await models.readKeysAndRights(of: caller.userID, in: family, services.database)
        // Nil while no engine of the server may answer the person.
        let permittedMode = try permission["has_consent"] && permission["is_enabled"] ? settings.mode : nil
        let rules = ModelProviderItem(
            name: ProviderName.heuristic.rawValue, reach: .device, worksOffline: true, contextTokens: nil,
            latencyMilliseconds: 1, tasks: TaskKind.requestedKinds, reason: nil,
            isActive: permittedMode == .heuristic || permittedMode == .auto || permittedMode == .localOnly)
        let gateway = await gatewayItem(isUsed: permittedMode == .auto && models.gatewayNotice() == nil)
        let chosenKey = try? models.key(for: nil).get()
        let thirdParties = KeyProvider.allCases.map { provider in
            let key = models.keys.first { $0.response.provider == provider }
            let isChosen = key.map { chosenKey?.sealedSecret == $0.sealedSecret } ?? false
            return thirdPartyItem(
                provider, key, isChild: member.role == .child, isAllowed: models.familyAllowsThirdParties,
                isUsed: isChosen && (permittedMode == .auto || permittedMode == .byoOnly))
        }
        return ModelProviderList(items: [rules, gateway] + thirdParties)
    }

    /// Returns the item of the server's gateway.
    /// - Parameter isUsed: whether the caller's settings send questions to the gateway.
    private func gatewayItem(isUsed: Bool) async -> ModelProviderItem {
        var reason: UnavailabilityReason? = .notConfigured
        if let gateway = services.models.serverGateway {
            if case .unavailable(let cause) = await gateway.availability() { reason = cause } else { reason = nil }
        }
        let health = services.models.serverGateway == nil ? nil : services.models.shared.gatewayHealth
        return item(
            ProviderName.serverGateway.rawValue, .server, .localStandard, model: services.models.serverGateway?.model,
            health, reason: reason?.rawValue, isActive: isUsed && reason == nil)
    }

    /// Returns the item of a third party.
    /// - Parameters:
    ///   - isAllowed: whether the family allows models of third parties.
    ///   - isUsed: whether the caller's settings send questions to this provider.
    private func thirdPartyItem(
        _ provider: KeyProvider, _ key: StoredAIKey?, isChild: Bool, isAllowed: Bool, isUsed: Bool
    ) -> ModelProviderItem {
        let health = key.map(services.models.health)
        var reason: String?
        if isChild {
            reason = ModelProviderItem.adultsOnly
        } else if key == nil {
            reason = UnavailabilityReason.notConfigured.rawValue
        } else if !isAllowed {
            reason = ModelProviderItem.thirdPartiesOff
        } else if health?.network != .online {
            reason = UnavailabilityReason.paused.rawValue
        } else if let check = health?.latestCheck {
            if case .unavailable(let cause) = check.availability { reason = cause.rawValue }
        } else {
            reason = ModelProviderItem.notChecked
        }
        return item(
            provider.rawValue, .thirdParty, .thirdParty, model: key?.response.model, health, reason: reason,
            isActive: isUsed && !isChild && isAllowed)
    }

    private func item(
        _ name: String, _ reach: Reach, _ capabilities: ProviderCapabilities, model: String?, _ health: ProviderHealth?,
        reason: String?, isActive: Bool
    ) -> ModelProviderItem {
        let latency = health?.latestLatency
        return ModelProviderItem(
            name: name, reach: reach, worksOffline: capabilities.worksOffline, model: model,
            supportsTools: capabilities.supportsTools, supportsSchemas: capabilities.supportsSchemas,
            contextTokens: capabilities.contextTokens,
            latencyMilliseconds: ((latency ?? capabilities.expectedLatency) / .milliseconds(1)).rounded(),
            isLatencyMeasured: latency != nil, tasks: TaskKind.requestedKinds.filter(capabilities.kinds.contains),
            checkAgeSeconds: health?.latestCheck.map { Int((ContinuousClock.now - $0.checkedAt) / .seconds(1)) },
            reason: reason, isActive: isActive)
    }
}
