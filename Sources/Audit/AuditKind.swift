/// The kinds of audit entries that this version writes.
///
/// The raw values are part of signed entries and never change. A log may contain kinds of a later version: readers
/// accept any text, writers use only these.
public enum AuditKind: String, Sendable, Hashable, CaseIterable {
    case abuseReportCreated = "abuse_report.created"
    /// An administrator changed a report's status or severity, or added a note.
    case abuseReportReviewed = "abuse_report.reviewed"
    /// A person changed their name, or set a missing name or date of birth.
    case accountChanged = "account.changed"
    case accountCreated = "account.created"
    /// An account was deleted, and with it any membership of a family. Personal data stays until `accountPurged`.
    case accountDeleted = "account.deleted"
    /// A person exported the data of their own account.
    case accountExported = "account.exported"
    case accountPhoneChanged = "account.phone_changed"
    case accountPhoneRemoved = "account.phone_removed"
    /// A person asked for a code to a telephone number that is to become theirs.
    case accountPhoneRequested = "account.phone_requested"
    /// The personal data of an account was removed, some days after its deletion.
    case accountPurged = "account.purged"
    case adminCreated = "admin.created"
    /// An administrator read the audit log, deliveries or abuse reports.
    case adminRead = "admin.read"
    case adminRevoked = "admin.revoked"
    /// A person declined to confirm a question to the AI that needs a confirmation.
    case aiConfirmationDeclined = "ai_execution.declined"
    /// The mediator did not answer a question. Denials before a model is asked have kinds of their own: `ai…Denied`.
    case aiExecutionRefused = "ai_execution.refused"
    /// A person deleted records of their own questions from the history.
    case aiExecutionsDeleted = "ai_execution.deleted"
    /// A person began an AI session, in which later questions can refer to earlier ones.
    case aiSessionBegun = "ai_session.begun"
    case aiSessionEnded = "ai_session.ended"
    case aiConstraintChanged = "ai_constraint.changed"
    case aiConstraintCreated = "ai_constraint.created"
    case aiConstraintDeleted = "ai_constraint.deleted"
    case aiConstraintsImported = "ai_constraint.imported"
    case aiConstraintsReordered = "ai_constraint.reordered"
    case aiKeyDeleted = "ai_key.deleted"
    /// A person stored a key of their own for a provider of language models.
    case aiKeySet = "ai_key.set"
    /// The AI operation `coaching` was answered.
    case aiCoaching = "ai.coaching"
    /// The AI operation `digest` was answered.
    case aiDigest = "ai.digest"
    /// The AI operation `patterns` was answered.
    case aiPatterns = "ai.patterns"
    /// The AI operation `predictCompletion` was answered.
    case aiPredictCompletion = "ai.predict_completion"
    /// The AI operation `pushBack` was answered.
    case aiPushBack = "ai.push_back"
    /// The AI operation `askCoach` was answered.
    case aiAskCoach = "ai.ask_coach"
    /// The AI operation `selectTone` was answered.
    case aiSelectTone = "ai.select_tone"
    /// The AI operation `summarizeExcuse` was answered.
    case aiSummarizeExcuse = "ai.summarize_excuse"
    /// A person blocked another person, for the first time or again.
    case blockCreated = "block.created"
    case blockLifted = "block.lifted"
    /// A guardian set or replaced a child's user name and PIN.
    case childCredentialsSet = "child_credentials.set"
    /// A child was locked out after too many wrong PINs.
    case childLockoutBegun = "child_lockout.begun"
    /// A guardian ended a child's lockout.
    case childLockoutLifted = "child_lockout.lifted"
    /// A child changed their own PIN.
    case childPinChanged = "child_pin.changed"
    case childSettingsChanged = "child_settings.changed"
    /// A person uploaded a picture.
    case attachmentAdded = "attachment.added"
    case connectionAccepted = "connection.accepted"
    /// A party changed whether the children of one party may get nags from the other.
    case connectionChanged = "connection.changed"
    case connectionDeclined = "connection.declined"
    case connectionInvited = "connection.invited"
    case connectionRevoked = "connection.revoked"
    case consentGranted = "consent.granted"
    case consentRevoked = "consent.revoked"
    /// All entries of the family so far are a demo's.
    case demoSeeded = "demo.seeded"
    /// An administrator made a failed delivery pending again.
    case deliveryResent = "delivery.resent"
    /// Another account registered the push token of the subject's device, so the subject's registration was removed.
    case deviceMoved = "device.moved"
    case deviceRegistered = "device.registered"
    case deviceRemoved = "device.removed"
    /// A person approved a draft, whose confirmation is the next step.
    case draftApproved = "draft.approved"
    /// A person got the confirmation with which they can execute a draft.
    case draftConfirmed = "draft.confirmed"
    case draftCreated = "draft.created"
    case draftEdited = "draft.edited"
    /// A draft was executed. If its effect has an entry of its own kind, that entry records the execution instead.
    case draftExecuted = "draft.executed"
    /// A draft reached the end of its lifetime, or its author lacks a consent or has switched the AI off.
    case draftExpired = "draft.expired"
    case draftRejected = "draft.rejected"
    /// A person asked for a code to an address that is to become their account's.
    case emailChangeRequested = "email_change.requested"
    case emailChanged = "email.changed"
    case excuseSubmitted = "excuse.submitted"
    case familyChanged = "family.changed"
    case familyCreated = "family.created"
    /// A guardian replaced the family's invite code.
    case familyCodeRenewed = "family_code.renewed"
    /// A guardian approved a reward that waited for it.
    case incentiveApproved = "incentive.approved"
    /// A guardian replaced an incentive rule by its next version.
    case incentiveRuleChanged = "incentive_rule.changed"
    case incentiveRuleCreated = "incentive_rule.created"
    /// A person's device uploaded a finding about an earlier input, such as the summary of an excuse.
    case inputEnriched = "input.enriched"
    /// An input from a device's outbox was refused or changed nothing; its result is stored for retries.
    case inputNotApplied = "input.not_applied"
    /// An operator accepted the database's Merkle log after a backup was restored.
    case merkleLogAccepted = "log.accepted"
    /// An administrator acknowledged a finding about the audit log, with a reason.
    case auditFindingAcknowledged = "log.finding_acknowledged"
    /// A guardian readmitted an account that was created in this family.
    case memberAdded = "member.added"
    /// A guardian created an account for a new member.
    case memberCreated = "member.created"
    /// A person joined with the family's invite code.
    case memberJoined = "member.joined"
    case memberLeft = "member.left"
    case memberRemoved = "member.removed"
    /// A guardian made a participant a guardian.
    case memberRoleChanged = "member.role_changed"
    /// The recipient promised a time, or withdrew that promise.
    case nagCommitted = "nag.committed"
    case nagCompleted = "nag.completed"
    case nagCreated = "nag.created"
    /// The recipient dismissed a nag, which their digest and filtered lists then omit. Its status stays.
    case nagDismissed = "nag.dismissed"
    /// A nag reached a further phase of its escalation.
    case nagEscalated = "nag.escalated"
    /// An open nag ended with the last step of its escalation.
    case nagMissed = "nag.missed"
    case nagNoteAdded = "nag.note_added"
    case nagSnoozed = "nag.snoozed"
    case nagUndismissed = "nag.undismissed"
    case nagUpdated = "nag.updated"
    /// The creator withdrew an open nag, or a guardian of the child who receives it did.
    case nagWithdrawn = "nag.withdrawn"
    /// Open nags of a person were cancelled before a departure, a block or a change of a connection.
    case nagsCancelled = "nags.cancelled"
    case passwordChanged = "password.changed"
    /// Somebody asked for a code to reset a password, whether or not an account has that address.
    case passwordResetRequested = "password_reset.requested"
    /// An operator erased a person from the audit log: the bodies about them, and the link to their account.
    case personErased = "person.erased"
    /// An owner or proposed owner approved the policy or its proposal, which did not change what is in force.
    case policyApproved = "policy.approved"
    /// New limits or owners of the policy came into force.
    case policyChanged = "policy.changed"
    case policyProposed = "policy.proposed"
    case preferencesChanged = "preferences.changed"
    /// A guardian suspended the relationship of two members: neither may nag the other.
    case relationshipSuspended = "relationship.suspended"
    /// A person signed in.
    case sessionOpened = "session.opened"
    /// A session got a new refresh token.
    case sessionRefreshed = "session.refreshed"
    /// A session ended: the person ended it, or a replaced refresh token was used again.
    case sessionRevoked = "session.revoked"
    /// A sign-in was refused, or a password or PIN that confirms a change was wrong.
    case signInFailed = "sign_in.failed"
    /// Retention deleted the oldest entries of this chain.
    case auditLogPruned = "trail.pruned"

    // MARK: Denials by the role matrix and the rules

    /// A member who is no administrator asked to read or review abuse reports.
    case abuseReportReviewDenied = "abuse_report.review.denied"
    case accountDeleteDenied = "account.delete.denied"
    /// A member who is no guardian asked for the records of another member's questions.
    case aiExecutionsReadDenied = "ai_execution.read.denied"
    case aiConstraintChangeDenied = "ai_constraint.change.denied"
    /// Somebody other than an adult with an email address asked for an operation on keys for language models.
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
    /// A member who is no administrator asked to list deliveries, or to send one again.
    case deliveryReviewDenied = "delivery.review.denied"
    /// A member who is no administrator asked to list or acknowledge findings.
    case auditFindingReviewDenied = "log.finding_review.denied"
    /// A step after the creation of a draft was denied: by voice or a shortcut, or a recipient may not get the digest.
    case draftStepDenied = "draft.step.denied"
    case familyChangeDenied = "family.change.denied"
    case familyCodeRenewDenied = "family_code.renew.denied"
    /// A member who is no guardian asked for another member's points or badges.
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
    /// A promise of a time was denied.
    case nagCommitDenied = "nag.commit.denied"
    case nagCreateDenied = "nag.create.denied"
    case nagDismissDenied = "nag.dismiss.denied"
    case nagEditDenied = "nag.edit.denied"
    case nagReadDenied = "nag.read.denied"
    case nagReadDeliveriesDenied = "nag.read_deliveries.denied"
    case nagReadExcusesDenied = "nag.read_excuses.denied"
    case nagSnoozeDenied = "nag.snooze.denied"
    case nagSubmitExcuseDenied = "nag.submit_excuse.denied"
    /// The completion of a nag was denied.
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
    /// Whether the entry records that the role matrix or a rule denied something, which then was not done. Other
    /// refusals, such as `signInFailed` and `aiExecutionRefused`, are no denials.
    public var isDenial: Bool { rawValue.hasSuffix(Self.denialSuffix) }

    static let denialSuffix = ".denied"

    /// Whether the act creates the subject's account.
    public var createsAccount: Bool { self == .accountCreated || self == .memberCreated || self == .adminCreated }
}
