/// How often one person may do something within a day that leaves an entry in an audit log and has no other limit. The
/// raw value is stored.
public enum DailyLimit: String, Sendable, CaseIterable {
    /// New devices, and those that change their session or owner.
    case deviceRegistrations = "device_registrations"
    case accountExports = "account_exports"
    /// Changes of a policy, proposals and approvals.
    case policyChanges = "policy_changes"
    /// Blocks made and lifted.
    case blockChanges = "block_changes"
    /// Mutes among them.
    case preferenceChanges = "preference_changes"
    /// Renewed invite codes and child codes.
    case codeRenewals = "code_renewals"
    /// Incentive rules made and changed.
    case incentiveRuleChanges = "incentive_rule_changes"
    /// Constraints made, changed, deleted, put in order and imported.
    case constraintChanges = "constraint_changes"
    /// AI sessions begun.
    case aiSessions = "ai_sessions"
    /// Pictures uploaded.
    case attachments = "attachments"
    /// Keys for models stored.
    case aiKeyChanges = "ai_key_changes"
    /// Other email addresses asked for.
    case emailChanges = "email_changes"

    /// Drafts made, edited, approved, confirmed and rejected, those of an import each by itself.
    case draftSteps = "draft_steps"

    /// The length of a day, which begins with the first act that it counts.
    public static let day = Timestamp.Span.days(1)

    public var perDay: Int {
        switch self {
        case .emailChanges: 5
        case .accountExports: 10
        case .codeRenewals: 20
        case .aiKeyChanges, .deviceRegistrations, .policyChanges, .incentiveRuleChanges: 50
        case .attachments, .blockChanges: 100
        case .aiSessions, .constraintChanges, .preferenceChanges: 200
        // Two of the largest imports.
        case .draftSteps: 600
        }
    }

    /// One plain sentence for the person who was refused.
    public var message: String {
        switch self {
        case .deviceRegistrations: "You have registered today's number of devices. Try again later."
        case .accountExports: "You have exported your account as often as one can in a day. Try again later."
        case .emailChanges: "You have asked for another email address as often as one can in a day. Try again later."
        case .policyChanges: "You have made today's number of changes to policies. Try again later."
        case .blockChanges: "You have made today's number of changes to blocks. Try again later."
        case .preferenceChanges: "You have made today's number of changes to preferences. Try again later."
        case .codeRenewals: "You have renewed today's number of codes. Try again later."
        case .constraintChanges: "You have made today's number of changes to constraints. Try again later."
        case .aiSessions: "You have begun today's number of AI sessions. Try again later."
        case .attachments: "You have uploaded today's number of pictures. Try again later."
        case .aiKeyChanges: "You have stored today's number of keys. Try again later."
        case .draftSteps: "You have taken today's number of steps with drafts. Try again later."
        case .incentiveRuleChanges: "You have made today's number of changes to incentive rules. Try again later."
        }
    }
}
