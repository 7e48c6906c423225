import Domain
import JSON

/// The escalation of a nag.
public struct EscalationResponse: Hashable, WireObject {
    public var nagID: NagID
    /// The phase; for a nag that is not open, the last one it reached.
    public var currentPhase: EscalationPhase
    public var dueAt: Timestamp
    public var computedAt: Timestamp
    /// The time at which the next phase begins or the nag is missed, with quiet hours; nil for a nag that is not open.
    public var nextStepAt: Timestamp?
    /// The time of the recipient's next reminder; nil before the nag is overdue.
    public var nextReminderAt: Timestamp?

    public init(
        nagID: NagID, currentPhase: EscalationPhase, dueAt: Timestamp, computedAt: Timestamp,
        nextStepAt: Timestamp? = nil, nextReminderAt: Timestamp? = nil
    ) {
        self.nagID = nagID
        self.currentPhase = currentPhase
        self.dueAt = dueAt
        self.computedAt = computedAt
        self.nextStepAt = nextStepAt
        self.nextReminderAt = nextReminderAt
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        nagID = try fields.required("nag_id")
        currentPhase = try fields.required("current_phase")
        dueAt = try fields.required("due_at")
        computedAt = try fields.required("computed_at")
        nextStepAt = try fields.optional("next_step_at")
        nextReminderAt = try fields.optional("next_reminder_at")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("nag_id", nagID)
            json.field("current_phase", currentPhase)
            json.field("due_at", dueAt)
            json.field("computed_at", computedAt)
            json.field("next_step_at", nextStepAt)
            json.field("next_reminder_at", nextReminderAt)
        }
    }
}
