import Contract
import Domain
import Postgres
import TimeZones

/// A nag's phase and everything that its next steps depend on, as of one moment.
struct EscalationState {
    let record: NagRecord
    /// All steps, by the present settings of the nag and of its recipient.
    let escalation: Escalation
    /// The stored time at which the scheduler reads the nag again. It may differ from the time of `nextStep`.
    let storedNextStepAt: Timestamp
    private let phaseStartedAt: Timestamp
    private let recipient: (preferences: Preferences, channels: [DeliveryChannel])
    private let creatorChannels: [DeliveryChannel]
    private let notifiesCreator: Bool

    /// Reads the columns of `NagStatements.escalation`; nil where the row holds no nag.
    init?(_ row: Row, _ services: Services) throws {
        guard let record = try NagRecord(row) else { return nil }
        let storedByRecipient: StoredPreferences = try row["recipient_prefs"]
        let preferences = storedByRecipient.effective(
            familyZone: record.timeZone, childQuietHours: try QuietHours(ofChild: row))
        let cycleStartedAt: Timestamp = try row["cycle_started_at"]
        self.record = record
        escalation = Escalation(
            cycleStartedAt: cycleStartedAt,
            baseTime: Escalation.baseTime(
                dueAt: record.nag.dueAt, committedAt: record.nag.committedAt, preferences: preferences),
            quietHours: preferences.quietHours, zone: services.zones.zoneOrUTC(preferences.timeZone),
            plan: services.escalationPlan)
        storedNextStepAt = try row["next_step_at"]
        phaseStartedAt = try row["phase_since"] ?? cycleStartedAt
        recipient = (preferences, preferences.channels(hasSMSConsent: try row["recipient_may_text"]))
        let storedByCreator: StoredPreferences = try row["creator_prefs"]
        let creatorPreferences = storedByCreator.effective(familyZone: record.timeZone)
        creatorChannels = creatorPreferences.channels(hasSMSConsent: try row["creator_may_text"])
        let isCreatorActive: Bool = try row["is_creator_active"]
        notifiesCreator =
            isCreatorActive && record.nag.creatorID != record.nag.recipientID
            && creatorPreferences.notifiesSentOverdue
    }

    /// The step after the last one taken; nil for a nag that is not open.
    var nextStep: EscalationStep? {
        record.nag.status == .open ? escalation.step(after: .phase(record.phase)) : nil
    }

    /// Returns the person who is notified of a phase, and their channels. The person is the recipient; for the last
    /// phase, it is the creator if they want that notification. Nil for a phase that waits for the recipient's digest.
    func addressee(of phase: EscalationPhase) -> (user: UserID, channels: [DeliveryChannel])? {
        if phase == .guardianReview, notifiesCreator { return (record.nag.creatorID, creatorChannels) }
        if recipient.preferences.isHeldForDigest(phase, of: record.nag.category) { return nil }
        return (record.nag.recipientID, recipient.channels)
    }

    /// Returns the escalation as of `now`, including phases that are due and not stored yet.
    func response(at now: Timestamp) -> EscalationResponse {
        var (phase, next) = (record.phase, nextStep)
        while let step = next, step.at <= now, case .phase(let reached) = step.stage {
            phase = reached
            next = escalation.step(after: step.stage)
        }
        return EscalationResponse(
            nagID: record.nag.id, currentPhase: phase, dueAt: record.nag.dueAt, computedAt: now,
            nextStepAt: next.flatMap { $0.at <= .lastSecond ? $0.at : nil }, nextReminderAt: nextReminder(at: now))
    }

    /// Returns the time of the recipient's next reminder; nil without one. From the phase `overdueSoft` on, there is
    /// one after every interval since the phase began, outside snoozes and quiet hours. There is none if the nag is not
    /// open or would be missed by then, or if the recipient's preferences have no reminders in that phase.
    func nextReminder(at now: Timestamp) -> Timestamp? {
        // While the creator has the message of the last phase, that of the phase before is repeated.
        let repeatedPhase =
            record.phase == .guardianReview && notifiesCreator ? EscalationPhase.overdueBoundedPushBack : record.phase
        guard record.nag.status == .open, record.phase.number >= EscalationPhase.overdueSoft.number,
            recipient.preferences.hasReminders(in: repeatedPhase, of: record.nag.category)
        else { return nil }
        let interval = escalation.reminderInterval.microseconds
        let passedIntervals = max(0, (now - phaseStartedAt).microseconds) / interval
        let lastReminder = phaseStartedAt + Timestamp.Span(microseconds: passedIntervals * interval)
        let dueAt = record.nag.dueAt
        return escalation.nextReminder(after: lastReminder, now: now, snoozedUntil: dueAt > now ? dueAt : nil)
    }
}
