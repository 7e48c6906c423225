import JSON

/// Whether the server can serve requests, with the status of the audit log and of the scheduler.
public struct ReadinessAnswer: Hashable, WireObject {
    public var status: String
    /// `current`, `late`, `broken` or `off`. Every value except `current` needs attention.
    public var auditLog: String
    /// `explained`, `unexplained`, `incomplete`, `running` or `off`: the result of the last full check of the log and
    /// the database.
    public var auditState: String
    /// `current`, `late` or `off`: whether nags escalate on time.
    public var scheduler: String

    public init(status: String, auditLog: String, auditState: String, scheduler: String) {
        self.status = status
        self.auditLog = auditLog
        self.auditState = auditState
        self.scheduler = scheduler
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        status = try fields.required("status")
        auditLog = try fields.required("audit_log")
        auditState = try fields.required("audit_state")
        scheduler = try fields.required("scheduler")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("status", status)
            json.field("audit_log", auditLog)
            json.field("audit_state", auditState)
            json.field("scheduler", scheduler)
        }
    }
}

/// A response with only a status.
public struct StatusAnswer: Hashable, WireObject {
    public var status: String

    public init(status: String) {
        self.status = status
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        status = try fields.required("status")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("status", status)
        }
    }
}
