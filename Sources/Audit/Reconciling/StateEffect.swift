/// What an entry of one kind changes of the state that the audit log explains.
///
/// Every kind the server writes stands in `all` with what it changes, or with `.none`. A test compares the list with the
/// server's sources.
public enum StateEffect: Sendable, Hashable {
    /// Nothing of that state: reads, refusals, sessions, preferences, words.
    case none
    case familyCreated
    /// Makes the subject a member.
    /// - Parameters:
    ///   - liftsSuspensions: whether suspended relationships of theirs become active again.
    ///   - opensAccount: whether their account is made by the same act. It has no sign-in of its own.
    case memberAdmitted(liftsSuspensions: Bool, opensAccount: Bool)
    /// Makes a participant a guardian and revokes the consents they gave.
    case memberRaised
    /// Ends the subject's membership and what hangs on it.
    case memberDeparted
    /// Cancels some of the subject's open nags, before they depart.
    case nagsCancelled
    case consentGranted, consentRevoked
    case relationshipSuspended
    case nagCreated, nagEdited, nagSnoozed, nagCompleted, nagMissed, nagWithdrawn, nagDismissed, nagUndismissed
    case accountCreated
    /// Ends the subject's account, and their membership where they have one.
    case accountDeleted
    case personErased
    case adminCreated, adminRevoked

    /// Nil for a kind that this version does not know.
    public init?(kind: String) {
        if let effect = Self.all[kind] {
            self = effect
        } else if kind.hasSuffix(".denied") {
            self = .none
        } else {
            return nil
        }
    }

    /// Whether the subject's account is made by the same act.
    public var opensAccount: Bool {
        switch self {
        case .accountCreated, .adminCreated, .memberAdmitted(_, opensAccount: true): true
        default: false
        }
    }

    public static let all: [String: StateEffect] = [
        "account.created": .accountCreated,
        "account.deleted": .accountDeleted,
        "account.purged": .none,
        "admin.created": .adminCreated,
        "admin.read": .none,
        "admin.revoked": .adminRevoked,
        "ai.coaching": .none,
        "ai.digest": .none,
        "ai.patterns": .none,
        "ai.predict_completion": .none,
        "ai.push_back": .none,
        "ai.select_tone": .none,
        "ai.summarize_excuse": .none,
        "block.created": .none,
        "block.lifted": .none,
        "child_credentials.set": .none,
        "child_lockout.lifted": .none,
        "child_pin.changed": .none,
        "child_settings.changed": .none,
        "consent.granted": .consentGranted,
        "consent.revoked": .consentRevoked,
        "demo.seeded": .none,
        "excuse.submitted": .none,
        "family.changed": .none,
        "family.created": .familyCreated,
        "family_code.renewed": .none,
        "input.enriched": .none,
        "input.not_applied": .none,
        "log.accepted": .none,
        "member.added": .memberAdmitted(liftsSuspensions: true, opensAccount: false),
        "member.created": .memberAdmitted(liftsSuspensions: false, opensAccount: true),
        "member.joined": .memberAdmitted(liftsSuspensions: false, opensAccount: false),
        "member.left": .memberDeparted,
        "member.removed": .memberDeparted,
        "member.role_changed": .memberRaised,
        "nag.committed": .nagEdited,
        "nag.completed": .nagCompleted,
        "nag.created": .nagCreated,
        "nag.dismissed": .nagDismissed,
        "nag.missed": .nagMissed,
        "nag.note_added": .none,
        "nag.snoozed": .nagSnoozed,
        "nag.undismissed": .nagUndismissed,
        "nag.updated": .nagEdited,
        "nag.withdrawn": .nagWithdrawn,
        "nags.cancelled": .nagsCancelled,
        "person.erased": .personErased,
        "preferences.changed": .none,
        "relationship.suspended": .relationshipSuspended,
        "session.opened": .none,
        "session.refreshed": .none,
        "session.revoked": .none,
        "sign_in.failed": .none,
        "trail.pruned": .none,
    ]
}
