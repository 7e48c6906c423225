import Domain
import JSON
import Postgres
import SQL

/// The preferences that a person has set in a family, read from the expression `PreferenceStatements.preferences`.
struct StoredPreferences: SQLDecodable, Hashable {
    /// The stored preferences, including unknown names and without defaults.
    var document: JSONObject

    init(_ document: JSONObject = JSONObject()) { self.document = document }

    /// Reads the document; null means that no preferences are stored. Returns nil if the cell is no JSON object.
    init?(cell: (some SQLCell)?) {
        guard let cell else {
            document = JSONObject()
            return
        }
        guard let text = cell.text, let object = (try? JSONValue(parsing: Array(text.utf8).span))?.objectValue else {
            return nil
        }
        document = object
    }

    /// The person's own settings, which override the family's and the defaults.
    var overrides: PreferenceOverrides {
        PreferenceOverrides { key in
            switch document[key.rawValue] {
            case .bool(let flag): .flag(flag)
            case .string(let text): .text(text)
            case .integer, .double: document[key.rawValue]?.integerValue.flatMap(Int.init(exactly:)).map { .number($0) }
            default: nil
            }
        }
    }

    /// Whether these preferences switch the server's AI off for the person. The column `is_enabled` of `AIStatements`
    /// is the opposite.
    var switchesServerAIOff: Bool {
        document[PreferenceKey.aiServerEnabled.rawValue] == .bool(false)
            || document[PreferenceKey.aiMode.rawValue] == .string(AIMode.off.rawValue)
    }

    /// Returns the effective preferences in a family with that time zone.
    /// - Parameter childQuietHours: the quiet hours that guardians have set for a child; they replace the child's own.
    func effective(familyZone timeZone: String, childQuietHours: QuietHours? = nil) -> Preferences {
        var family = PreferenceOverrides()
        family.timeZone = timeZone
        var preferences = Preferences(family: family, user: overrides)
        if let childQuietHours {
            (preferences.quietHoursEnabled, preferences.quietWindow) = (true, childQuietHours)
        }
        return preferences
    }

    /// Returns the document as clients see it: the defaults, replaced by the person's values, and the unknown names.
    func documentWithDefaults(familyZone timeZone: String) -> JSONObject {
        var document = Self.defaults
        document[PreferenceKey.timeZone.rawValue] = .string(timeZone)
        for member in self.document.members { document[member.key] = member.value }
        return document
    }

    /// The default values by their keys in the document, without the preferences whose default is nil.
    private static let defaults: JSONObject = {
        let standard = Preferences()
        return [
            PreferenceKey.gamificationEnabled.rawValue: .bool(standard.gamificationEnabled),
            PreferenceKey.quietHoursEnabled.rawValue: .bool(standard.quietHoursEnabled),
            PreferenceKey.quietHoursStart.rawValue: .string(hourAndMinute(standard.quietWindow.start)),
            PreferenceKey.quietHoursEnd.rawValue: .string(hourAndMinute(standard.quietWindow.end)),
            PreferenceKey.timeZone.rawValue: .string(standard.timeZone),
            PreferenceKey.notificationFrequency.rawValue: .string(standard.notificationFrequency.rawValue),
            PreferenceKey.digestAt.rawValue: .string(hourAndMinute(standard.digestAt)),
            PreferenceKey.deliveryChannel.rawValue: .string(standard.deliveryChannel.rawValue),
            PreferenceKey.aiServerEnabled.rawValue: .bool(standard.aiServerEnabled),
            PreferenceKey.aiOnDeviceEnabled.rawValue: .bool(standard.aiOnDeviceEnabled),
            PreferenceKey.pushBackMode.rawValue: .string(standard.pushBackMode.rawValue),
            PreferenceKey.useCommitTimeForEscalation.rawValue: .bool(standard.usesCommitTimeForEscalation),
            PreferenceKey.notifySentOverdue.rawValue: .bool(standard.notifiesSentOverdue),
            PreferenceKey.tone.rawValue: .string(standard.tone.rawValue),
            PreferenceKey.aiMode.rawValue: .string(standard.aiMode.rawValue),
            PreferenceKey.aiPrivacyLevel.rawValue: .string(standard.aiPrivacyLevel.rawValue),
            PreferenceKey.aiTokenThreshold.rawValue: .integer(Int64(standard.aiTokenThreshold)),
            PreferenceKey.aiLogRetentionDays.rawValue: .integer(Int64(standard.aiLogRetentionDays)),
            PreferenceKey.aiLogErrorsOnly.rawValue: .bool(standard.aiLogsErrorsOnly),
        ]
    }()

    private static func hourAndMinute(_ time: TimeOfDay) -> String { String(time.description.prefix(5)) }
}

extension QuietHours {
    /// Reads the columns of `PreferenceStatements.childQuietHoursColumns`; nil where none are set.
    init?(ofChild row: Row) throws(PostgresError) {
        guard let start: TimeOfDay = try row["child_quiet_start"], let end: TimeOfDay = try row["child_quiet_end"]
        else {
            return nil
        }
        self.init(start: start, end: end)
    }
}
