import Domain

extension API {
    /// Store the caller's own key for a provider of models.
    public static let setAIKey = Endpoint<AIKeyPath, AIKeyUpdate, AIKeyResponse>(
        Operation("setAIKey", .put, "/api/v1/ai/keys/{provider}", tag: .keys, tier: .thirdParty))

    /// List the caller's own keys, without their secrets.
    public static let listAIKeys = Endpoint<NoParameters, NoBody, AIKeyList>(
        Operation("listAIKeys", .get, "/api/v1/ai/keys", tag: .keys))

    /// Delete one of the caller's own keys.
    public static let deleteAIKey = Endpoint<AIKeyPath, NoBody, NoAnswer>(
        Operation("deleteAIKey", .delete, "/api/v1/ai/keys/{provider}", tag: .keys, status: 204))

    /// Ask the provider whether it accepts the key and has the model.
    public static let checkAIKey = Endpoint<AIKeyPath, NoBody, AIKeyCheck>(
        Operation("checkAIKey", .post, "/api/v1/ai/keys/{provider}/check", tag: .keys, tier: .thirdParty))

    /// List what can answer the caller's questions.
    public static let listModelProviders = Endpoint<FamilyQuery, NoBody, ModelProviderList>(
        Operation("listModelProviders", .get, "/api/v1/ai/providers", tag: .keys))

    static let keysOperations: [Operation] = [
        setAIKey.operation, listAIKeys.operation, deleteAIKey.operation, checkAIKey.operation,
        listModelProviders.operation,
    ]
}

// MARK: Parameters

/// The provider in a path.
public struct AIKeyPath: WireParameters, Hashable {
    public var provider: KeyProvider

    public init(provider: KeyProvider) {
        self.provider = provider
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        provider = try parameters.path("provider")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.path("provider", provider)
    }
}
