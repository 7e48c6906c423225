import Domain
import JSON

/// The reason why the mediator did not answer a question, as members of an error's `details`.
public struct ExecutionFault: Hashable, WireInput, WireMembers {
    /// A code of `NagzAI.ExecutionCode`, or of a newer server.
    public var code: String
    public var traceID: TraceID
    /// Whether the person may still get an answer: by waiting, confirming, or asking again.
    public var isRecoverable: Bool
    /// The confirmation to send with the same question, once the person has agreed to the error's message.
    public var confirmation: Secret?
    /// The constraint that decided; nil if none did.
    public var constraintID: ConstraintID?

    public init(
        code: String, traceID: TraceID, isRecoverable: Bool, confirmation: Secret? = nil,
        constraintID: ConstraintID? = nil
    ) {
        self.code = code
        self.traceID = traceID
        self.isRecoverable = isRecoverable
        self.confirmation = confirmation
        self.constraintID = constraintID
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        code = try fields.required("error_code")
        traceID = try fields.required("trace_id")
        isRecoverable = try fields.required("recoverable")
        confirmation = try fields.optional("confirmation")
        constraintID = try fields.optional("constraint_id")
    }

    public func writeMembers(to json: inout JSONWriter) {
        json.field("error_code", code)
        json.field("trace_id", traceID)
        json.field("recoverable", isRecoverable)
        json.fieldIfPresent("confirmation", confirmation)
        json.fieldIfPresent("constraint_id", constraintID)
    }
}
