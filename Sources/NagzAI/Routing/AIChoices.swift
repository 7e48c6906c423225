import Domain

/// The choices of a person for all their questions.
public struct AIChoices: Hashable, Sendable {
    public var mode: AIMode
    public var privacyLevel: PrivacyLevel
    /// Questions to the coach with more tokens go to the server; the words of an excuse stay on the device.
    public var tokenThreshold: Int
    /// The number of days for which the history of their questions is kept.
    public var logRetentionDays: Int
    /// Whether the history has only questions that got no answer.
    public var logsErrorsOnly: Bool
    /// The model on a device that writes first, as a `ProviderName`; nil for the system's.
    public var localModel: String?
    /// The model of their own keys that writes; nil where they have chosen none.
    public var cloudModel: String?
    /// Whether a server answers them at all.
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
