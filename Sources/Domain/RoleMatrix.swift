/// Operations on a family.
public enum FamilyAct: String, Sendable, CaseIterable {
    /// Adding a person who has an account.
    case addMember = "add_member"
    /// Creating an account in the family.
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
    case editConstraints = "edit_constraints"
    case readReports = "read_reports"
    case readAuditLog = "read_audit_trail"
    // Allowed for every member.
    case leave
}

/// Operations on one nag.
public enum NagAct: String, Sendable, CaseIterable {
    case read, edit, withdraw
    /// Completing the nag.
    case complete = "update_status"
    /// `dismiss`: hiding the nag from the recipient's digest and lists, or the end of that. `commit`: promising a time
    /// of completion.
    case snooze, dismiss, commit
    case submitExcuse = "submit_excuse"
    case readExcuses = "read_excuses"
    case readDeliveries = "read_deliveries"
    case addNote = "add_note"
    /// Asking the AI for a push-back, a message to the recipient.
    case askForPushBack = "ask_for_push_back"
}

/// A person's role, membership and relationship in a family.
public struct MemberState: Hashable, Sendable {
    public var role: FamilyRole
    public var membership: MembershipStatus
    /// The relationship with the other person of the operation; `active` if there is none.
    public var relationship: RelationshipStatus

    public init(
        role: FamilyRole, membership: MembershipStatus = .active, relationship: RelationshipStatus = .active
    ) {
        self.role = role
        self.membership = membership
        self.relationship = relationship
    }
}

/// The parts that a person has in one nag.
public struct NagPart: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let creator = NagPart(rawValue: 1)
    public static let recipient = NagPart(rawValue: 2)
    /// A guardian of the nag's family.
    public static let guardian = NagPart(rawValue: 4)
    /// A guardian of the child who receives a nag of a connection. They read it, its excuses and its deliveries, and
    /// may withdraw it.
    public static let guardianOfConnectedRecipient = NagPart(rawValue: 8)
    /// A guardian of the nag's family, which the creator has left. They may withdraw it in the creator's place.
    public static let guardianAfterCreator = NagPart(rawValue: 16)
}

extension NagPart {
    /// Creates the parts of an active member of the nag's family.
    public init(of member: UserID, _ role: FamilyRole, creator: UserID, recipient: UserID) {
        self.init(of: member, creator: creator, recipient: recipient)
        if role == .guardian { insert(.guardian) }
    }

    /// Creates the parts of a person in a nag of a connection.
    public init(of person: UserID, isGuardianOfRecipient: Bool, creator: UserID, recipient: UserID) {
        self.init(of: person, creator: creator, recipient: recipient)
        if isGuardianOfRecipient { insert(.guardianOfConnectedRecipient) }
    }

    private init(of person: UserID, creator: UserID, recipient: UserID) {
        self = []
        if creator == person { insert(.creator) }
        if recipient == person { insert(.recipient) }
    }
}

/// The permissions of each role, as pure functions that return the reason for a refusal; nil means allowed.
public enum RoleMatrix {
    /// Returns whether a role may nag another one. Guardians and participants may nag any member of the family,
    /// including themselves; children may nag nobody, not even themselves.
    public static func mayNag(from creator: FamilyRole, to _: FamilyRole) -> Bool {
        creator != .child
    }

    /// Returns the reason why a nag within a family is refused; nil when it is allowed. `isBlocked`: whether
    /// either side has an active block on the other.
    ///
    /// For a nag to oneself, pass the same state twice.
    public static func denialOfNag(from creator: MemberState, to recipient: MemberState, isBlocked: Bool) -> Denial? {
        if creator.membership != .active { return .notAMember }
        if !mayNag(from: creator.role, to: recipient.role) { return .childMayNotNag }
        if recipient.membership != .active { return .recipientNotAMember }
        for side in [creator.relationship, recipient.relationship] {
            if let denial = denialOfContact(relationship: side, isBlocked: false) { return denial }
        }
        return isBlocked ? .blocked : nil
    }

    /// Returns the reason why a member may not contact another (new nags, changes to nags, text); nil when they
    /// may. `isBlocked`: whether either has an active block on the other. Operations that end a nag (withdrawing,
    /// completing) are not contact.
    public static func denialOfContact(relationship: RelationshipStatus, isBlocked: Bool) -> Denial? {
        switch relationship {
        case .active: isBlocked ? .blocked : nil
        case .suspended: .relationshipSuspended
        case .revoked: .relationshipRevoked
        }
    }

    /// Returns the reason why a member is refused an operation on the family; nil when it is allowed.
    public static func denial(of act: FamilyAct, by member: MemberState) -> Denial? {
        if member.membership != .active { return .notAMember }
        switch act {
        case .leave:
            return nil
        case .addMember, .createMember, .removeMember, .setChildCredentials, .editChildSettings, .editFamily,
            .editPolicy, .grantFamilyConsent, .suspendRelationship, .configureIncentives, .approveIncentive,
            .editConstraints, .readReports, .readAuditLog:
            return member.role == .guardian ? nil : .guardianOnly
        }
    }

    /// Returns the reason why a person with these parts is refused an operation on a nag; nil when it is allowed.
    /// It is `notVisible`, whatever the operation, if the person may not read the nag.
    public static func denial(of act: NagAct, by part: NagPart) -> Denial? {
        if part.isEmpty { return .notVisible }
        switch act {
        case .read: return nil
        case .addNote: return part == .guardianOfConnectedRecipient ? .creatorOrGuardianOnly : nil
        case .readExcuses, .readDeliveries:
            return part.isDisjoint(with: [.creator, .guardian, .guardianOfConnectedRecipient])
                ? .creatorOrGuardianOnly : nil
        case .edit, .askForPushBack:
            return part.isDisjoint(with: [.creator, .guardian]) ? .creatorOrGuardianOnly : nil
        case .withdraw:
            return part.isDisjoint(with: [.creator, .guardianOfConnectedRecipient, .guardianAfterCreator])
                ? .creatorOnly : nil
        case .complete, .snooze, .dismiss, .commit, .submitExcuse:
            return part.contains(.recipient) ? nil : .recipientOnly
        }
    }

    /// Returns the reason why a person may not read or change what belongs to one member, such as preferences, points
    /// and the mediator's insights; nil when they may. The member and the guardians may.
    public static func denialOfMemberData(isSelf: Bool, by member: MemberState) -> Denial? {
        if member.membership != .active { return .notAMember }
        return isSelf || member.role == .guardian ? nil : .guardianOrSelfOnly
    }

    /// Returns the reason why a member may not send another a digest of the family; nil when they may. Both have to be
    /// guardians, and the sender has to be allowed to contact the recipient. `isBlocked`: whether either has an active
    /// block on the other.
    public static func denialOfDigest(
        from sender: MemberState, to recipient: MemberState, isBlocked: Bool
    ) -> Denial? {
        if let denial = denial(of: .readReports, by: sender) { return denial }
        if recipient.membership != .active { return .recipientNotAMember }
        if denialOfMemberData(isSelf: false, by: recipient) != nil { return .digestForGuardians }
        return denialOfContact(relationship: recipient.relationship, isBlocked: isBlocked)
    }

    /// Returns the reason why a member may not leave the family; nil when they may. A child whose account was
    /// created in it needs a guardian's decision.
    /// - Parameter isFamilyAccount: whether the account was created in the family and has no sign-in of its own.
    public static func denialOfLeaving(by member: MemberState, isFamilyAccount: Bool) -> Denial? {
        if let denial = denial(of: .leave, by: member) { return denial }
        return member.role == .child && isFamilyAccount ? .guardianOnly : nil
    }

    /// Returns the reason why a member may not delete an account; nil when they may. Guardians delete
    /// children's accounts that were created in the family; any other account may be deleted only by its owner.
    public static func denialOfAccountDeletion(
        of role: FamilyRole, isSelf: Bool, isFamilyAccount: Bool, by member: MemberState
    ) -> Denial? {
        if member.membership != .active { return .notAMember }
        guard role == .child, isFamilyAccount else { return isSelf ? nil : .selfOnly }
        return member.role == .guardian ? nil : .guardianOnly
    }

    /// Returns the reason why a guardian may not change a member's role; nil when they may. The only change is
    /// from participant to guardian.
    public static func denialOfRoleChange(from role: FamilyRole, to newRole: FamilyRole) -> Denial? {
        role == .participant && newRole == .guardian ? nil : .participantToGuardianOnly
    }

    /// Returns the reason why a guardian may not add a person; nil when they may. Accounts created in the family
    /// may be added; everyone else joins with the invite code, so that no one is added without agreeing.
    public static func denialOfAdmission(isFamilyAccount: Bool, isBlocked: Bool) -> Denial? {
        if !isFamilyAccount { return .joinsByCode }
        return isBlocked ? .blocked : nil
    }

    /// Returns the reason why a guardian may not leave or be removed; nil when they may. A family needs at least
    /// one guardian with a password.
    /// - Parameter guardiansWithSignIn: the number of guardians who have a password or are the person who departs.
    public static func denialOfDeparture(of role: FamilyRole, guardiansWithSignIn: Int) -> Denial? {
        role == .guardian && guardiansWithSignIn <= 1 ? .lastGuardian : nil
    }
}
