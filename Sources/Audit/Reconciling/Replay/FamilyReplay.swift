import Domain

/// The state of one family as its entries record it. Entries are applied in their order; nothing else is read.
///
/// Each part of the state has a file of its own here, with what its entries do to the expected rows.
public struct FamilyReplay: Sendable {
    public let family: FamilyID
    /// The number of the last entry that retention has deleted; 0 where it has deleted none.
    public let lastPrunedNumber: Int64
    var rows = ExpectedRows()
    /// The changes of relationships, in the order of the entries. `addRelationships` applies them.
    var relationshipChanges: [RelationshipChange] = []
    /// Members whose accounts were created in the family. They have at most a user name and a PIN, no email address and
    /// password, so they do not succeed a policy's owner.
    var membersWithoutOwnSignIn: Set<Pseudonym> = []
    /// The proposal for the policy; nil where nothing is proposed or its details are lost.
    var proposal: PolicyProposalNote?
    private(set) var erasedPeople: Set<Pseudonym> = []
    /// People some of whose entries have lost their details.
    private(set) var peopleWithLostDetails: Set<Pseudonym> = []
    /// Nags whose escalation or end is recorded by an entry without details, which may have recorded effects: a next
    /// nag, or what incentive rules give.
    var nagsWithUnreadEffects: Set<ResourceID> = []
    /// Effects of incentive rules that a guardian confirmed by an entry that has lost its details.
    var unreadIncentives: Set<ResourceID> = []
    /// Whether an entry without details may have created, changed or moved any of the constraints.
    var hasUnreadConstraints = false
    /// The part of the log that could not be replayed.
    public var damage = ReplayDamage()
    /// Kinds that this version does not know.
    public private(set) var unknownKinds: Set<String> = []
    public private(set) var entryCount: Int64 = 0

    public init(family: FamilyID, lastPrunedNumber: Int64 = 0) {
        self.family = family
        self.lastPrunedNumber = lastPrunedNumber
    }

    /// Returns whether an entry says that the person was erased.
    public func isErased(_ person: Pseudonym) -> Bool { erasedPeople.contains(person) }

    /// Applies the next entry. Each kind has its case, so that a new kind does not compile without one.
    /// - Parameter body: nil where it was erased or cannot be read.
    public mutating func apply(_ entry: AuditEntry, _ body: AuditBody?) {
        entryCount += 1
        if body == nil { peopleWithLostDetails.insert(entry.act.subject ?? entry.act.actor) }
        guard let kind = AuditKind(rawValue: entry.act.kind) else {
            if !entry.act.kind.hasSuffix(AuditKind.denialSuffix) { unknownKinds.insert(entry.act.kind) }
            return
        }
        switch kind {
        case .familyCreated:
            admit(entry, role: "guardian", body, liftsSuspensions: false)
            createPolicy(entry, body)
        case .memberAdded: admit(entry, role: body?["role"], body, liftsSuspensions: true)
        case .memberCreated, .memberJoined: admit(entry, role: body?["role"], body, liftsSuspensions: false)
        case .memberRoleChanged: changeRole(entry, body)
        case .memberLeft, .memberRemoved, .accountDeleted: depart(entry)
        case .relationshipSuspended: suspendRelationship(entry)
        case .personErased: if let person = entry.act.subject { erasedPeople.insert(person) }
        case .consentGranted: grantConsent(entry, body)
        case .consentRevoked: revokeConsent(entry)
        case .policyChanged: changePolicy(entry, body)
        case .policyProposed: proposePolicy(entry, body)
        case .policyApproved: approvePolicy(entry, body)
        case .connectionInvited: inviteConnection(entry, body)
        case .connectionAccepted: acceptConnection(entry)
        case .connectionChanged: changeConnection(entry, body)
        case .connectionDeclined, .connectionRevoked: endConnection(entry, kind)
        case .nagCreated: createNag(entry, body)
        case .nagCommitted, .nagUpdated, .nagSnoozed, .nagEscalated, .nagWithdrawn, .nagDismissed, .nagUndismissed,
            .nagCompleted, .nagMissed:
            changeNag(entry, kind, body)
        case .nagsCancelled: cancelNags(entry, body)
        case .incentiveRuleCreated, .incentiveRuleChanged: addIncentiveRuleVersion(entry, body)
        case .incentiveApproved: approveIncentive(entry, body)
        case .aiConstraintCreated, .aiConstraintChanged, .aiConstraintDeleted, .aiConstraintsImported,
            .aiConstraintsReordered:
            changeConstraints(entry, kind, body)
        // These change no row that the log explains.
        case .abuseReportCreated, .abuseReportReviewed, .accountChanged, .accountCreated, .accountExported,
            .accountPhoneChanged, .accountPhoneRemoved, .accountPhoneRequested, .accountPurged, .adminCreated,
            .adminRead, .adminRevoked, .aiAskCoach, .aiCoaching, .aiConfirmationDeclined, .aiDigest,
            .aiExecutionRefused, .aiExecutionsDeleted, .aiKeyDeleted, .aiKeySet, .aiPatterns, .aiPredictCompletion,
            .aiPushBack, .aiSelectTone, .aiSessionBegun, .aiSessionEnded, .aiSummarizeExcuse, .attachmentAdded,
            .auditFindingAcknowledged, .auditLogPruned, .blockCreated, .blockLifted, .childCredentialsSet,
            .childLockoutBegun, .childLockoutLifted, .childPinChanged, .childSettingsChanged, .deliveryResent,
            .demoSeeded, .deviceMoved, .deviceRegistered, .deviceRemoved, .draftApproved, .draftConfirmed,
            .draftCreated, .draftEdited, .draftExecuted, .draftExpired, .draftRejected, .emailChangeRequested,
            .emailChanged, .excuseSubmitted, .familyChanged, .familyCodeRenewed, .inputEnriched, .inputNotApplied,
            .merkleLogAccepted, .nagNoteAdded, .passwordChanged, .passwordResetRequested, .preferencesChanged,
            .sessionOpened, .sessionRefreshed, .sessionRevoked, .signInFailed:
            break
        case .abuseReportReviewDenied, .accountDeleteDenied, .aiAskCoachDenied, .aiCoachingDenied,
            .aiConstraintChangeDenied, .aiDigestDenied, .aiExecutionsReadDenied, .aiKeyUseDenied, .aiPatternsDenied,
            .aiPredictCompletionDenied, .aiPushBackDenied, .aiSelectToneDenied, .aiSummarizeExcuseDenied,
            .auditFindingReviewDenied, .auditReadDenied, .childCredentialsSetDenied, .childLockoutLiftDenied,
            .childPinChangeDenied, .childSettingsChangeDenied, .childSettingsReadDenied, .connectionAcceptDenied,
            .connectionChangeDenied, .connectionDeclineDenied, .connectionInviteDenied, .consentGrantDenied,
            .consentRevokeDenied, .deliveryReviewDenied, .draftStepDenied, .familyChangeDenied,
            .familyCodeRenewDenied, .gamificationReadDenied, .incentiveApproveDenied, .incentiveReadDenied,
            .incentiveRuleChangeDenied, .memberAddDenied, .memberCreateDenied, .memberJoinDenied, .memberLeaveDenied,
            .memberRemoveDenied, .nagAddNoteDenied, .nagCommitDenied, .nagCreateDenied, .nagDismissDenied,
            .nagEditDenied, .nagReadDeliveriesDenied, .nagReadDenied, .nagReadExcusesDenied, .nagSnoozeDenied,
            .nagSubmitExcuseDenied, .nagUpdateStatusDenied, .nagWithdrawDenied, .policyApproveDenied,
            .policyChangeDenied, .policyReadDenied, .preferencesChangeDenied, .preferencesReadDenied,
            .relationshipSuspendDenied, .reportReadDenied:
            break
        }
    }

    // MARK: Rows

    /// Adds a row, or replaces the one with the same key.
    mutating func insert(
        _ subject: StateFinding.Subject, _ key: StateKey, _ values: KeyValuePairs<String, ExpectedValue>,
        by entry: AuditEntry, isOptional: Bool = false, retainedFrom: Timestamp? = nil
    ) {
        var row = ExpectedRow(isOptional: isOptional, retainedFrom: retainedFrom)
        row.set(values, by: entry.number)
        rows[subject][key] = row
    }

    /// Changes a row. An entry about a row that no earlier one records changes nothing.
    mutating func update(
        _ subject: StateFinding.Subject, _ key: StateKey, _ values: KeyValuePairs<String, ExpectedValue>,
        by entry: AuditEntry
    ) {
        rows[subject][key]?.set(values, by: entry.number)
    }

    /// Returns the keys of a subject's rows that satisfy a condition.
    func keys(_ subject: StateFinding.Subject, where isIncluded: (ExpectedRow) -> Bool) -> [StateKey] {
        rows[subject].filter { isIncluded($0.value) }.map(\.key)
    }

    /// Returns whether an entry that has lost its details may have recorded or changed the row.
    func mayHaveUnreadChange(of row: StateRow) -> Bool {
        switch row.subject {
        case .badge: row.person.map(peopleWithLostDetails.contains) ?? false
        case .constraint: hasUnreadConstraints
        case .incentive, .points:
            row.keys.contains { if case .id(let id) = $0 { unreadIncentives.contains(id) } else { false } }
        default: false
        }
    }
}
