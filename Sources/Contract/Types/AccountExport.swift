import Domain
import JSON

/// Fills what is empty in the caller's account.
public struct AccountCreate: Hashable, WireObject {
    public var email: EmailAddress?
    public var displayName: String?
    /// The date of birth. Only its date part counts.
    public var dateOfBirth: DateOfBirth?

    public init(email: EmailAddress? = nil, displayName: String? = nil, dateOfBirth: DateOfBirth? = nil) {
        self.email = email
        self.displayName = displayName
        self.dateOfBirth = dateOfBirth
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        email = try fields.optional("email")
        displayName = try fields.optionalName("display_name", 255)
        dateOfBirth = try fields.optional("date_of_birth")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.fieldIfPresent("email", email)
            json.fieldIfPresent("display_name", displayName)
            json.fieldIfPresent("date_of_birth", dateOfBirth)
        }
    }

    /// No body is one without fields.
    public init(content bytes: Span<UInt8>) throws(APIError) {
        if bytes.isEmpty { self.init() } else { try self.init(document: bytes) }
    }
}

/// Everything that belongs to an account, as lists of objects.
public struct AccountExport: Hashable, WireObject {
    /// The lists, in the order in which they are written.
    public enum Section: String, Sendable, CaseIterable {
        case account, memberships, nags, excuses, notes, preferences, consents, devices, blocks
        case abuseReports = "abuse_reports"
        case points, badges, incentives, connections, attachments
        case aiConstraints = "ai_constraints"
        case aiExecutions = "ai_executions"
        case aiKeys = "ai_keys"
        case drafts, inputs
    }

    public var sections: [Section: [JSONObject]]

    public init(sections: [Section: [JSONObject]]) {
        self.sections = sections
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        sections = [:]
        for section in Section.allCases { sections[section] = try fields.required(section.rawValue) }
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            for section in Section.allCases {
                json.key(escaping: section.rawValue)
                (sections[section] ?? []).write(to: &json)
            }
        }
    }
}
