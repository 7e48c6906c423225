import Contract
import Domain
import NagzAI

extension Sample {
    private static let aiKey = AIKeyResponse(
        provider: .custom, hint: "…wxyz", model: "m", endpoint: "https://models.example.org/v1",
        schemaStyle: .jsonObject, tokensField: .maxCompletionTokens, createdAt: moment, lastUsedAt: moment)

    static let keys = [
        Sample(
            API.setAIKey, AIKeyPath(provider: .custom),
            AIKeyUpdate(
                key: Secret("0123456789abcdefwxyz"), model: "m", endpoint: "https://models.example.org/v1",
                schemaStyle: .jsonObject, tokensField: .maxCompletionTokens, password: Secret("password")), aiKey),
        Sample(API.listAIKeys, NoParameters(), NoBody(), AIKeyList(items: [aiKey])),
        Sample(API.deleteAIKey, AIKeyPath(provider: .openai), NoBody(), NoAnswer()),
        Sample(
            API.checkAIKey, AIKeyPath(provider: .anthropic), NoBody(), AIKeyCheck(.unavailable(.keyRefused))),
        Sample(
            API.listModelProviders, FamilyQuery(familyID: id(2)), NoBody(),
            ModelProviderList(items: [
                ModelProviderItem(
                    name: "heuristic", reach: .device, worksOffline: true, contextTokens: nil,
                    tasks: TaskKind.allCases, reason: nil, isActive: true),
                ModelProviderItem(
                    name: "openai", reach: .thirdParty, worksOffline: false, contextTokens: 100_000, tasks: [.chat],
                    reason: "third_party_models_off", isActive: false),
            ])),
    ]
}
