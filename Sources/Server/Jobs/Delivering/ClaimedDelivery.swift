import Contract
import Domain
import Postgres
import TimeZones

/// A delivery that a worker has taken, until its lease ends.
struct ClaimedDelivery: Sendable {
    let id: DeliveryID
    let familyID: FamilyID
    /// The nag; nil for a delivery about a connection, a family or an account, and for a digest.
    let nagID: NagID?
    let userID: UserID
    let channel: DeliveryChannel
    /// The number of this attempt, from 1.
    let attempt: Int
    let createdAt: Timestamp
    /// The time from which the delivery was to be sent.
    let deliveryDueAt: Timestamp
    /// Whether it is a daily digest.
    let isDigest: Bool
    /// Whether this is a reminder of a notification that was sent before.
    let isRepeat: Bool
    /// The number of reminders before this one.
    let earlierRepeatCount: Int
    let leasedUntil: Timestamp

    /// Reads a row of `DeliveryStatements.claim`.
    init(_ row: Row, _ channel: DeliveryChannel, leasedUntil: Timestamp) throws(PostgresError) {
        id = try row["id"]
        familyID = try row["family_id"]
        nagID = try row["nag_id"]
        userID = try row["user_id"]
        attempt = try row["attempts"]
        createdAt = try row["created_at"]
        deliveryDueAt = try row["due_at"]
        isDigest = try row["is_digest"]
        isRepeat = try row["is_repeat"]
        earlierRepeatCount = try row["repeats"]
        (self.channel, self.leasedUntil) = (channel, leasedUntil)
    }

    /// The ID of the message, the same at each attempt: the delivery's ID, or for each reminder an ID derived from it.
    var messageID: DeliveryID {
        isRepeat ? DeliveryID(high: id.high, low: id.low &+ UInt64(clamping: earlierRepeatCount + 1)) : id
    }
}

/// A reason for which a delivery is not needed any more.
enum DropReason: String {
    /// The delivery has been due for too long.
    case stale
    /// A later notification of the nag, or a later daily digest, replaces the delivery.
    case superseded
    /// The nag is not open any more, or not due for a reminder any more.
    case nagClosed = "nag_closed"
    /// The due time was moved, so that the nag is not overdue any more or its phases began again.
    case snoozed
    /// The person's settings have changed: the notification now belongs to the daily digest, or the person wants no
    /// digest or no reminder.
    case notWanted = "not_wanted"
    /// The digest would be empty.
    case nothingDue = "nothing_due"
    /// The person has muted notifications until after this one becomes too old.
    case muted
    /// The person does not consent to text messages, or to AI mediation.
    case noConsent = "no_consent"
    /// The person's account or membership has ended, or the connection of the nag.
    case notAMember = "not_a_member"
    /// The invitation or the connection is not open any more.
    case connectionClosed = "connection_closed"
    /// One of the nag's two people blocks the other, or so do a digest's sender and its recipient.
    case blocked
    /// A guardian has suspended the relationship of these two people.
    case suspended
    /// No provider has a device to which it could send the message.
    case noDevice = "no_device"
    /// The recipient was never notified of the nag, so its withdrawal needs no notification.
    case neverNotified = "not_told"
    /// The draft of the message was deleted with its author's account.
    case draftDeleted = "draft_deleted"
}

/// The worker's decision about a claimed delivery.
enum SendingDecision {
    case send(DeliveryMessage)
    case drop(DropReason)
    case wait(until: Timestamp)
}

/// The facts that decide whether a delivery is still to be sent, as of one moment.
struct DeliveryFacts {
    /// The pseudonym of the person who gets the message; nil if there is no such account.
    let pseudonym: Pseudonym?
    /// The devices that acknowledged the message at an earlier attempt.
    let acknowledgedDevices: Set<DeviceID>
    /// Whether the person has an open socket, on any instance, and so needs no push.
    let hasOpenSocket: Bool
    /// The person's telephone number, for a text message; nil without one.
    let phone: String?
    private let event: String?
    /// The phase that the notification reports; nil for other events.
    private let phase: EscalationPhase?
    /// The nag's status, and whether its phases have begun again since the event.
    private let nag: (status: NagStatus?, isRestarted: Bool)
    private let times: NagTimes?
    /// Whether the person is the nag's recipient.
    private let isRecipient: Bool
    /// The time at which the notification or its last reminder was sent; nil if none was.
    private let lastSentAt: Timestamp?
    /// What the message says, with the nag's category for messages without words.
    private let words: (description: String?, category: NagCategory?)
    /// Whether the person's account is active, and the delivery's membership or connection has not ended.
    private let isMemberOrConnected: Bool
    /// Whether the person's consent to text messages is in force.
    private let mayReceiveSMS: Bool
    /// Whether one of the two people, the nag's or the digest's sender and recipient, blocks the other.
    private let isBlocked: Bool
    /// Whether a guardian has suspended the relationship of these two people.
    private let isSuspended: Bool
    private let isDraftDeleted: Bool
    /// Whether the person may still get what the AI has written.
    private let mayReceiveAIText: Bool
    /// Whether the person has a later delivery about the nag, or a later daily digest, that has not failed. Unless this
    /// is a reminder, only deliveries by the same channel count.
    private let isSuperseded: Bool
    /// Whether an earlier notification of the nag has arrived.
    private let wasNotified: Bool
    /// The time until which earlier notifications of a withdrawn nag may be in flight: the latest end of a lease or
    /// time of a next attempt; nil if none is in flight.
    private let inFlightUntil: Timestamp?
    private let preferences: Preferences
    /// The contents of a daily digest; nil for any other delivery.
    private let digest: DailyDigest?
    /// The trace of the act that caused the delivery; nil if its entry is not known, or if the delivery is about no
    /// nag.
    let trace: TraceID?

    /// Reads a row of `DeliveryStatements.facts`.
    init(_ row: Row, _ digest: DailyDigest?) throws(PostgresError) {
        self.digest = digest
        pseudonym = try row["pseudonym"]
        trace = try row["trace"]
        acknowledgedDevices = Set(try row.list("acknowledged") ?? [])
        event = try row["event_type"]
        let phase: String? = try row["phase"]
        self.phase = phase.flatMap(EscalationPhase.init)
        let isRestarted: Bool? = try row["is_restarted"]
        nag = (try row["nag_status"], isRestarted ?? false)
        times = try NagTimes(row)
        isRecipient = try row["is_recipient"]
        lastSentAt = try row["sent_at"]
        words = (try row["description"], try row["category"])
        isMemberOrConnected = try row["is_member"]
        hasOpenSocket = try row["is_live"]
        phone = try row["phone"]
        mayReceiveSMS = try row["may_text"]
        let isBlocked: Bool? = try row["is_blocked"]
        self.isBlocked = isBlocked ?? false
        isSuspended = try row["is_suspended"]
        isDraftDeleted = try row["is_draft_deleted"]
        mayReceiveAIText = try row["may_mediate"]
        isSuperseded = try row["is_superseded"]
        wasNotified = try row["was_notified"] ?? false
        inFlightUntil = try row["in_flight_until"]
        let stored: StoredPreferences = try row["prefs"]
        let timeZone: String? = try row["time_zone"]
        preferences = stored.effective(
            familyZone: timeZone ?? Preferences.standardTimeZone, childQuietHours: try QuietHours(ofChild: row))
    }

    /// Decides whether the delivery is sent now, waits, or is dropped.
    /// - Parameter staleAfter: the time after which a due delivery is too old to be sent.
    func decision(
        on claim: ClaimedDelivery, at now: Timestamp, staleAfter: Timestamp.Span, zones: ZoneTable,
        plan: EscalationPlan
    ) -> SendingDecision {
        if let reason = reasonToDrop(claim, at: now) { return .drop(reason) }
        if claim.isRepeat { return decisionOnReminder(claim, at: now, zones, plan) }
        if now - claim.deliveryDueAt > staleAfter { return .drop(.stale) }
        if event == NagEventType.withdrawn.rawValue, isRecipient, !wasNotified {
            // A notification that was claimed before the withdrawal may still arrive; one that is claimed later is
            // dropped.
            guard let inFlightUntil, inFlightUntil > now, inFlightUntil < claim.createdAt + ChannelSender.lease else {
                return .drop(.neverNotified)
            }
            return .wait(until: inFlightUntil)
        }
        if let end = preferences.muteUntil, end > now {
            return end - claim.createdAt > staleAfter ? .drop(.muted) : .wait(until: end)
        }
        if let quiet = preferences.quietHours {
            let end = quiet.firstMomentOutside(from: now, in: zones.zoneOrUTC(preferences.timeZone))
            if end > now { return .wait(until: end) }
        }
        if let moment = momentAfterNextStep(at: now, zones, plan) { return .wait(until: moment) }
        if digest?.isEmpty == true { return .drop(.nothingDue) }
        return .send(message(claim, at: now))
    }

    private func message(_ claim: ClaimedDelivery, at now: Timestamp) -> DeliveryMessage {
        DeliveryMessage(
            claim, event: event ?? "", phase: phase, digest?.text(at: now) ?? words.description, words.category)
    }

    /// The time for which a notification waits for a scheduler that is late.
    private static let stepTimeout = Timestamp.Span.minutes(1)

    /// Returns the time to check again if the nag's next step is about to notify the same person, so that one message
    /// is sent instead of two; nil otherwise.
    private func momentAfterNextStep(
        at now: Timestamp, _ zones: ZoneTable, _ plan: EscalationPlan
    ) -> Timestamp? {
        guard requiresOpenNag, isRecipient, let times,
            let next = times.escalation(preferences, zones, plan).step(after: .phase(times.phase)),
            next.at <= now + plan.replacementLead, now < next.at + Self.stepTimeout
        else { return nil }
        if case .phase(let phase) = next.stage, preferences.isHeldForDigest(phase, of: words.category) { return nil }
        return max(next.at, now) + .seconds(1)
    }

    private var requiresOpenNag: Bool {
        [NagEventType.escalated.rawValue, NagEventType.created.rawValue].contains(event)
    }

    private func reasonToDrop(_ claim: ClaimedDelivery, at now: Timestamp) -> DropReason? {
        let isOfConnection = event.flatMap(ConnectionEvent.init) != nil
        guard isMemberOrConnected else { return isOfConnection ? .connectionClosed : .notAMember }
        if isDraftDeleted { return .draftDeleted }
        if !mayReceiveAIText || claim.channel == .sms && !mayReceiveSMS { return .noConsent }
        if isBlocked { return .blocked }
        if event == DeliveryMessage.digestSentEvent, isSuspended { return .suspended }
        if isSuperseded { return .superseded }
        if claim.isDigest, preferences.notificationFrequency != .dailyDigest { return .notWanted }
        guard requiresOpenNag else { return nil }
        if nag.status != .open { return .nagClosed }
        if isSuspended { return .suspended }
        guard let phase else { return nil }
        // A moved due time began the phases again; after a snooze the nag is not overdue.
        let isOverdue = phase.number >= EscalationPhase.overdueSoft.number
        let isSnoozed = isOverdue && !claim.isRepeat && times.map { $0.dueAt > now } ?? false
        if nag.isRestarted || isSnoozed { return .snoozed }
        return isRecipient && preferences.isHeldForDigest(phase, of: words.category) ? .notWanted : nil
    }

    // MARK: Reminders

    /// Returns the time at which the recipient of an overdue nag is reminded again after a message sent now; nil for
    /// other messages.
    func nextReminder(after now: Timestamp, zones: ZoneTable, plan: EscalationPlan) -> Timestamp? {
        nextReminder(last: now, at: now, zones, plan)
    }

    /// Decides about a reminder. A reminder that is too early waits: the recipient has snoozed the nag or has quiet
    /// hours, or the nag has reached another phase, from whose beginning the interval counts. A reminder never becomes
    /// stale: after an outage the one that was due is sent, and those that would have followed are not.
    private func decisionOnReminder(
        _ claim: ClaimedDelivery, at now: Timestamp, _ zones: ZoneTable, _ plan: EscalationPlan
    ) -> SendingDecision {
        if let phase, !preferences.hasReminders(in: phase, of: words.category) { return .drop(.notWanted) }
        guard let times, let due = nextReminder(last: lastSentAt ?? claim.createdAt, at: now, zones, plan) else {
            return .drop(.nagClosed)
        }
        // The scheduler is about to take the next step, which notifies somebody itself.
        if let next = times.escalation(preferences, zones, plan).step(after: .phase(times.phase)), next.at <= now {
            return .wait(until: now + plan.reminderInterval)
        }
        let moment = max(due, preferences.muteUntil ?? due)
        return moment > now ? .wait(until: moment) : .send(message(claim, at: now))
    }

    private func nextReminder(
        last: Timestamp, at now: Timestamp, _ zones: ZoneTable, _ plan: EscalationPlan
    ) -> Timestamp? {
        guard event == NagEventType.escalated.rawValue, isRecipient, nag.status == .open, let times, let phase,
            phase.number >= EscalationPhase.overdueSoft.number,
            preferences.hasReminders(in: phase, of: words.category)
        else { return nil }
        return times.escalation(preferences, zones, plan).nextReminder(
            after: max(last, times.phaseStartedAt), now: now, snoozedUntil: times.dueAt > now ? times.dueAt : nil)
    }
}

/// The times of a nag that decide when its recipient is reminded.
private struct NagTimes {
    let dueAt: Timestamp
    let phase: EscalationPhase
    let phaseStartedAt: Timestamp
    private let committedAt: Timestamp?
    /// The time from which the phases count: the nag's creation, or the last edit that moved its due time.
    private let cycleStartedAt: Timestamp

    /// Reads a row of `DeliveryStatements.facts`; nil where there is no nag.
    init?(_ row: Row) throws(PostgresError) {
        guard let dueAt: Timestamp = try row["due_at"], let number: Int = try row["nag_phase"],
            let phase = EscalationPhase(number: number), let cycleStartedAt: Timestamp = try row["cycle_started_at"]
        else { return nil }
        (self.dueAt, self.phase, self.cycleStartedAt) = (dueAt, phase, cycleStartedAt)
        phaseStartedAt = try row["phase_since"] ?? cycleStartedAt
        committedAt = try row["committed_at"]
    }

    func escalation(_ preferences: Preferences, _ zones: ZoneTable, _ plan: EscalationPlan) -> Escalation {
        Escalation(
            cycleStartedAt: cycleStartedAt,
            baseTime: Escalation.baseTime(dueAt: dueAt, committedAt: committedAt, preferences: preferences),
            quietHours: preferences.quietHours, zone: zones.zoneOrUTC(preferences.timeZone), plan: plan)
    }
}
