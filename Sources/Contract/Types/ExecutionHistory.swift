import Domain
import JSON
import NagzAI

/// One attempt to answer a question, as the history shows it: no words of the question or the answer.
public struct ExecutionRecord: Hashable, WireObject {
    public var id: ExecutionID
    public var familyID: FamilyID
    /// The person who asked.
    public var userID: UserID
    public var traceID: TraceID
    public var questionID: QuestionID?
    public var operation: AskedOperation
    public var nagID: NagID?
    /// The error's code; nil for an answer.
    public var errorCode: String?
    public var createdAt: Timestamp
    public var execution: ExecutionReport

    public init(
        id: ExecutionID, familyID: FamilyID, userID: UserID, traceID: TraceID, questionID: QuestionID?,
        operation: AskedOperation, nagID: NagID?, errorCode: String?, createdAt: Timestamp, execution: ExecutionReport
    ) {
        self.id = id
        self.familyID = familyID
        self.userID = userID
        self.traceID = traceID
        self.questionID = questionID
        self.operation = operation
        self.nagID = nagID
        self.errorCode = errorCode
        self.createdAt = createdAt
        self.execution = execution
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.required("id")
        familyID = try fields.required("family_id")
        userID = try fields.required("user_id")
        traceID = try fields.required("trace_id")
        questionID = try fields.optional("question_id")
        operation = try fields.required("operation")
        nagID = try fields.optional("nag_id")
        errorCode = try fields.optional("error_code")
        createdAt = try fields.required("created_at")
        execution = try fields.required("execution")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id)
            json.field("family_id", familyID)
            json.field("user_id", userID)
            json.field("trace_id", traceID)
            json.field("question_id", questionID)
            json.field("operation", operation)
            json.field("nag_id", nagID)
            json.field("result", errorCode == nil ? ExecutionResult.success : .error)
            json.field("error_code", errorCode)
            json.field("created_at", createdAt)
            json.field("execution", execution)
        }
    }
}

/// Whether a question was answered.
public enum ExecutionResult: String, Sendable, CaseIterable, WireEnumeration { case success, error }

/// A page of the history, newest first.
public struct ExecutionPage: Hashable, WireObject {
    public var items: [ExecutionRecord]
    /// The cursor of the next page; nil at the end.
    public var nextCursor: String?

    public init(items: [ExecutionRecord], nextCursor: String?) {
        self.items = items
        self.nextCursor = nextCursor
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        items = try fields.required("items")
        nextCursor = try fields.optional("next_cursor")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("items", items)
            json.field("next_cursor", nextCursor)
        }
    }
}

/// Every attempt under one trace, the oldest first.
public struct ExecutionTrace: Hashable, WireObject {
    public var traceID: TraceID
    public var attempts: [ExecutionRecord]

    public init(traceID: TraceID, attempts: [ExecutionRecord]) {
        self.traceID = traceID
        self.attempts = attempts
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        traceID = try fields.required("trace_id")
        attempts = try fields.required("attempts")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("trace_id", traceID)
            json.field("attempts", attempts)
        }
    }
}

/// The number of records that were deleted.
public struct ExecutionDeletion: Hashable, WireObject {
    public var deleted: Int

    public init(deleted: Int) {
        self.deleted = deleted
    }

    public init(_ fields: FieldReader) throws(InvalidInput) { deleted = try fields.required("deleted") }

    public func write(to json: inout JSONWriter) {
        json.object { json in json.field("deleted", deleted) }
    }
}
