import Contract
import Domain
import Postgres
import TimeZones

/// A delivery that a worker has taken, until its lease ends.
struct ClaimedDelivery: Sendable {
    let id: DeliveryID
    let familyID: FamilyID
    /// Nil for one about a connection.
    let nagID: NagID?
    let userID: UserID
    let channel: DeliveryChannel
    /// This attempt's number, from 1.
    let attempts: Int
    let createdAt: Timestamp
    /// Since when it was to be sent.
    let dueAt: Timestamp
    let leasedUntil: Timestamp

    /// Reads a row of `DeliveryStatements.claim`.
    init(_ row: Row, _ channel: DeliveryChannel, leasedUntil: Timestamp) throws(PostgresError) {
        id = try row["id"]
        familyID = try row["family_id"]
        nagID = try row["nag_id"]
        userID = try row["user_id"]
        attempts = try row["attempts"]
        createdAt = try row["created_at"]
        dueAt = try row["due_at"]
        (self.channel, self.leasedUntil) = (channel, leasedUntil)
    }
}

/// Why a delivery is not needed any more.
enum DropReason: String {
    case stale, superseded
    case nagClosed = "nag_closed"
    case snoozed
    /// The person wants no notifications until it is too old.
    case muted
    case noConsent = "no_consent"
    case notAMember = "not_a_member"
    /// The invitation or the connection is not open any more.
    case connectionClosed = "connection_closed"
    case blocked
    case noDevice = "no_device"
    /// Nobody was told of the nag that was withdrawn.
    case notTold = "not_told"
}

/// What the worker does about a claimed delivery.
enum SendingDecision {
    case send(DeliveryMessage)
    case drop(DropReason)
    case wait(until: Timestamp)
}

/// What decides whether a delivery is still to be sent, as of one moment.
struct DeliveryFacts {
    let pseudonym: Pseudonym?
    let acknowledged: Set<DeviceID>
    /// Whether the person has an open socket, on any instance, and so needs no push.
    let isLive: Bool
    private let event: String?
    private let phase: EscalationPhase?
    private let nag: (status: NagStatus?, isDueLater: Bool, isRestarted: Bool)
    private let words: (description: String?, category: NagCategory?)
    private let isMember: Bool
    private let mayText: Bool
    private let isBlocked: Bool
    private let isSuperseded: Bool
    /// Whether an earlier notification of the nag has arrived, and until when the worker that took one last had it.
    private let isTold: Bool
    private let inFlightUntil: Timestamp?
    private let preferences: Preferences

    /// Reads a row of `DeliveryStatements.facts`.
    init(_ row: Row) throws(PostgresError) {
        pseudonym = try row["pseudonym"]
        let acknowledged: String = try row["acknowledged"]
        self.acknowledged = Set(acknowledged.split(separator: ",").compactMap { DeviceID($0) })
        event = try row["event_type"]
        let phase: String? = try row["phase"]
        self.phase = phase.flatMap(EscalationPhase.init)
        let (isDueLater, isRestarted): (Bool?, Bool?) = (try row["is_due_later"], try row["is_restarted"])
        nag = (try row["nag_status"], isDueLater ?? false, isRestarted ?? false)
        words = (try row["description"], try row["category"])
        isMember = try row["is_member"]
        isLive = try row["is_live"]
        mayText = try row["may_text"]
        let isBlocked: Bool? = try row["is_blocked"]
        self.isBlocked = isBlocked ?? false
        isSuperseded = try row["is_superseded"]
        isTold = try row["is_told"] ?? false
        inFlightUntil = try row["in_flight_until"]
        let stored: StoredPreferences = try row["prefs"]
        let timeZone: String? = try row["time_zone"]
        var preferences = stored.effective(inFamilyAt: timeZone ?? Preferences.standardTimeZone)
        if let start: TimeOfDay = try row["child_quiet_start"], let end: TimeOfDay = try row["child_quiet_end"] {
            preferences.quietHoursEnabled = true
            preferences.quietWindow = QuietHours(start: start, end: end)
        }
        self.preferences = preferences
    }

    /// - Parameter staleAfter: how long a delivery may have been due.
    func decision(
        on claim: ClaimedDelivery, at now: Timestamp, staleAfter: Timestamp.Span, zones: ZoneTable
    ) -> SendingDecision {
        if let reason = reasonToDrop(claim) { return .drop(reason) }
        if now - claim.dueAt > staleAfter { return .drop(.stale) }
        if event == NagEventType.withdrawn.rawValue, !isTold {
            // What was taken before the withdrawal may still arrive; what was taken later is dropped.
            guard let inFlightUntil, inFlightUntil > now, inFlightUntil < claim.createdAt + DeliveryLane.lease else {
                return .drop(.notTold)
            }
            return .wait(until: inFlightUntil)
        }
        if let end = preferences.muteUntil, end > now {
            return end - claim.createdAt > staleAfter ? .drop(.muted) : .wait(until: end)
        }
        if let quiet = preferences.quietHours {
            let end = quiet.end(after: now, in: zones.zone(preferences.timeZone))
            if end > now { return .wait(until: end) }
        }
        return .send(DeliveryMessage(claim, event: event ?? "", phase: phase, words.description, words.category))
    }

    private func reasonToDrop(_ claim: ClaimedDelivery) -> DropReason? {
        guard isMember else { return claim.nagID == nil ? .connectionClosed : .notAMember }
        if claim.channel == .sms, !mayText { return .noConsent }
        if isBlocked { return .blocked }
        if isSuperseded { return .superseded }
        let isAboutOpenNag = [NagEventType.escalated.rawValue, NagEventType.created.rawValue].contains(event)
        guard isAboutOpenNag else { return nil }
        if nag.status != .open { return .nagClosed }
        guard let phase else { return nil }
        // A moved due time began the phases again; after a snooze the nag is not overdue.
        let isOverdue = phase.number >= EscalationPhase.overdueSoft.number
        return nag.isRestarted || isOverdue && nag.isDueLater ? .snoozed : nil
    }
}
