import Domain

/// What a person has chosen for all their questions.
public struct AIChoices: Hashable, Sendable {
    public var mode: AIMode
    public var privacyLevel: PrivacyLevel
    /// Questions with more tokens are not answered on the device.
    public var tokenThreshold: Int

    /// The choices of a person who has made none.
    public static let standard = AIChoices(Preferences())

    public init(_ preferences: Preferences) {
        self.init(
            mode: preferences.aiMode, privacyLevel: preferences.aiPrivacyLevel,
            tokenThreshold: preferences.aiTokenThreshold)
    }

    public init(mode: AIMode, privacyLevel: PrivacyLevel, tokenThreshold: Int) {
        self.mode = mode
        self.privacyLevel = privacyLevel
        self.tokenThreshold = tokenThreshold
    }
}
