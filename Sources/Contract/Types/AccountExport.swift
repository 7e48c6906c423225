import Domain
import JSON

extension AccountCreate {
    /// Reads a body. An empty one is read as an object without fields.
    public init(content bytes: Span<UInt8>) throws(APIError) {
        if bytes.isEmpty { self.init() } else { try self.init(document: bytes) }
    }
}

/// The export of an account's data, as lists of objects.
public struct AccountExport: Hashable, WireObject {
    /// The lists, in the order in which they are written.
    public enum Section: String, Sendable, CaseIterable {
        case account, sessions, memberships, nags, excuses, notes, preferences, consents, devices, deliveries, blocks
        case abuseReports = "abuse_reports"
        case points, badges, incentives, connections, attachments
        case aiConstraints = "ai_constraints"
        case aiExecutions = "ai_executions"
        case aiAnswers = "ai_answers"
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
