import Domain
import JSON

/// A delivery as administrators see it: without the words and without the push tokens.
public struct DeliveryReview: Hashable, WireObject {
    public var id: DeliveryID
    public var familyID: FamilyID
    /// The nag; nil for a delivery about a connection, which `familyID` names then.
    public var nagID: NagID?
    /// The event that it notifies of; nil where that is not stored any more.
    public var cause: String?
    public var userID: UserID
    public var channel: DeliveryChannel
    public var status: DeliveryStatus
    /// Attempts so far.
    public var attempts: Int
    /// The reason for which it failed or is tried again: a code, or the provider's words.
    public var failure: String?
    /// Whether it failed because nobody needs it any more.
    public var isDropped: Bool
    /// Reminders of an overdue nag that followed it.
    public var repeats: Int
    public var createdAt: Timestamp
    /// The time at which it is sent, or its recipient reminded again; nil if neither.
    public var nextAttemptAt: Timestamp?

    public init(
        id: DeliveryID, familyID: FamilyID, nagID: NagID?, cause: String?, userID: UserID, channel: DeliveryChannel,
        status: DeliveryStatus, attempts: Int, failure: String?, isDropped: Bool, repeats: Int,
        createdAt: Timestamp, nextAttemptAt: Timestamp?
    ) {
        self.id = id
        self.familyID = familyID
        self.nagID = nagID
        self.cause = cause
        self.userID = userID
        self.channel = channel
        self.status = status
        self.attempts = attempts
        self.failure = failure
        self.isDropped = isDropped
        self.repeats = repeats
        self.createdAt = createdAt
        self.nextAttemptAt = nextAttemptAt
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.required("id")
        familyID = try fields.required("family_id")
        nagID = try fields.optional("nag_id")
        cause = try fields.optional("cause")
        userID = try fields.required("user_id")
        channel = try fields.required("channel")
        status = try fields.required("status")
        attempts = try fields.required("attempts")
        failure = try fields.optional("failure")
        isDropped = try fields.required("dropped")
        repeats = try fields.required("repeats")
        createdAt = try fields.required("created_at")
        nextAttemptAt = try fields.optional("next_attempt_at")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id)
            json.field("family_id", familyID)
            json.field("nag_id", nagID)
            json.field("cause", cause)
            json.field("user_id", userID)
            json.field("channel", channel)
            json.field("status", status)
            json.field("attempts", attempts)
            json.field("failure", failure)
            json.field("dropped", isDropped)
            json.field("repeats", repeats)
            json.field("created_at", createdAt)
            json.field("next_attempt_at", nextAttemptAt)
        }
    }
}
