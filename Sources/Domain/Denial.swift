/// Why the rules of the domain refuse an act; the raw value goes into the audit log, the message to a person.
public enum Denial: String, Error, Sendable, CaseIterable {
    // What a member is in a family
    case notAMember = "not_a_member"
    case guardianOnly = "guardian_only"
    case guardianOrSelfOnly = "guardian_or_self_only"
    case selfOnly = "self_only"
    case lastGuardian = "last_guardian"
    case joinsByCode = "joins_by_code"
    case participantOnly = "participant_only"
    case hasOwnSignIn = "has_own_sign_in"
    case familyFull = "family_full"
    case accountLimitReached = "account_limit_reached"
    // Who may nag whom
    case childMayNotNag = "child_may_not_nag"
    case recipientNotAMember = "recipient_not_a_member"
    case relationshipSuspended = "relationship_suspended"
    case relationshipRevoked = "relationship_revoked"
    case blocked
    case connectionNotActive = "connection_not_active"
    case connectionOtherPartyOnly = "connection_other_party_only"
    case caregiverChildrenOnly = "caregiver_children_only"
    case dailyCapReached = "daily_cap_reached"
    // Acts on one nag
    case noteLimitReached = "note_limit_reached"
    case excuseLimitReached = "excuse_limit_reached"
    case notVisible = "not_visible"
    case recipientOnly = "recipient_only"
    case creatorOnly = "creator_only"
    case creatorOrGuardianOnly = "creator_or_guardian_only"
    case nagNotOpen = "nag_not_open"
    case excusesNotAllowed = "excuses_not_allowed"
    case snoozeNotAllowed = "snooze_not_allowed"
    case snoozeNotLater = "snooze_not_later"
    case snoozeTooLong = "snooze_too_long"
    case snoozeLimitReached = "snooze_limit_reached"

    /// One plain sentence for the person who was refused. It never tells who blocked whom.
    public var message: String {
        switch self {
        case .notAMember: "You are not an active member of this family."
        case .guardianOnly: "Only a guardian of this family can do this."
        case .guardianOrSelfOnly: "Only the person themself or a guardian of this family can do this."
        case .selfOnly: "Only the person themself can do this."
        case .lastGuardian: "The last guardian cannot leave the family. Add another guardian first."
        case .joinsByCode:
            "Only accounts made in this family can be added. Everybody else joins with the family's invite code."
        case .participantOnly: "Only a participant can be made a guardian. Other roles do not change."
        case .hasOwnSignIn:
            "This person has a sign-in of their own. User names and PINs are for accounts made in the family."
        case .familyFull: "This family has as many members as a family can have."
        case .accountLimitReached: "This family has made today's number of accounts. Try again tomorrow."
        case .childMayNotNag: "Children cannot send nags."
        case .recipientNotAMember: "The recipient is not an active member of this family."
        case .relationshipSuspended: "Nags between the two of you are paused by a guardian."
        case .relationshipRevoked: "Nags between the two of you have ended."
        case .blocked: "Nags between the two of you are blocked."
        case .connectionNotActive: "This connection is not active."
        case .connectionOtherPartyOnly: "In this connection you can only nag the other person."
        case .caregiverChildrenOnly: "A caregiver can only nag the children of the other person's family."
        case .dailyCapReached: "You have reached today's number of nags for this family."
        case .noteLimitReached: "You have added today's number of notes in this family."
        case .excuseLimitReached: "You have handed in today's number of excuses in this family."
        case .notVisible: "This nag is not visible to you."
        case .recipientOnly: "Only the recipient of this nag can do this."
        case .creatorOnly: "Only the creator of this nag can do this."
        case .creatorOrGuardianOnly: "Only the creator of this nag or a guardian can do this."
        case .nagNotOpen: "This nag is no longer open."
        case .excusesNotAllowed: "Excuses are turned off for this account."
        case .snoozeNotAllowed: "Snoozing is turned off for this account."
        case .snoozeNotLater: "A snooze must move the due time later, and into the future."
        case .snoozeTooLong: "This snooze is longer than the family allows."
        case .snoozeLimitReached: "All snoozes for today are used up."
        }
    }
}
