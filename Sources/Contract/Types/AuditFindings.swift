import Domain
import JSON

/// A fault of the audit log that a verification on request has found. The server keeps it until an administrator
/// acknowledges it.
public struct KeptFinding: Hashable, WireObject {
    public var id: AuditFindingID
    /// `verification` or `check`: the operation whose answer it was.
    public var source: String
    /// The fault in one word.
    public var code: String
    public var familyID: FamilyID?
    /// The entry.
    public var n: Int?
    public var message: String
    public var foundAt: Timestamp
    public var acknowledgedAt: Timestamp?
    public var acknowledgedBy: UserID?
    /// The reason in the administrator's words.
    public var reason: String?

    public init(
        id: AuditFindingID, source: String, code: String, familyID: FamilyID?, n: Int?, message: String,
        foundAt: Timestamp, acknowledgedAt: Timestamp? = nil, acknowledgedBy: UserID? = nil, reason: String? = nil
    ) {
        self.id = id
        self.source = source
        self.code = code
        self.familyID = familyID
        self.n = n
        self.message = message
        self.foundAt = foundAt
        self.acknowledgedAt = acknowledgedAt
        self.acknowledgedBy = acknowledgedBy
        self.reason = reason
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.required("id")
        source = try fields.required("source")
        code = try fields.required("code")
        familyID = try fields.optional("family_id")
        n = try fields.optional("n")
        message = try fields.required("message")
        foundAt = try fields.required("found_at")
        acknowledgedAt = try fields.optional("acknowledged_at")
        acknowledgedBy = try fields.optional("acknowledged_by")
        reason = try fields.optional("reason")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id)
            json.field("source", source)
            json.field("code", code)
            json.field("family_id", familyID)
            json.field("n", n)
            json.field("message", message)
            json.field("found_at", foundAt)
            json.field("acknowledged_at", acknowledgedAt)
            json.field("acknowledged_by", acknowledgedBy)
            json.field("reason", reason)
        }
    }
}

/// Acknowledges a finding.
public struct FindingAcknowledgement: Hashable, WireObject {
    public static let lengths = 1...500

    /// The result of the investigation, and what is done about it.
    public var reason: String

    public init(reason: String) { self.reason = reason }

    public init(_ fields: FieldReader) throws(InvalidInput) { reason = try fields.text("reason", Self.lengths) }

    public func write(to json: inout JSONWriter) { json.object { $0.field("reason", reason) } }
}

/// Checks a family's log and state now.
public struct AuditCheckOrder: Hashable, WireObject {
    /// The family; nil for a guardian's own.
    public var familyID: FamilyID?

    public init(familyID: FamilyID?) { self.familyID = familyID }

    public init(_ fields: FieldReader) throws(InvalidInput) { familyID = try fields.optional("family_id") }

    public func write(to json: inout JSONWriter) { json.object { $0.fieldIfPresent("family_id", familyID) } }
}

/// The result of a check of a family's log and state.
public struct AuditCheckResult: Hashable, WireObject {
    public var familyID: FamilyID
    /// `explained`, `unexplained` or `incomplete`.
    public var verdict: String
    public var entries: Int
    /// The rows that were compared with the log.
    public var rows: Int
    public var findings: Int
    public var unproven: Int
    /// The first of each, as sentences.
    public var firstFindings: [String]
    public var firstUnproven: [String]
    public var checkedAt: Timestamp

    public init(
        familyID: FamilyID, verdict: String, entries: Int, rows: Int, findings: Int, unproven: Int,
        firstFindings: [String], firstUnproven: [String], checkedAt: Timestamp
    ) {
        self.familyID = familyID
        self.verdict = verdict
        self.entries = entries
        self.rows = rows
        self.findings = findings
        self.unproven = unproven
        self.firstFindings = firstFindings
        self.firstUnproven = firstUnproven
        self.checkedAt = checkedAt
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        familyID = try fields.required("family_id")
        verdict = try fields.required("verdict")
        entries = try fields.required("entries")
        rows = try fields.required("rows")
        findings = try fields.required("findings")
        unproven = try fields.required("unproven")
        firstFindings = try fields.required("first_findings")
        firstUnproven = try fields.required("first_unproven")
        checkedAt = try fields.required("checked_at")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("family_id", familyID)
            json.field("verdict", verdict)
            json.field("entries", entries)
            json.field("rows", rows)
            json.field("findings", findings)
            json.field("unproven", unproven)
            json.field("first_findings", firstFindings)
            json.field("first_unproven", firstUnproven)
            json.field("checked_at", checkedAt)
        }
    }
}
