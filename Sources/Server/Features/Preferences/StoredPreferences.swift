import Domain
import JSON

/// A person's preferences as they are stored: what they have set, unknown keys included.
struct StoredPreferences {
    let document: JSONObject

    init(_ document: JSONObject) { self.document = document }

    /// Reads a `prefs` column; nil is a person who has set nothing.
    init(json: String?) throws {
        document = try json.map { try JSONValue(parsing: $0).objectValue ?? JSONObject() } ?? JSONObject()
    }

    /// The part that rules look at.
    var overrides: PreferenceOverrides {
        PreferenceOverrides { key in
            switch document[key.rawValue] {
            case .bool(let flag)?: .flag(flag)
            case .string(let text)?: .text(text)
            default: nil
            }
        }
    }
}
