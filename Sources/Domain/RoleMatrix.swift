/// What concerns a family as a whole and is not open to every member.
public enum FamilyAct: String, Sendable, CaseIterable {
    case addMember = "add_member"
    case createMember = "create_member"
    case removeMember = "remove_member"
    case setChildCredentials = "set_child_credentials"
    case editChildSettings = "edit_child_settings"
    case editFamily = "edit_family"
    case editPolicy = "edit_policy"
    case grantFamilyConsent = "grant_family_consent"
    case suspendRelationship = "suspend_relationship"
    case configureIncentives = "configure_incentives"
    case approveIncentive = "approve_incentive"
    case readReports = "read_reports"
    case readFamilyHistory = "read_family_history"
    case readAuditLog = "read_audit_trail"
    // What every member may do.
    case readMembers = "read_members"
    case readFeed = "read_feed"
    case leave
    case reportAbuse = "report_abuse"
}

/// What can be done to one nag that exists.
public enum NagAct: String, Sendable, CaseIterable {
    case read, edit, withdraw
    case updateStatus = "update_status"
    case snooze, dismiss, commit
    case submitExcuse = "submit_excuse"
    case readExcuses = "read_excuses"
    case addNote = "add_note"
    case askForPushBack = "ask_for_push_back"
}

/// How one person stands in a family: role, membership, and the relationship made with the membership.
public struct MemberState: Hashable, Sendable {
    public var role: FamilyRole
    public var membership: MembershipStatus
    public var relationship: RelationshipStatus

    public init(
        role: FamilyRole, membership: MembershipStatus = .active, relationship: RelationshipStatus = .active
    ) {
        self.role = role
        self.membership = membership
        self.relationship = relationship
    }
}

/// The parts one person plays for one nag; several may hold at once.
public struct NagPart: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let creator = NagPart(rawValue: 1)
    public static let recipient = NagPart(rawValue: 2)
    /// A guardian of the nag's family.
    public static let guardian = NagPart(rawValue: 4)
}

extension NagPart {
    /// The parts that an active member of the nag's family plays.
    public init(of member: UserID, _ role: FamilyRole, creator: UserID, recipient: UserID) {
        self = role == .guardian ? .guardian : []
        if creator == member { insert(.creator) }
        if recipient == member { insert(.recipient) }
    }
}

/// Who may do what, by role: pure tables; nil means allowed.
public enum RoleMatrix {
    /// Guardians and participants may nag anyone of the family, themselves included; children nobody, not even
    /// themselves.
    public static func mayNag(from creator: FamilyRole, to _: FamilyRole) -> Bool {
        creator != .child
    }

    /// Why a nag inside a family is refused. `isBlocked` holds when either side has an active block on the other.
    ///
    /// A nag to oneself passes the same state twice.
    public static func denialOfNag(from creator: MemberState, to recipient: MemberState, isBlocked: Bool) -> Denial? {
        if creator.membership != .active { return .notAMember }
        if !mayNag(from: creator.role, to: recipient.role) { return .childMayNotNag }
        if recipient.membership != .active { return .recipientNotAMember }
        for side in [creator.relationship, recipient.relationship] {
            if let denial = denialOfContact(relationship: side, isBlocked: false) { return denial }
        }
        return isBlocked ? .blocked : nil
    }

    /// Why one member may put nothing new before another: no nag, no change of one, no words. `isBlocked` holds when
    /// either has an active block on the other. What ends something (withdrawing, completing) is no contact.
    public static func denialOfContact(relationship: RelationshipStatus, isBlocked: Bool) -> Denial? {
        switch relationship {
        case .active: isBlocked ? .blocked : nil
        case .suspended: .relationshipSuspended
        case .revoked: .relationshipRevoked
        }
    }

    /// Why a member is refused an act on the family.
    public static func denial(of act: FamilyAct, by member: MemberState) -> Denial? {
        if member.membership != .active { return .notAMember }
        switch act {
        case .readMembers, .readFeed, .leave, .reportAbuse:
            return nil
        case .addMember, .createMember, .removeMember, .setChildCredentials, .editChildSettings, .editFamily,
            .editPolicy, .grantFamilyConsent, .suspendRelationship, .configureIncentives, .approveIncentive,
            .readReports, .readFamilyHistory, .readAuditLog:
            return member.role == .guardian ? nil : .guardianOnly
        }
    }

    /// Why an act on a nag is refused to someone who plays these parts. Who may not even read it hears
    /// `notVisible`, whatever the act.
    public static func denial(of act: NagAct, by part: NagPart) -> Denial? {
        if part.isEmpty { return .notVisible }
        switch act {
        case .read, .addNote: return nil
        case .edit, .readExcuses, .askForPushBack:
            return part.isDisjoint(with: [.creator, .guardian]) ? .creatorOrGuardianOnly : nil
        case .withdraw: return part.contains(.creator) ? nil : .creatorOnly
        case .updateStatus, .snooze, .dismiss, .commit, .submitExcuse:
            return part.contains(.recipient) ? nil : .recipientOnly
        }
    }

    /// Why someone is refused what the mediator found out about a person: it is for the person and for guardians.
    public static func denialOfInsights(isSelf: Bool, by member: MemberState) -> Denial? {
        if member.membership != .active { return .notAMember }
        return isSelf || member.role == .guardian ? nil : .guardianOrSelfOnly
    }

    /// Why a member may not leave the family: a child whose account was made in it stays until a guardian decides.
    /// - Parameter isFamilyAccount: whether the account was made in the family and has no sign-in of its own.
    public static func denialOfLeaving(by member: MemberState, isFamilyAccount: Bool) -> Denial? {
        if let denial = denial(of: .leave, by: member) { return denial }
        return member.role == .child && isFamilyAccount ? .guardianOnly : nil
    }

    /// Why somebody may not delete an account of their family: a child's that was made in the family is a guardian's to
    /// delete, every other account the person's own.
    public static func denialOfAccountDeletion(
        of role: FamilyRole, isSelf: Bool, isFamilyAccount: Bool, by member: MemberState
    ) -> Denial? {
        if member.membership != .active { return .notAMember }
        guard role == .child, isFamilyAccount else { return isSelf ? nil : .selfOnly }
        return member.role == .guardian ? nil : .guardianOnly
    }

    /// Why a guardian may not give a member of that role another one: only participants are made guardians.
    public static func denialOfRoleChange(from role: FamilyRole, to newRole: FamilyRole) -> Denial? {
        role == .participant && newRole == .guardian ? nil : .participantOnly
    }

    /// Why a guardian may not add somebody who is no member of the family: nobody is added without agreeing. Accounts
    /// made in the family belong to it; everybody else joins with the invite code.
    public static func denialOfAdmission(isFamilyAccount: Bool, isBlocked: Bool) -> Denial? {
        if !isFamilyAccount { return .joinsByCode }
        return isBlocked ? .blocked : nil
    }

    /// Why a guardian may not leave or be removed: someone must stay responsible.
    public static func denialOfDeparture(of role: FamilyRole, activeGuardians: Int) -> Denial? {
        role == .guardian && activeGuardians <= 1 ? .lastGuardian : nil
    }
}
