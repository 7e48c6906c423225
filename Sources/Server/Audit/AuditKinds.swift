import Audit

/// The kinds of entries that this server writes. Readers offer them for choice; the audit log itself takes any.
///
/// Every server test fails whose server writes a kind that is missing here.
enum AuditKinds {
    static let all = (Array(StateEffect.all.keys) + refusals).sorted()

    /// What the role matrix and the rules refused: it changes nothing.
    private static let refusals = [
        "account.delete.denied", "ai.coaching.denied", "ai.digest.denied", "ai.patterns.denied",
        "ai.predict_completion.denied", "ai.push_back.denied", "ai.select_tone.denied", "ai.summarize_excuse.denied",
        "audit.read.denied", "child_credentials.set.denied", "child_lockout.lift.denied", "child_pin.change.denied",
        "child_settings.change.denied", "child_settings.read.denied", "consent.grant.denied", "consent.revoke.denied",
        "family.change.denied", "family_code.renew.denied", "gamification.read.denied", "member.add.denied",
        "member.create.denied", "member.join.denied", "member.leave.denied", "member.remove.denied",
        "nag.add_note.denied", "nag.commit.denied", "nag.create.denied", "nag.dismiss.denied", "nag.edit.denied",
        "nag.read.denied", "nag.read_excuses.denied", "nag.snooze.denied", "nag.submit_excuse.denied",
        "nag.update_status.denied", "nag.withdraw.denied", "preferences.change.denied", "preferences.read.denied",
        "relationship.suspend.denied", "report.read.denied",
    ]
}
