/// A limit on one person's acts of one kind within a day. Some of these acts have further limits, such as requests for
/// codes by text message. The raw value is stored.
public enum DailyLimit: String, Sendable, CaseIterable {
    /// Registrations of new devices, and of devices with another session or owner.
    case deviceRegistrations = "device_registrations"
    case accountExports = "account_exports"
    /// Changing a policy, and proposing and approving changes.
    case policyChanges = "policy_changes"
    /// Creating and lifting blocks.
    case blockChanges = "block_changes"
    /// Changes of preferences, including mutes, and of the person's own name.
    case preferenceChanges = "preference_changes"
    /// Renewals of invite codes and child codes.
    case familyCodeRenewals = "code_renewals"
    /// Creating and changing incentive rules.
    case incentiveRuleChanges = "incentive_rule_changes"
    /// Creating, changing, deleting, reordering and importing constraints.
    case constraintChanges = "constraint_changes"
    /// New AI sessions.
    case aiSessions = "ai_sessions"
    /// Uploads of pictures.
    case attachments = "attachments"
    /// Storing keys for models.
    case aiKeysStored = "ai_key_changes"
    /// Requests to change the email address.
    case emailChangeRequests = "email_changes"
    /// Requests for a code by text message.
    case phoneCodeRequests = "phone_codes"

    /// Creating, editing, approving, confirming and rejecting drafts. Each draft of an import counts.
    case draftSteps = "draft_steps"

    /// The length of a day. A day begins with the first act that counts in it.
    public static let day = Timestamp.Span.days(1)

    /// The maximum number of acts within a day.
    public var perDay: Int {
        switch self {
        case .emailChangeRequests, .phoneCodeRequests: 5
        case .accountExports: 10
        case .familyCodeRenewals: 20
        case .aiKeysStored, .deviceRegistrations, .policyChanges, .incentiveRuleChanges: 50
        case .attachments, .blockChanges: 100
        case .aiSessions, .constraintChanges, .preferenceChanges: 200
        // Enough for two imports of the maximum size.
        case .draftSteps: 600
        }
    }

    /// The message of the refusal for the person, one plain sentence.
    public var message: String {
        switch self {
        case .deviceRegistrations: "You have registered \(perDay) devices within 24 hours, which is the maximum."
        case .accountExports: "You have exported your account \(perDay) times within 24 hours, which is the maximum."
        case .emailChangeRequests:
            "You have asked for another email address \(perDay) times within 24 hours, which is the maximum."
        case .phoneCodeRequests:
            "You have asked for codes by text message \(perDay) times within 24 hours, which is the maximum."
        case .policyChanges: "You have changed policies \(perDay) times within 24 hours, which is the maximum."
        case .blockChanges: "You have changed blocks \(perDay) times within 24 hours, which is the maximum."
        case .preferenceChanges:
            "You have changed your name or preferences \(perDay) times within 24 hours, which is the maximum."
        case .familyCodeRenewals: "You have renewed codes \(perDay) times within 24 hours, which is the maximum."
        case .constraintChanges: "You have changed constraints \(perDay) times within 24 hours, which is the maximum."
        case .aiSessions: "You have begun \(perDay) AI sessions within 24 hours, which is the maximum."
        case .attachments: "You have uploaded \(perDay) pictures within 24 hours, which is the maximum."
        case .aiKeysStored: "You have stored keys \(perDay) times within 24 hours, which is the maximum."
        case .draftSteps: "You have taken \(perDay) steps with drafts within 24 hours, which is the maximum."
        case .incentiveRuleChanges:
            "You have changed incentive rules \(perDay) times within 24 hours, which is the maximum."
        }
    }
}
