import Domain
import JSON
import NagzAI

/// A question to one of the mediator's operations, with what is to answer it.
public struct ExecutionRequest: Hashable, WireObject, WireMembers {
    public var familyID: FamilyID
    public var operation: AIOperationID
    public var nagID: NagID?
    public var userID: UserID?
    /// An excuse.
    public var text: String?

    public static let longestText = 2_000

    public init(
        familyID: FamilyID, operation: AIOperationID, nagID: NagID? = nil, userID: UserID? = nil, text: String? = nil
    ) {
        self.familyID = familyID
        self.operation = operation
        self.nagID = nagID
        self.userID = userID
        self.text = text
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        familyID = try fields.required("family_id")
        operation = try fields.required("operation")
        nagID = try fields.optional("nag_id")
        userID = try fields.optional("user_id")
        text = try fields.optionalText("text", 1...Self.longestText)
    }

    public func writeMembers(to json: inout JSONWriter) {
        json.field("family_id", familyID)
        json.field("operation", operation)
        json.fieldIfPresent("nag_id", nagID)
        json.fieldIfPresent("user_id", userID)
        json.fieldIfPresent("text", text)
    }
}

/// An answer, and how it came about.
public struct ExecutionAnswer: Hashable, WireObject {
    public var traceID: TraceID
    public var questionID: QuestionID?
    /// The produced text, what produced it, and how long that took.
    public var response: ExecutedResponse
    /// The answer of the operation, as its own endpoint gives it.
    public var result: JSONObject
    public var execution: ExecutionReport

    public init(
        traceID: TraceID, questionID: QuestionID?, response: ExecutedResponse, result: JSONObject,
        execution: ExecutionReport
    ) {
        self.traceID = traceID
        self.questionID = questionID
        self.response = response
        self.result = result
        self.execution = execution
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        traceID = try fields.required("trace_id")
        questionID = try fields.optional("question_id")
        response = try fields.required("response")
        result = try fields.required("result")
        execution = try fields.required("execution")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("trace_id", traceID)
            json.field("question_id", questionID)
            json.field("status", "success")
            json.field("response", response)
            json.field("result", result)
            json.field("execution", execution)
        }
    }
}

/// The text of an answer.
public struct ExecutedResponse: Hashable, WireObject {
    /// Empty where the operation gives figures only.
    public var content: String
    /// The model, or `heuristic` for the rules.
    public var model: String
    public var latencyMilliseconds: Double

    public init(content: String, model: String, latencyMilliseconds: Double) {
        self.content = content
        self.model = model
        self.latencyMilliseconds = latencyMilliseconds
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        content = try fields.required("content")
        model = try fields.required("model")
        latencyMilliseconds = try fields.required("latency_ms")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("content", content)
            json.field("model", model)
            json.field("latency_ms", latencyMilliseconds)
        }
    }
}

/// Declines what a refused question asked the person to confirm.
public struct ConfirmationReply: Hashable, WireObject {
    public var confirmation: Secret
    /// Whether the person accepts: only false, because whoever accepts asks again, with the confirmation.
    public var isAccepted: Bool

    public init(confirmation: Secret, isAccepted: Bool = false) {
        self.confirmation = confirmation
        self.isAccepted = isAccepted
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        confirmation = try fields.secret("confirmation", 1...64)
        isAccepted = try fields.required("accept")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("confirmation", confirmation)
            json.field("accept", isAccepted)
        }
    }
}

/// A question that was given up.
public struct CancelledExecution: Hashable, WireObject {
    public init() {}

    public init(_: FieldReader) {}

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("status", "cancelled")
            json.field("error_code", ExecutionCode.cancelled.rawValue)
        }
    }
}

/// Begins an AI session, which groups the questions of one conversation.
public struct AISessionCreate: Hashable, WireObject {
    public var familyID: FamilyID

    public init(familyID: FamilyID) {
        self.familyID = familyID
    }

    public init(_ fields: FieldReader) throws(InvalidInput) { familyID = try fields.required("family_id") }

    public func write(to json: inout JSONWriter) {
        json.object { json in json.field("family_id", familyID) }
    }
}

/// An AI session that has begun.
public struct AISession: Hashable, WireObject {
    /// Secret; the server keeps its digest only.
    public var sessionID: Secret
    /// The time at which it ends unless it is used before.
    public var expiresAt: Timestamp

    public init(sessionID: Secret, expiresAt: Timestamp) {
        self.sessionID = sessionID
        self.expiresAt = expiresAt
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        sessionID = try fields.secret("session_id", 1...64)
        expiresAt = try fields.required("expires_at")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("session_id", sessionID)
            json.field("expires_at", expiresAt)
        }
    }
}

/// Names an AI session.
public struct AISessionName: Hashable, WireObject {
    public var sessionID: Secret

    public init(sessionID: Secret) {
        self.sessionID = sessionID
    }

    public init(_ fields: FieldReader) throws(InvalidInput) { sessionID = try fields.secret("session_id", 1...64) }

    public func write(to json: inout JSONWriter) {
        json.object { json in json.field("session_id", sessionID) }
    }
}
