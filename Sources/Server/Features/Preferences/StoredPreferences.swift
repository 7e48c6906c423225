import Domain
import JSON
import Postgres

/// What a person has set in a family, as the database keeps it: read it from a row whose column is
/// `PreferenceStatements.stored`.
struct StoredPreferences: PostgresDecodable, Hashable {
    /// Unknown names included; nothing of the defaults.
    var document: JSONObject

    init(_ document: JSONObject = JSONObject()) { self.document = document }

    /// Null is nothing set.
    init?(postgres cell: Cell?) {
        guard let cell else {
            document = JSONObject()
            return
        }
        guard let text = cell.text, let object = (try? JSONValue(parsing: Array(text.utf8).span))?.objectValue else {
            return nil
        }
        document = object
    }

    /// The layer that the rules put over the family's.
    var overrides: PreferenceOverrides {
        PreferenceOverrides { key in
            switch document[key.rawValue] {
            case .bool(let flag): .flag(flag)
            case .string(let text): .text(text)
            default: nil
            }
        }
    }

    /// What holds for the person in a family with that time zone.
    func effective(inFamilyAt timeZone: String) -> Preferences {
        var family = PreferenceOverrides()
        family.timeZone = timeZone
        return Preferences(family: family, user: overrides)
    }

    /// The whole document as clients see it: every default, the person's own values over them, and whatever else is
    /// stored.
    func overlaid(inFamilyAt timeZone: String) -> JSONObject {
        var document = Self.defaults
        document[PreferenceKey.timeZone.rawValue] = .string(timeZone)
        for member in self.document.members { document[member.key] = member.value }
        return document
    }

    /// The defaults of the rules, in the words of the contract.
    private static let defaults: JSONObject = {
        let standard = Preferences()
        return [
            PreferenceKey.gamificationEnabled.rawValue: .bool(standard.gamificationEnabled),
            PreferenceKey.quietHoursEnabled.rawValue: .bool(standard.quietHoursEnabled),
            PreferenceKey.quietHoursStart.rawValue: .string(hourAndMinute(standard.quietWindow.start)),
            PreferenceKey.quietHoursEnd.rawValue: .string(hourAndMinute(standard.quietWindow.end)),
            PreferenceKey.timeZone.rawValue: .string(standard.timeZone),
            PreferenceKey.notificationFrequency.rawValue: .string(standard.notificationFrequency),
            PreferenceKey.deliveryChannel.rawValue: .string(standard.deliveryChannel.rawValue),
            PreferenceKey.aiServerEnabled.rawValue: .bool(standard.aiServerEnabled),
            PreferenceKey.aiOnDeviceEnabled.rawValue: .bool(standard.aiOnDeviceEnabled),
            PreferenceKey.pushBackMode.rawValue: .string(standard.pushBackMode.rawValue),
            PreferenceKey.useCommitTimeForEscalation.rawValue: .bool(standard.usesCommitTimeForEscalation),
            PreferenceKey.notifySentOverdue.rawValue: .bool(standard.notifiesSentOverdue),
            PreferenceKey.tone.rawValue: .string(standard.tone.rawValue),
        ]
    }()

    private static func hourAndMinute(_ time: TimeOfDay) -> String { String(time.description.prefix(5)) }
}
