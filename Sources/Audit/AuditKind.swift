/// The kinds of audit entries that a server writes.
///
/// The raw values are part of signed entries and never change. A log may contain kinds of a later version: readers
/// accept any text, writers use only these.
public enum AuditKind: String, Sendable, Hashable, CaseIterable {
    case abuseReportCreated = "abuse_report.created"
    case abuseReportReviewed = "abuse_report.reviewed"
    case accountChanged = "account.changed"
    case accountCreated = "account.created"
    case accountDeleted = "account.deleted"
    case accountExported = "account.exported"
    case accountPhoneChanged = "account.phone_changed"
    case accountPhoneRemoved = "account.phone_removed"
    case accountPhoneRequested = "account.phone_requested"
    case accountPurged = "account.purged"
    case adminCreated = "admin.created"
    case adminRead = "admin.read"
    case adminRevoked = "admin.revoked"
    case aiConfirmationDeclined = "ai_execution.declined"
    case aiExecutionRefused = "ai_execution.refused"
    case aiExecutionsDeleted = "ai_execution.deleted"
    case aiSessionBegun = "ai_session.begun"
    case aiSessionEnded = "ai_session.ended"
    case aiConstraintChanged = "ai_constraint.changed"
    case aiConstraintCreated = "ai_constraint.created"
    case aiConstraintDeleted = "ai_constraint.deleted"
    case aiConstraintsImported = "ai_constraint.imported"
    case aiConstraintsReordered = "ai_constraint.reordered"
    case aiKeyDeleted = "ai_key.deleted"
    case aiKeySet = "ai_key.set"
    case aiCoaching = "ai.coaching"
    case aiDigest = "ai.digest"
    case aiPatterns = "ai.patterns"
    case aiPredictCompletion = "ai.predict_completion"
    case aiPushBack = "ai.push_back"
    case aiAskCoach = "ai.ask_coach"
    case aiSelectTone = "ai.select_tone"
    case aiSummarizeExcuse = "ai.summarize_excuse"
    case blockCreated = "block.created"
    case blockLifted = "block.lifted"
    case childCredentialsSet = "child_credentials.set"
    case childLockoutBegun = "child_lockout.begun"
    case childLockoutLifted = "child_lockout.lifted"
    case childPinChanged = "child_pin.changed"
    case childSettingsChanged = "child_settings.changed"
    case attachmentAdded = "attachment.added"
    case connectionAccepted = "connection.accepted"
    case connectionChanged = "connection.changed"
    case connectionDeclined = "connection.declined"
    case connectionInvited = "connection.invited"
    case connectionRevoked = "connection.revoked"
    case consentGranted = "consent.granted"
    case consentRevoked = "consent.revoked"
    case demoSeeded = "demo.seeded"
    case deliveryResent = "delivery.resent"
    case deviceMoved = "device.moved"
    case deviceRegistered = "device.registered"
    case deviceRemoved = "device.removed"
    case draftApproved = "draft.approved"
    case draftConfirmed = "draft.confirmed"
    case draftCreated = "draft.created"
    case draftEdited = "draft.edited"
    case draftExecuted = "draft.executed"
    case draftExpired = "draft.expired"
    case draftRejected = "draft.rejected"
    case emailChangeRequested = "email_change.requested"
    case emailChanged = "email.changed"
    case excuseSubmitted = "excuse.submitted"
    case familyChanged = "family.changed"
    case familyCreated = "family.created"
    case familyCodeRenewed = "family_code.renewed"
    case incentiveApproved = "incentive.approved"
    case incentiveRuleChanged = "incentive_rule.changed"
    case incentiveRuleCreated = "incentive_rule.created"
    case inputEnriched = "input.enriched"
    case inputNotApplied = "input.not_applied"
    case merkleLogAccepted = "log.accepted"
    case auditFindingAcknowledged = "log.finding_acknowledged"
    case memberAdded = "member.added"
    case memberCreated = "member.created"
    case memberJoined = "member.joined"
    case memberLeft = "member.left"
    case memberRemoved = "member.removed"
    case memberRoleChanged = "member.role_changed"
    case nagCommitted = "nag.committed"
    case nagCompleted = "nag.completed"
    case nagCreated = "nag.created"
    case nagDismissed = "nag.dismissed"
    case nagEscalated = "nag.escalated"
    case nagMissed = "nag.missed"
    case nagNoteAdded = "nag.note_added"
    case nagSnoozed = "nag.snoozed"
    case nagUndismissed = "nag.undismissed"
    case nagUpdated = "nag.updated"
    case nagWithdrawn = "nag.withdrawn"
    case nagsCancelled = "nags.cancelled"
    case passwordChanged = "password.changed"
    case passwordResetRequested = "password_reset.requested"
    case personErased = "person.erased"
    case policyApproved = "policy.approved"
    case policyChanged = "policy.changed"
    case policyProposed = "policy.proposed"
    case preferencesChanged = "preferences.changed"
    case relationshipSuspended = "relationship.suspended"
    case sessionOpened = "session.opened"
    case sessionRefreshed = "session.refreshed"
    case sessionRevoked = "session.revoked"
    case signInFailed = "sign_in.failed"
    case auditLogPruned = "trail.pruned"

    // MARK: What the role matrix and the rules refused

    case abuseReportReviewDenied = "abuse_report.review.denied"
    case accountDeleteDenied = "account.delete.denied"
    case aiExecutionsReadDenied = "ai_execution.read.denied"
    case aiConstraintChangeDenied = "ai_constraint.change.denied"
    case aiKeyUseDenied = "ai_key.use.denied"
    case aiCoachingDenied = "ai.coaching.denied"
    case aiDigestDenied = "ai.digest.denied"
    case aiPatternsDenied = "ai.patterns.denied"
    case aiPredictCompletionDenied = "ai.predict_completion.denied"
    case aiPushBackDenied = "ai.push_back.denied"
    case aiAskCoachDenied = "ai.ask_coach.denied"
    case aiSelectToneDenied = "ai.select_tone.denied"
    case aiSummarizeExcuseDenied = "ai.summarize_excuse.denied"
    case auditReadDenied = "audit.read.denied"
    case childCredentialsSetDenied = "child_credentials.set.denied"
    case childLockoutLiftDenied = "child_lockout.lift.denied"
    case childPinChangeDenied = "child_pin.change.denied"
    case childSettingsChangeDenied = "child_settings.change.denied"
    case childSettingsReadDenied = "child_settings.read.denied"
    case connectionAcceptDenied = "connection.accept.denied"
    case connectionChangeDenied = "connection.change.denied"
    case connectionDeclineDenied = "connection.decline.denied"
    case connectionInviteDenied = "connection.invite.denied"
    case consentGrantDenied = "consent.grant.denied"
    case consentRevokeDenied = "consent.revoke.denied"
    case deliveryReviewDenied = "delivery.review.denied"
    case auditFindingReviewDenied = "log.finding_review.denied"
    case draftStepDenied = "draft.step.denied"
    case familyChangeDenied = "family.change.denied"
    case familyCodeRenewDenied = "family_code.renew.denied"
    case gamificationReadDenied = "gamification.read.denied"
    case incentiveApproveDenied = "incentive.approve.denied"
    case incentiveReadDenied = "incentive.read.denied"
    case incentiveRuleChangeDenied = "incentive_rule.change.denied"
    case memberAddDenied = "member.add.denied"
    case memberCreateDenied = "member.create.denied"
    case memberJoinDenied = "member.join.denied"
    case memberLeaveDenied = "member.leave.denied"
    case memberRemoveDenied = "member.remove.denied"
    case nagAddNoteDenied = "nag.add_note.denied"
    case nagCommitDenied = "nag.commit.denied"
    case nagCreateDenied = "nag.create.denied"
    case nagDismissDenied = "nag.dismiss.denied"
    case nagEditDenied = "nag.edit.denied"
    case nagReadDenied = "nag.read.denied"
    case nagReadDeliveriesDenied = "nag.read_deliveries.denied"
    case nagReadExcusesDenied = "nag.read_excuses.denied"
    case nagSnoozeDenied = "nag.snooze.denied"
    case nagSubmitExcuseDenied = "nag.submit_excuse.denied"
    case nagUpdateStatusDenied = "nag.update_status.denied"
    case nagWithdrawDenied = "nag.withdraw.denied"
    case policyApproveDenied = "policy.approve.denied"
    case policyChangeDenied = "policy.change.denied"
    case policyReadDenied = "policy.read.denied"
    case preferencesChangeDenied = "preferences.change.denied"
    case preferencesReadDenied = "preferences.read.denied"
    case relationshipSuspendDenied = "relationship.suspend.denied"
    case reportReadDenied = "report.read.denied"
}

extension AuditKind {
    /// Whether the entry records a refusal, which changes nothing.
    public var isDenial: Bool { rawValue.hasSuffix(".denied") }

    /// The part of the audited state that an entry of this kind changes.
    public var effect: StateEffect {
        switch self {
        case .accountCreated: .accountCreated
        case .accountDeleted: .accountDeleted
        case .adminCreated: .adminCreated
        case .adminRevoked: .adminRevoked
        case .aiConstraintChanged, .aiConstraintCreated: .constraintSet
        case .aiConstraintDeleted: .constraintDeleted
        case .aiConstraintsImported: .constraintsImported
        case .aiConstraintsReordered: .constraintsReordered
        case .connectionAccepted: .connectionAccepted
        case .connectionChanged: .connectionChanged
        case .connectionDeclined: .connectionDeclined
        case .connectionInvited: .connectionInvited
        case .connectionRevoked: .connectionRevoked
        case .consentGranted: .consentGranted
        case .consentRevoked: .consentRevoked
        case .familyCreated: .familyCreated
        case .incentiveApproved: .incentiveApproved
        case .incentiveRuleChanged, .incentiveRuleCreated: .incentiveRuleSet
        case .memberAdded: .memberAdmitted(liftsSuspensions: true, opensAccount: false)
        case .memberCreated: .memberAdmitted(liftsSuspensions: false, opensAccount: true)
        case .memberJoined: .memberAdmitted(liftsSuspensions: false, opensAccount: false)
        case .memberLeft, .memberRemoved: .memberDeparted
        case .memberRoleChanged: .memberRaised
        case .nagCommitted, .nagUpdated: .nagEdited
        case .nagCompleted: .nagCompleted
        case .nagCreated: .nagCreated
        case .nagDismissed: .nagDismissed
        case .nagEscalated: .nagEscalated
        case .nagMissed: .nagMissed
        case .nagSnoozed: .nagSnoozed
        case .nagUndismissed: .nagUndismissed
        case .nagWithdrawn: .nagWithdrawn
        case .nagsCancelled: .nagsCancelled
        case .personErased: .personErased
        case .policyApproved: .policyApproved
        case .policyChanged: .policyChanged
        case .policyProposed: .policyProposed
        case .relationshipSuspended: .relationshipSuspended
        case .accountPurged, .adminRead, .aiAskCoach, .aiCoaching, .aiDigest, .aiPatterns, .aiPredictCompletion,
            .aiPushBack,
            .aiSelectTone, .aiSummarizeExcuse, .blockCreated, .blockLifted, .childCredentialsSet,
            .childLockoutBegun, .childLockoutLifted, .childPinChanged, .childSettingsChanged, .demoSeeded,
            .emailChangeRequested,
            .emailChanged, .excuseSubmitted,
            .familyChanged, .familyCodeRenewed, .inputEnriched, .inputNotApplied, .merkleLogAccepted, .nagNoteAdded,
            .passwordChanged, .passwordResetRequested, .preferencesChanged, .sessionOpened, .sessionRefreshed,
            .sessionRevoked, .signInFailed, .auditLogPruned:
            .none
        case .accountChanged, .accountExported, .accountPhoneChanged, .accountPhoneRemoved, .accountPhoneRequested,
            .abuseReportCreated, .abuseReportReviewed, .abuseReportReviewDenied,
            .attachmentAdded, .auditFindingAcknowledged, .auditFindingReviewDenied,
            .aiConfirmationDeclined, .aiConstraintChangeDenied, .aiExecutionRefused, .aiExecutionsDeleted,
            .aiExecutionsReadDenied, .aiSessionBegun, .aiSessionEnded, .deliveryResent, .deliveryReviewDenied,
            .deviceMoved, .deviceRegistered, .deviceRemoved,
            .incentiveApproveDenied,
            .incentiveReadDenied, .incentiveRuleChangeDenied, .nagReadDeliveriesDenied:
            .none
        case .connectionAcceptDenied, .connectionChangeDenied, .connectionDeclineDenied, .connectionInviteDenied:
            .none
        case .aiKeyDeleted, .aiKeySet, .aiKeyUseDenied: .none
        case .draftApproved, .draftConfirmed, .draftCreated, .draftEdited, .draftExecuted, .draftExpired,
            .draftRejected, .draftStepDenied:
            .none
        case .accountDeleteDenied, .aiAskCoachDenied, .aiCoachingDenied, .aiDigestDenied, .aiPatternsDenied,
            .aiPredictCompletionDenied,
            .aiPushBackDenied, .aiSelectToneDenied, .aiSummarizeExcuseDenied, .auditReadDenied,
            .childCredentialsSetDenied, .childLockoutLiftDenied, .childPinChangeDenied, .childSettingsChangeDenied,
            .childSettingsReadDenied, .consentGrantDenied, .consentRevokeDenied, .familyChangeDenied,
            .familyCodeRenewDenied, .gamificationReadDenied, .memberAddDenied, .memberCreateDenied,
            .memberJoinDenied, .memberLeaveDenied, .memberRemoveDenied, .nagAddNoteDenied, .nagCommitDenied,
            .nagCreateDenied, .nagDismissDenied, .nagEditDenied, .nagReadDenied, .nagReadExcusesDenied,
            .nagSnoozeDenied, .nagSubmitExcuseDenied, .nagUpdateStatusDenied, .nagWithdrawDenied,
            .policyApproveDenied, .policyChangeDenied, .policyReadDenied, .preferencesChangeDenied,
            .preferencesReadDenied, .relationshipSuspendDenied, .reportReadDenied:
            .none
        }
    }
}
