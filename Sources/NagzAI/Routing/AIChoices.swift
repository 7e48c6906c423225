import Domain

/// A person's choices for all their questions to the AI.
public struct AIChoices: Hashable, Sendable {
    public var mode: AIMode
    /// The privacy level of questions that name none.
    public var privacyLevel: PrivacyLevel
    /// The maximum number of tokens of a question that the device answers, unless the question's privacy level
    /// or a constraint decides. The words of an excuse stay on the device even if they have more tokens.
    public var tokenThreshold: Int
    /// The number of days for which the history of the person's questions is kept.
    public var logRetentionDays: Int
    /// Whether the history keeps only questions without an answer.
    public var logsErrorsOnly: Bool
    /// The preferred model for answers without the person's own keys: on a device the raw value of a `ProviderName`, on
    /// the server the name of its model. Nil if the person has chosen none.
    public var localModel: String?
    /// The preferred model of the person's own keys: its name, its provider, or `provider/model`. Nil if the person has
    /// chosen none.
    public var cloudModel: String?
    /// Whether a server may answer the person's questions.
    public var isServerEnabled: Bool

    /// The choices of a person who has made none.
    public static let standard = AIChoices(Preferences())

    public init(_ preferences: Preferences) {
        self.init(
            mode: preferences.aiMode, privacyLevel: preferences.aiPrivacyLevel,
            tokenThreshold: preferences.aiTokenThreshold, logRetentionDays: preferences.aiLogRetentionDays,
            logsErrorsOnly: preferences.aiLogsErrorsOnly, localModel: preferences.aiLocalModel,
            cloudModel: preferences.aiCloudModel, isServerEnabled: preferences.aiServerEnabled)
    }

    public init(
        mode: AIMode, privacyLevel: PrivacyLevel, tokenThreshold: Int, logRetentionDays: Int = 30,
        logsErrorsOnly: Bool = false, localModel: String? = nil, cloudModel: String? = nil,
        isServerEnabled: Bool = true
    ) {
        self.mode = mode
        self.privacyLevel = privacyLevel
        self.tokenThreshold = tokenThreshold
        self.logRetentionDays = logRetentionDays
        self.logsErrorsOnly = logsErrorsOnly
        self.localModel = localModel
        self.cloudModel = cloudModel
        self.isServerEnabled = isServerEnabled
    }
}
