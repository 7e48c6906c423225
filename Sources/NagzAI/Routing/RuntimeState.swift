import Domain

/// The state that the router needs: of the device and the network, and the person's choices.
public struct RuntimeState: Hashable, Sendable {
    public var local: LocalCapability
    public var network: NetworkState
    /// The maximum number of tokens of a question that is answered locally, as the person chose it.
    public var tokenThreshold: Int
    public var mode: AIMode
    /// The model of the person's own provider; nil without a key.
    public var ownProviderModel: String?
    /// The model of the server's gateway; nil without one.
    public var gatewayModel: String?
    /// Whether the family's policy and the person's role allow a third party's models.
    public var isThirdPartyAllowed: Bool
    /// Notices about the models that the person has chosen. The decision repeats them as warnings.
    public var notices: [String] = []
    /// Whether the decision is made on the server, whose own records are the facts.
    public var isServer: Bool

    public init(
        local: LocalCapability, network: NetworkState, tokenThreshold: Int = 4_096, mode: AIMode = .heuristic,
        ownProviderModel: String? = nil, gatewayModel: String? = nil, isThirdPartyAllowed: Bool = false,
        isServer: Bool = false
    ) {
        self.local = local
        self.network = network
        self.tokenThreshold = tokenThreshold
        self.mode = mode
        self.ownProviderModel = ownProviderModel
        self.gatewayModel = gatewayModel
        self.isThirdPartyAllowed = isThirdPartyAllowed
        self.isServer = isServer
    }
}

/// The capability of the device to answer by itself.
public struct LocalCapability: Hashable, Sendable {
    /// The model that is ready; nil if only the rules can answer.
    public var model: LocalModel?
    /// The maximum number of tokens of a question that the device can answer.
    public var maxQuestionTokens: Int
    /// The intents that the device can answer.
    public var intents: Set<QuestionIntent>
    /// Whether the device can answer at all. The rules can answer if the device has the facts, and the facts are fresh.
    public var isAvailable: Bool

    public init(
        model: LocalModel? = nil, maxQuestionTokens: Int = 4_096,
        intents: Set<QuestionIntent> = Set(QuestionIntent.allCases),
        isAvailable: Bool = true
    ) {
        self.model = model
        self.maxQuestionTokens = maxQuestionTokens
        self.intents = intents
        self.isAvailable = isAvailable
    }
}

/// A model on the device.
public struct LocalModel: Hashable, Sendable {
    /// Whether it is the operating system's model, rather than one behind a gateway on the device's loopback address.
    public var isOfSystem: Bool
    public var name: String

    public init(isOfSystem: Bool, name: String) {
        self.isOfSystem = isOfSystem
        self.name = name
    }
}
