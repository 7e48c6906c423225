/// The effect that entries of one kind have on the state that the audit log explains.
///
/// `AuditKind.effect` gives it for every kind that a server writes.
public enum StateEffect: Sendable, Hashable {
    /// No effect on that state: reads, refusals, sessions, preferences, words.
    case none
    case familyCreated
    /// Makes the subject a member.
    /// - Parameters:
    ///   - liftsSuspensions: whether suspended relationships of theirs become active again.
    ///   - opensAccount: whether their account is made by the same act. It has no sign-in of its own.
    case memberAdmitted(liftsSuspensions: Bool, opensAccount: Bool)
    /// Makes a participant a guardian, and revokes the consents that they gave.
    case memberRaised
    /// Ends the subject's membership and what hangs on it.
    case memberDeparted
    /// Cancels some of the subject's open nags, before they depart.
    case nagsCancelled
    case consentGranted, consentRevoked
    case relationshipSuspended
    case nagCreated, nagEdited, nagSnoozed, nagCompleted, nagEscalated, nagMissed, nagWithdrawn, nagDismissed,
        nagUndismissed
    case connectionInvited, connectionAccepted, connectionDeclined, connectionRevoked
    /// Changes whose children the other party may nag.
    case connectionChanged
    case accountCreated
    /// Ends the subject's account, and their membership where they have one.
    case accountDeleted
    case personErased
    case policyChanged, policyProposed, policyApproved
    /// Makes or changes an incentive rule.
    case incentiveRuleSet
    /// Gives what an incentive rule promised the subject.
    case incentiveApproved
    /// Makes or changes a constraint of the AI; it may move others.
    case constraintSet
    case constraintDeleted
    case constraintsReordered, constraintsImported
    case adminCreated, adminRevoked

    /// Returns the effect of a kind; nil for one that this version does not know.
    public init?(kind: String) {
        if let effect = AuditKind(rawValue: kind)?.effect {
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
}
