import JSON

/// Whether the server can do its work, and how the audit log and the scheduler stand.
public struct ReadinessAnswer: Hashable, WireObject {
    public var status: String
    /// `current`, `late`, `broken` or `off`: anything but `current` wants somebody to look.
    public var auditLog: String
    /// `explained`, `unexplained`, `incomplete`, `running` or `off`: what the last full check of the log and of the state
    /// against it came to.
    public var auditState: String
    /// `current`, `late` or `off`: whether nags escalate in time.
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

/// The short answer of an operation that has nothing else to say.
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
