import Domain
import JSON

/// Whether the server can serve requests, with the status of the audit log and of the scheduler.
public struct ReadinessAnswer: Hashable, WireObject {
    public var status: String
    /// `current`, `late`, `broken` or `off`. Every value except `current` needs attention.
    public var auditLog: String
    /// `explained`, `unexplained`, `incomplete`, `running` or `off`: the result of the last full check of the log and
    /// the database.
    public var auditState: String
    /// The time at which the last full check ended; nil before the first one.
    public var auditCheckedAt: Timestamp?
    /// The progress of the check under way in percent, compared with the last one; nil between checks, and during the
    /// first one.
    public var auditCheckPercent: Int?
    /// The number of findings of verifications on request that nobody has acknowledged.
    public var auditFindings: Int
    /// `current`, `late` or `off`: whether nags escalate on time.
    public var scheduler: String

    public init(
        status: String, auditLog: String, auditState: String, auditCheckedAt: Timestamp? = nil,
        auditCheckPercent: Int? = nil, auditFindings: Int = 0, scheduler: String
    ) {
        self.status = status
        self.auditLog = auditLog
        self.auditState = auditState
        self.auditCheckedAt = auditCheckedAt
        self.auditCheckPercent = auditCheckPercent
        self.auditFindings = auditFindings
        self.scheduler = scheduler
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        status = try fields.required("status")
        auditLog = try fields.required("audit_log")
        auditState = try fields.required("audit_state")
        auditCheckedAt = try fields.optional("audit_checked_at")
        auditCheckPercent = try fields.optional("audit_check_percent")
        auditFindings = try fields.optional("audit_findings") ?? 0
        scheduler = try fields.required("scheduler")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("status", status)
            json.field("audit_log", auditLog)
            json.field("audit_state", auditState)
            json.field("audit_checked_at", auditCheckedAt)
            json.field("audit_check_percent", auditCheckPercent)
            json.field("audit_findings", auditFindings)
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
