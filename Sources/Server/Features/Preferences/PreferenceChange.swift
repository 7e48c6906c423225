import Audit
import Contract
import Domain
import JSON
import TimeZones

/// A change to a preferences document, validated as far as the server understands it.
///
/// Known names must have valid values; names that only a family's policy may set are refused; all others belong to the
/// clients and are stored as they are.
struct PreferenceChange {
    /// The largest size of a member's document, in bytes.
    static let maxDocumentBytes = 32 << 10

    private let members: [JSONObject.Member]

    /// Creates a change, and validates its values.
    /// - Throws: 422 with the reason, naming the field as `prefs_json.<name>`.
    init(_ update: JSONObject) throws(APIError) {
        members = update.members
        for member in members {
            let field = "prefs_json.\(member.key)"
            guard !Self.policyNames.contains(member.key) else { throw APIError.policyDecides(field: field) }
            if let key = PreferenceKey(rawValue: member.key), member.value != .null,
                let fault = Self.fault(of: member.value, for: key)
            {
                throw APIError(InvalidInput(fault, field: field))
            }
        }
    }

    /// Returns the document after the change.
    /// - Throws: 422 if the document would be larger than `maxDocumentBytes`.
    func applied(to stored: StoredPreferences) throws(APIError) -> StoredPreferences {
        var document = stored.document
        for member in members { document[member.key] = member.value == .null ? JSONValue?.none : member.value }
        guard JSONValue.object(document).bytes.count <= Self.maxDocumentBytes else {
            throw APIError.preferencesAreTooLarge(limit: Self.maxDocumentBytes)
        }
        return StoredPreferences(document)
    }

    /// The new value of a name; nil if the change does not contain the name.
    subscript(key: PreferenceKey) -> JSONValue? { members.last { $0.key == key.rawValue }?.value }

    /// Whether the change can move the times at which nags to the person escalate.
    var mayMoveEscalationSteps: Bool {
        members.contains { member in
            switch PreferenceKey(rawValue: member.key) {
            case .quietHoursEnabled, .quietHoursStart, .quietHoursEnd, .timeZone, .useCommitTimeForEscalation: true
            default: false
            }
        }
    }

    /// The details for the audit log: the known names in the change, and the number of its other names. They contain no
    /// values, and no words of clients.
    var details: AuditBody {
        let known = members.map(\.key).filter { PreferenceKey(rawValue: $0) != nil }.sorted()
        return ["names": known.joined(separator: ","), "other_names": "\(members.count - known.count)"]
    }

    /// The names that only a family's policy may set, including former names.
    private static let policyNames = Set(
        PolicyViolation.Field.allCases.map(\.rawValue) + PolicyChange.formerNames.keys
            + ["pushback_bounds", "role_rules"])

    /// Returns the reason for which a value is invalid; nil when it is valid.
    private static func fault(of value: JSONValue, for key: PreferenceKey) -> String? {
        switch key {
        case .gamificationEnabled, .quietHoursEnabled, .aiServerEnabled, .aiOnDeviceEnabled,
            .useCommitTimeForEscalation, .notifySentOverdue, .aiLogErrorsOnly:
            return value.boolValue == nil ? "must be true or false" : nil
        case .quietHoursStart, .quietHoursEnd, .digestAt:
            return value.stringValue.flatMap { TimeOfDay($0) } == nil ? "must be a time as HH:MM or HH:MM:SS" : nil
        case .timeZone:
            return value.stringValue.flatMap { ZoneDatabase.system.zone($0) } == nil
                ? "must be a zone of the IANA database, such as Europe/Berlin" : nil
        case .aiLocalModel, .aiCloudModel:
            guard let text = value.stringValue, (1...64).contains(text.unicodeScalars.count) else {
                return "must be a word of at most 64 characters"
            }
            return nil
        case .muteUntil:
            return value.stringValue.flatMap { Timestamp(rfc3339: $0) } == nil
                ? "must be a time such as 2026-03-01T18:00:00Z" : nil
        case .notificationFrequency: return fault(of: value, in: NotificationFrequency.self)
        case .deliveryChannel: return fault(of: value, in: PreferredChannel.self)
        case .pushBackMode: return fault(of: value, in: PushBackMode.self)
        case .tone: return fault(of: value, in: PreferredTone.self)
        case .aiMode:
            return value.stringValue.flatMap { AIMode(named: $0) } == nil ? fault(of: value, in: AIMode.self) : nil
        case .aiPrivacyLevel: return fault(of: value, in: PrivacyLevel.self)
        case .aiTokenThreshold: return fault(of: value, in: Preferences.aiTokenThresholdRange)
        case .aiLogRetentionDays: return fault(of: value, in: Preferences.aiLogRetentionDaysRange)
        }
    }

    private static func fault(of value: JSONValue, in range: ClosedRange<Int>) -> String? {
        guard let number = value.integerValue.flatMap(Int.init(exactly:)), range.contains(number) else {
            return "must be a whole number from \(range.lowerBound) to \(range.upperBound)"
        }
        return nil
    }

    private static func fault<Choice: RawRepresentable & CaseIterable>(
        of value: JSONValue, in _: Choice.Type
    ) -> String? where Choice.RawValue == String {
        guard value.stringValue.flatMap(Choice.init) == nil else { return nil }
        return "must be one of " + Choice.allCases.map(\.rawValue).joined(separator: ", ")
    }
}
