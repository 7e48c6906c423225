import Domain
import Testing

@Suite struct RoleMatrixTests {
    @Test(
        "everybody in a family may nag everybody, but a child nobody", arguments: FamilyRole.allCases,
        FamilyRole.allCases)
    func mayNag(_ creator: FamilyRole, _ recipient: FamilyRole) {
        #expect(RoleMatrix.mayNag(from: creator, to: recipient) == (creator != .child))
        let denial = RoleMatrix.denialOfNag(
            from: MemberState(role: creator), to: MemberState(role: recipient), isBlocked: false)
        #expect(denial == (creator == .child ? .childMayNotNag : nil))
    }

    static let memberStateCases: [(MemberState, MemberState, Bool, Denial)] = [
        (MemberState(role: .guardian, membership: .removed), MemberState(role: .child), false, .notAMember),
        (MemberState(role: .child, membership: .removed), MemberState(role: .child), false, .notAMember),
        (MemberState(role: .guardian), MemberState(role: .child, membership: .removed), false, .recipientNotAMember),
        (
            MemberState(role: .guardian, relationship: .suspended), MemberState(role: .child), false,
            .relationshipSuspended
        ),
        (
            MemberState(role: .guardian), MemberState(role: .child, relationship: .suspended), false,
            .relationshipSuspended
        ),
        (MemberState(role: .guardian), MemberState(role: .child, relationship: .revoked), false, .relationshipRevoked),
        (MemberState(role: .guardian), MemberState(role: .child), true, .blocked),
        (MemberState(role: .child), MemberState(role: .guardian, relationship: .revoked), true, .childMayNotNag),
    ]

    @Test("the members' state decides before and after the role whether a nag is denied", arguments: memberStateCases)
    func memberState(_ creator: MemberState, _ recipient: MemberState, _ isBlocked: Bool, _ expected: Denial) {
        #expect(RoleMatrix.denialOfNag(from: creator, to: recipient, isBlocked: isBlocked) == expected)
    }

    @Test("a digest goes from guardian to guardian alone", arguments: FamilyRole.allCases, FamilyRole.allCases)
    func digest(_ sender: FamilyRole, _ recipient: FamilyRole) {
        func denial(
            _ relationship: RelationshipStatus = .active, _ membership: MembershipStatus = .active,
            isBlocked: Bool = false
        ) -> Denial? {
            RoleMatrix.denialOfDigest(
                from: MemberState(role: sender),
                to: MemberState(role: recipient, membership: membership, relationship: relationship),
                isBlocked: isBlocked)
        }
        let expected: Denial? = sender != .guardian ? .guardianOnly : recipient != .guardian ? .digestForGuardians : nil
        #expect(denial() == expected)
        #expect(denial(isBlocked: true) == expected ?? .blocked)
        #expect(denial(.suspended) == expected ?? .relationshipSuspended)
        #expect(denial(.active, .removed) == (sender == .guardian ? .recipientNotAMember : .guardianOnly))
    }

    @Test("guardians alone run the family", arguments: FamilyAct.allCases, FamilyRole.allCases)
    func familyActs(_ act: FamilyAct, _ role: FamilyRole) {
        let openToAll: Set<FamilyAct> = [.leave]
        let expected: Denial? = role == .guardian || openToAll.contains(act) ? nil : .guardianOnly
        #expect(RoleMatrix.denial(of: act, by: MemberState(role: role)) == expected)
        #expect(RoleMatrix.denial(of: act, by: MemberState(role: role, membership: .removed)) == .notAMember)
    }

    static let nagActsCases: [(NagAct, Bool, Bool, Bool)] = [
        (NagAct.read, true, true, true), (.edit, true, false, true), (.withdraw, true, false, false),
        (.complete, false, true, false), (.snooze, false, true, false), (.dismiss, false, true, false),
        (.commit, false, true, false), (.submitExcuse, false, true, false), (.readExcuses, true, false, true),
        (.readDeliveries, true, false, true),
        (.addNote, true, true, true), (.askForPushBack, true, false, true),
    ]

    @Test("creator, recipient and guardian may each do exactly their acts on a nag", arguments: nagActsCases)
    func nagActs(_ act: NagAct, _ creator: Bool, _ recipient: Bool, _ guardian: Bool) {
        #expect((RoleMatrix.denial(of: act, by: .creator) == nil) == creator)
        #expect((RoleMatrix.denial(of: act, by: .recipient) == nil) == recipient)
        #expect((RoleMatrix.denial(of: act, by: .guardian) == nil) == guardian)
        #expect(RoleMatrix.denial(of: act, by: [.creator, .recipient]) == nil)
        #expect(RoleMatrix.denial(of: act, by: []) == .notVisible)
    }

    @Test("the guardians of a child who receives a connection's nag read and withdraw it", arguments: NagAct.allCases)
    func guardiansOfRecipient(_ act: NagAct) {
        let allowed: Set<NagAct> = [.read, .readExcuses, .readDeliveries, .withdraw]
        #expect((RoleMatrix.denial(of: act, by: .guardianOfConnectedRecipient) == nil) == allowed.contains(act))
        let (child, other) = (UserID(high: 0, low: 1), UserID(high: 0, low: 2))
        let person = UserID(high: 0, low: 3)
        #expect(
            NagPart(of: person, isGuardianOfRecipient: true, creator: other, recipient: child)
                == .guardianOfConnectedRecipient)
        #expect(NagPart(of: person, isGuardianOfRecipient: false, creator: other, recipient: child).isEmpty)
        #expect(NagPart(of: other, isGuardianOfRecipient: false, creator: other, recipient: child) == .creator)
        #expect(NagPart(of: child, isGuardianOfRecipient: false, creator: other, recipient: child) == .recipient)
    }

    @Test("a guardian withdraws a nag whose creator has left, as its creator could", arguments: NagAct.allCases)
    func guardianAfterCreator(_ act: NagAct) {
        let part: NagPart = [.guardian, .guardianAfterCreator]
        let isAllowed = RoleMatrix.denial(of: act, by: .guardian) == nil || act == .withdraw
        #expect((RoleMatrix.denial(of: act, by: part) == nil) == isAllowed)
    }

    @Test func theLastGuardianStays() {
        #expect(RoleMatrix.denialOfDeparture(of: .guardian, guardiansWithSignIn: 1) == .lastGuardian)
        #expect(RoleMatrix.denialOfDeparture(of: .guardian, guardiansWithSignIn: 2) == nil)
        #expect(RoleMatrix.denialOfDeparture(of: .child, guardiansWithSignIn: 1) == nil)
    }

    @Test(arguments: [true, false])
    func accountsAreDeletedByThemselvesOrAFamilysOwnChildByAGuardian(isFamilyAccount: Bool) {
        for role in FamilyRole.allCases {
            let isOwnChild = role == .child && isFamilyAccount
            for by in FamilyRole.allCases {
                let denial = RoleMatrix.denialOfAccountDeletion(
                    of: role, isSelf: false, isFamilyAccount: isFamilyAccount, by: MemberState(role: by))
                #expect((denial == nil) == (isOwnChild && by == .guardian))
            }
            let own = RoleMatrix.denialOfAccountDeletion(
                of: role, isSelf: true, isFamilyAccount: isFamilyAccount, by: MemberState(role: role))
            #expect(own == (isOwnChild ? .guardianOnly : nil))
            let leaving = RoleMatrix.denialOfLeaving(by: MemberState(role: role), isFamilyAccount: isFamilyAccount)
            #expect(leaving == (isOwnChild ? .guardianOnly : nil))
        }
    }

    @Test func nobodyIsAddedWithoutAgreeing() {
        for isBlocked in [true, false] {
            #expect(RoleMatrix.denialOfAdmission(isFamilyAccount: false, isBlocked: isBlocked) == .joinsByCode)
        }
        #expect(RoleMatrix.denialOfAdmission(isFamilyAccount: true, isBlocked: true) == .blocked)
        #expect(RoleMatrix.denialOfAdmission(isFamilyAccount: true, isBlocked: false) == nil)
        for role in FamilyRole.allCases {
            for newRole in FamilyRole.allCases {
                let denial = RoleMatrix.denialOfRoleChange(from: role, to: newRole)
                #expect((denial == nil) == (role == .participant && newRole == .guardian))
            }
        }
    }

    @Test func insightsAreForThePersonAndGuardians() {
        #expect(RoleMatrix.denialOfMemberData(isSelf: true, by: MemberState(role: .child)) == nil)
        #expect(RoleMatrix.denialOfMemberData(isSelf: false, by: MemberState(role: .guardian)) == nil)
        #expect(
            RoleMatrix.denialOfMemberData(isSelf: false, by: MemberState(role: .participant)) == .guardianOrSelfOnly)
        #expect(
            RoleMatrix.denialOfMemberData(isSelf: true, by: MemberState(role: .child, membership: .removed))
                == .notAMember)
    }

    static let connectionsCases: [(Bool, Bool, ConnectionRecipient, Bool, Denial?)] = [
        (true, false, ConnectionRecipient.otherParty, false, nil),
        (true, false, .childOfOtherParty, false, .connectionOtherPartyOnly),
        (true, false, .someoneElse, false, .connectionOtherPartyOnly),
        (true, true, .childOfOtherParty, false, nil),
        (true, true, .otherParty, false, .caregiverChildrenOnly),
        (true, true, .someoneElse, false, .caregiverChildrenOnly),
        (true, true, .childOfOtherParty, true, .blocked),
        (true, false, .otherParty, true, .blocked),
        (false, false, .otherParty, false, .connectionNotActive),
    ]

    @Test(
        "a nag over a connection is allowed or denied by its state, kind, recipient and blocks",
        arguments: connectionsCases)
    func connections(
        _ isActive: Bool, _ isCaregiver: Bool, _ recipient: ConnectionRecipient, _ isBlocked: Bool,
        _ expected: Denial?
    ) {
        let denial = ConnectionRule.denialOfNag(
            isActive: isActive, isCaregiver: isCaregiver, to: recipient, isBlocked: isBlocked)
        #expect(denial == expected)
    }

    @Test("suspended relationships and a common family refuse what a connection allows")
    func connectionObstacles() {
        func denial(isBlocked: Bool = false, isSuspended: Bool = false, sharesFamily: Bool = false) -> Denial? {
            ConnectionRule.denialOfNag(
                isActive: true, isCaregiver: false, to: .otherParty, isBlocked: isBlocked, isSuspended: isSuspended,
                sharesFamily: sharesFamily)
        }
        #expect(denial() == nil && denial(sharesFamily: true) == .sameFamily)
        #expect(denial(isBlocked: true, isSuspended: true, sharesFamily: true) == .relationshipSuspended)
        #expect(denial(isBlocked: true, sharesFamily: true) == .blocked)
    }

    @Test("every denial has a message of its own", arguments: Denial.allCases)
    func messages(_ denial: Denial) {
        #expect(denial.message.hasSuffix("."))
        #expect(Denial.allCases.count { $0.message == denial.message } == 1)
    }
}
