/// The kinds of entries that this server writes. Readers offer them for choice; the trail itself takes any.
///
/// Every server test fails whose server writes a kind that is missing here.
enum AuditKinds {
    static let all: [String] = [
        "account.created", "account.delete.denied", "account.deleted", "admin.created", "admin.read", "admin.revoked",
        "ai.coaching", "ai.coaching.denied", "ai.digest", "ai.patterns", "ai.patterns.denied", "ai.predict_completion",
        "ai.predict_completion.denied", "ai.push_back", "ai.push_back.denied", "ai.select_tone",
        "ai.select_tone.denied",
        "ai.summarize_excuse", "ai.summarize_excuse.denied", "audit.read.denied", "block.created", "block.lifted",
        "child_credentials.set", "child_credentials.set.denied", "child_pin.change.denied", "child_pin.changed",
        "child_settings.change.denied", "child_settings.changed", "child_settings.read.denied", "consent.grant.denied",
        "consent.granted", "consent.revoke.denied", "consent.revoked", "demo.seeded", "excuse.submitted",
        "family.change.denied", "family.changed", "family.created", "gamification.read.denied", "input.enriched",
        "input.not_applied", "member.add.denied",
        "member.added", "member.create.denied", "member.created", "member.joined", "member.leave.denied", "member.left",
        "member.remove.denied", "member.removed", "nag.add_note.denied", "nag.commit.denied", "nag.committed",
        "nag.completed", "nag.create.denied", "nag.created", "nag.dismiss.denied", "nag.dismissed", "nag.edit.denied",
        "nag.missed", "nag.note_added", "nag.read.denied", "nag.read_excuses.denied", "nag.snooze.denied",
        "nag.snoozed", "nag.submit_excuse.denied", "nag.undismissed", "nag.update_status.denied", "nag.updated",
        "nag.withdraw.denied", "nag.withdrawn", "nags.cancelled", "person.erased", "preferences.change.denied",
        "preferences.changed", "preferences.read.denied", "relationship.suspend.denied", "relationship.suspended",
        "report.read.denied", "session.opened", "session.refreshed", "session.revoked", "sign_in.failed",
        "trail.pruned",
    ]
}
