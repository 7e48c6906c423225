import Contract
import Domain
import JSON

/// A message for a provider to deliver.
struct DeliveryMessage: Sendable {
    /// The ID of the message. A receiver that gets the message twice discards the second one.
    let id: DeliveryID
    /// The ID of the notification on the device that this message replaces: the delivery's ID, also for reminders.
    let collapseID: DeliveryID
    /// Whether the message is a reminder of one that was sent before.
    let isRepeat: Bool
    let familyID: FamilyID
    /// The nag; nil for a message about a connection, a family or an account, and for a digest of any kind.
    let nagID: NagID?
    let recipientID: UserID
    let channel: DeliveryChannel
    /// The event that caused the message, as in the feed.
    let event: String
    let phase: EscalationPhase?
    let title: String
    /// The text of a notice, or the words of the nag, push-back or digest; without words the nag's category, and empty
    /// for a connection. MUST NOT be logged.
    let text: String
    let createdAt: Timestamp
    let attempt: Int
    /// The person's devices that no other provider addresses, for a gateway of push messages; nil unless the operator
    /// wants that.
    var devices: [DeviceTarget]?
    /// The recipient's number, for a gateway of text messages; nil without one, and unless the operator wants that.
    var phone: String?

    private static let maxTextBytes = 1_000

    /// The event of a digest that a draft sent.
    static let digestSentEvent = "digest_sent"
    /// The event of a daily digest.
    static let dailyDigestEvent = "daily_digest"

    init(
        _ claim: ClaimedDelivery, event: String, phase: EscalationPhase?, _ description: String?,
        _ category: NagCategory?
    ) {
        (id, collapseID, isRepeat) = (claim.messageID, claim.id, claim.isRepeat)
        (familyID, nagID, recipientID) = (claim.familyID, claim.nagID, claim.userID)
        (channel, createdAt, attempt) = (claim.channel, claim.createdAt, claim.attempt)
        (self.event, self.phase) = (event, phase)
        title = Self.title(event, phase)
        text = Self.shortened(
            Notice(rawValue: event)?.text ?? description.flatMap { $0.isEmpty ? nil : $0 } ?? category?.rawValue
                ?? "")
    }

    private static func title(_ event: String, _ phase: EscalationPhase?) -> String {
        switch ConnectionEvent(rawValue: event) {
        case .invited: return "New invitation"
        case .accepted: return "Invitation accepted"
        case nil: break
        }
        if let notice = Notice(rawValue: event) { return notice.title }
        if event == digestSentEvent { return "Digest of the week" }
        if event == dailyDigestEvent { return "Due and overdue" }
        return switch (NagEventType(rawValue: event), phase) {
        case (.escalated, .dueSoon): "Due soon"
        case (.escalated, .overdueSoft): "Overdue"
        case (.escalated, .overdueBoundedPushBack): "Still not done"
        case (.escalated, .guardianReview): "Not done for hours"
        case (.created, _): "New nag"
        case (.completed, _): "Done"
        case (.pushBackSent, _): "Still open"
        case (.withdrawn, _): "Withdrawn"
        default: "Nagz"
        }
    }

    /// Returns the text in one line. A text of more than `maxTextBytes` bytes of UTF-8 is cut between characters, and
    /// gets an ellipsis.
    private static func shortened(_ text: String) -> String {
        var (short, bytes) = ("", 0)
        for character in safeLine(text) {
            bytes += character.utf8.count
            guard bytes <= maxTextBytes else { return short + "…" }
            short.append(character)
        }
        return short
    }
}
