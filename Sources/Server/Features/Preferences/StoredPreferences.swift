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
        guard let text = cell.text, let object = (try? JSONValue(parsing: text.utf8.span))?.objectValue else {
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
}
