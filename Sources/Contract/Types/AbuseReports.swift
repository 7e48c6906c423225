import Domain
import JSON

/// Reports somebody for abuse.
public struct AbuseReportCreate: Hashable, WireObject {
    public var targetID: UserID
    /// 1…2,000 characters.
    public var reason: String

    public init(targetID: UserID, reason: String) {
        self.targetID = targetID
        self.reason = reason
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        targetID = try fields.required("target_id")
        reason = try fields.text("reason", 1...2000)
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("target_id", targetID)
            json.field("reason", reason)
        }
    }
}

/// A report as its reporter and the guardians of their family see it.
public struct AbuseReportResponse: Hashable, WireObject {
    public var id: AbuseReportID
    public var reporterID: UserID
    public var targetID: UserID
    public var reason: String
    public var status: AbuseReportStatus

    public init(
        id: AbuseReportID, reporterID: UserID, targetID: UserID, reason: String, status: AbuseReportStatus
    ) {
        self.id = id
        self.reporterID = reporterID
        self.targetID = targetID
        self.reason = reason
        self.status = status
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.required("id")
        reporterID = try fields.required("reporter_id")
        targetID = try fields.required("target_id")
        reason = try fields.required("reason")
        status = try fields.required("status")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id)
            json.field("reporter_id", reporterID)
            json.field("target_id", targetID)
            json.field("reason", reason)
            json.field("status", status)
        }
    }
}

/// A report as an administrator reviews it.
public struct AbuseReportReview: Hashable, WireObject {
    public var report: AbuseReportResponse
    /// The family that both were in; nil where there was none.
    public var familyID: FamilyID?
    public var severity: AbuseReportSeverity
    public var createdAt: Timestamp
    public var updatedAt: Timestamp
    /// Seconds since the report.
    public var age: Int
    /// The time by which the review should have ended.
    public var reviewDueAt: Timestamp

    public init(
        report: AbuseReportResponse, familyID: FamilyID?, severity: AbuseReportSeverity, createdAt: Timestamp,
        updatedAt: Timestamp, age: Int, reviewDueAt: Timestamp
    ) {
        self.report = report
        self.familyID = familyID
        self.severity = severity
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.age = age
        self.reviewDueAt = reviewDueAt
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        report = try AbuseReportResponse(fields)
        familyID = try fields.optional("family_id")
        severity = try fields.required("severity")
        createdAt = try fields.required("created_at")
        updatedAt = try fields.required("updated_at")
        age = try fields.required("age_seconds")
        reviewDueAt = try fields.required("review_due_at")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", report.id)
            json.field("reporter_id", report.reporterID)
            json.field("target_id", report.targetID)
            json.field("reason", report.reason)
            json.field("status", report.status)
            json.field("family_id", familyID)
            json.field("severity", severity)
            json.field("created_at", createdAt)
            json.field("updated_at", updatedAt)
            json.field("age_seconds", age)
            json.field("review_due_at", reviewDueAt)
        }
    }
}

/// The next step of a review.
public struct AbuseReportReviewUpdate: Hashable, WireObject {
    public var status: AbuseReportStatus
    /// The severity; nil leaves it as it is.
    public var severity: AbuseReportSeverity?
    /// The reason, for the audit log: 1…2,000 characters.
    public var note: String?

    public init(status: AbuseReportStatus, severity: AbuseReportSeverity? = nil, note: String? = nil) {
        self.status = status
        self.severity = severity
        self.note = note
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        status = try fields.required("status")
        severity = try fields.optional("severity")
        note = try fields.optionalText("note", 1...2000)
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("status", status)
            json.fieldIfPresent("severity", severity)
            json.fieldIfPresent("note", note)
        }
    }
}
