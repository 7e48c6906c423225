/// A reason why a rule of the domain refuses an operation. The raw value is for the audit log; `message` explains each
/// case to the person.
public enum Denial: String, Error, Sendable, CaseIterable {
    // Families: roles, accounts, consents, policies, incentives, constraints and drafts
    case notAMember = "not_a_member"
    case guardianOnly = "guardian_only"
    case guardianOrSelfOnly = "guardian_or_self_only"
    case selfOnly = "self_only"
    case lastGuardian = "last_guardian"
    /// A guardian adds a person whose account was not created in the family.
    case joinsByCode = "joins_by_code"
    /// A role is changed in another way than from participant to guardian.
    case participantToGuardianOnly = "participant_only"
    /// A guardian sets the user name or PIN of a person with a sign-in of their own.
    case hasOwnSignIn = "has_own_sign_in"
    case familyFull = "family_full"
    /// The limit is `FamilyLimit.accountsPerDay`.
    case dailyAccountLimitReached = "account_limit_reached"
    /// The limit is `ConsentLimit.perTypeAndDay`.
    case dailyConsentLimitReached = "consent_limit_reached"
    case administratorOnly = "administrator_only"
    case administratorJoinsNoFamily = "administrator_joins_no_family"
    case policyOwnerOnly = "policy_owner_only"
    /// A change widens a policy after an owner left and before another guardian became a co-owner.
    case coOwnerNeeded = "co_owner_needed"
    case incentiveLimitReached = "incentive_limit_reached"
    /// A guardian gives or confirms a reward for themself.
    case ownIncentive = "own_incentive"
    case constraintLimitReached = "constraint_limit_reached"
    /// A request by voice or shortcut takes another step with a draft than creating it.
    case voiceOnlyCreates = "voice_only_creates"
    /// Dictated words about another person would take effect without a draft.
    case voiceOnlyDrafts = "voice_only_drafts"
    /// A recipient of a digest is not a guardian.
    case digestForGuardians = "digest_for_guardians"
    // Nags between two people
    case childMayNotNag = "child_may_not_nag"
    case recipientNotAMember = "recipient_not_a_member"
    case relationshipSuspended = "relationship_suspended"
    case relationshipRevoked = "relationship_revoked"
    case blocked
    case connectionNotActive = "connection_not_active"
    case connectionOtherPartyOnly = "connection_other_party_only"
    case caregiverChildrenOnly = "caregiver_children_only"
    // Connections, keys and telephone numbers
    case connectionsForAdultsOnly = "adults_only"
    case keysForAdultsOnly = "keys_for_adults_only"
    case phonesForAdultsOnly = "phones_for_adults_only"
    case inviteeOnly = "invitee_only"
    /// A person who is not a guardian shares a family's children over a connection.
    case ownChildrenOnly = "own_children_only"
    case connectionBlocked = "connection_blocked"
    case sameFamily = "same_family"
    /// The children of a connection that is not a caregiver's are listed.
    case notACaregiver = "not_a_caregiver"
    // Daily limits on nags, and operations on one nag
    /// The limit is `FamilyPolicy.dailyNagCap`.
    case dailyCapReached = "daily_cap_reached"
    /// The limit is `NagLimit.notesPerDay`.
    case dailyNoteLimitReached = "note_limit_reached"
    /// The limit is `NagLimit.excusesPerDay`.
    case dailyExcuseLimitReached = "excuse_limit_reached"
    /// The limit is `NagLimit.changesPerDay`.
    case dailyChangeLimitReached = "change_limit_reached"
    /// The limit is `NagLimit.seriesCompletionsPerDay`.
    case dailyCompletionLimitReached = "completion_limit_reached"
    case notVisible = "not_visible"
    case recipientOnly = "recipient_only"
    case creatorOnly = "creator_only"
    case creatorOrGuardianOnly = "creator_or_guardian_only"
    case nagNotOpen = "nag_not_open"
    case excusesNotAllowed = "excuses_not_allowed"
    case snoozeNotAllowed = "snooze_not_allowed"
    case snoozeNotLater = "snooze_not_later"
    /// The limit is `FamilyPolicy.maxSnoozeMinutes`.
    case snoozeTooLong = "snooze_too_long"
    /// The limit is `SnoozeAllowance.perDay`.
    case dailySnoozeLimitReached = "snooze_limit_reached"

    /// One plain sentence for the person who was refused. It MUST NOT reveal who blocked whom.
    public var message: String {
        switch self {
        case .notAMember: "You are not an active member of this family."
        case .guardianOnly: "Only a guardian of this family can do this."
        case .guardianOrSelfOnly: "Only the person themself or a guardian of this family can do this."
        case .selfOnly: "Only the person themself can do this."
        case .lastGuardian:
            "The last guardian with a sign-in of their own cannot leave the family. Add another one first."
        case .joinsByCode:
            "Only accounts made in this family can be added. Everybody else joins with the family's invite code."
        case .participantToGuardianOnly: "Only a participant can be made a guardian. Other roles do not change."
        case .hasOwnSignIn:
            "This person has a sign-in of their own. User names and PINs are for accounts made in the family."
        case .familyFull: "This family has \(FamilyLimit.maxMembers) members, as many as a family can have."
        case .dailyAccountLimitReached:
            "This family has made \(FamilyLimit.accountsPerDay) accounts within 24 hours, as many as it can. Try again tomorrow."
        case .dailyConsentLimitReached:
            "You have given this consent \(ConsentLimit.perTypeAndDay) times within 24 hours, which is the maximum. Try again tomorrow."
        case .administratorOnly: "Only an administrator can do this."
        case .administratorJoinsNoFamily: "An administrator's account belongs to no family and has no connections."
        case .policyOwnerOnly: "Only an owner of this policy can do this."
        case .coOwnerNeeded:
            "An owner of this policy left. Its limits can be widened again when another guardian is approved as co-owner."
        case .incentiveLimitReached:
            "This family has \(IncentiveTerms.maxActiveRulesPerFamily) active incentive rules, as many as it can have. Retire one of them first."
        case .constraintLimitReached: "There are as many constraints as there can be. Delete one of them first."
        case .voiceOnlyDrafts:
            "Dictated words about somebody else are not sent at once. Make a draft of them, and approve it."
        case .voiceOnlyCreates: "By voice and by shortcut drafts are only made. Open the draft to go on with it."
        case .digestForGuardians: "A digest of the family is sent to its guardians alone."
        case .ownIncentive: "Another guardian has to confirm what a rule gives you."
        case .childMayNotNag: "Children cannot send nags."
        case .recipientNotAMember: "The recipient is not an active member of this family."
        case .relationshipSuspended: "Nags between the two of you are paused by a guardian."
        case .relationshipRevoked: "Nags between the two of you have ended."
        case .blocked: "Nags between the two of you are blocked."
        case .connectionNotActive: "This connection is not active."
        case .connectionOtherPartyOnly: "In this connection you can only nag the other person."
        case .caregiverChildrenOnly: "A caregiver can only nag the children of the other person's family."
        case .connectionsForAdultsOnly: "Connections are for adults with a sign-in of their own."
        case .keysForAdultsOnly: "Keys for models are for adults with a sign-in of their own."
        case .phonesForAdultsOnly: "Telephone numbers are for adults with a sign-in of their own."
        case .inviteeOnly: "Only the person who was invited can answer an invitation."
        case .ownChildrenOnly: "Only a guardian can do this, and only for the children of their own family."
        case .connectionBlocked: "The two of you cannot be connected."
        case .sameFamily: "The two of you are in the same family."
        case .notACaregiver: "This connection is not for nagging children."
        case .dailyCapReached: "You have reached today's number of nags for this family."
        case .dailyNoteLimitReached:
            "You have added \(NagLimit.notesPerDay) notes in this family today, which is the maximum."
        case .dailyExcuseLimitReached:
            "You have submitted \(NagLimit.excusesPerDay) excuses in this family today, which is the maximum."
        case .dailyChangeLimitReached:
            "You have changed nags of this family \(NagLimit.changesPerDay) times today, which is the maximum."
        case .dailyCompletionLimitReached:
            "You have completed \(NagLimit.seriesCompletionsPerDay) nags of this family today, after which repeating ones have to wait."
        case .notVisible: "This nag is not visible to you."
        case .recipientOnly: "Only the recipient of this nag can do this."
        case .creatorOnly: "Only the creator of this nag can do this."
        case .creatorOrGuardianOnly: "Only the creator of this nag or a guardian can do this."
        case .nagNotOpen: "This nag is no longer open."
        case .excusesNotAllowed: "Excuses are turned off for this account."
        case .snoozeNotAllowed: "Snoozing is turned off for this account."
        case .snoozeNotLater: "A snooze must move the due time later, and into the future."
        case .snoozeTooLong: "This snooze is longer than the family allows."
        case .dailySnoozeLimitReached: "You have snoozed as often today as your guardians allow."
        }
    }
}
