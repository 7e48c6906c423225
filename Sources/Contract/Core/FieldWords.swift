/// The names of inputs in messages for people, who see no wire names. Programs read those in `details.field`.
enum FieldWords {
    /// The names that do not follow from the wire name.
    private static let words: [Substring: String] = [
        "pin": "The PIN", "current_pin": "The current PIN", "prefs_json": "The preferences",
        "committed_at": "The promised time", "made_at": "The time of the input", "email": "The email address",
        "phone": "The telephone number",
        "invitee_email": "The invited person's email address",
    ]

    /// Returns the subject of a sentence about a field, such as "The due time (entry 4)".
    /// - Parameter path: as in `InvalidInput.field`.
    static func subject(of path: String) -> String {
        let name = path.split(separator: ".").last?.prefix { $0 != "[" } ?? ""
        let subject = words[name] ?? (name.isEmpty ? "The list" : "The \(plain(name))")
        // A part of the path may be a client's own name: its number may be any.
        guard let start = path.lastIndex(of: "["), let index = UInt32(path[start...].dropFirst().prefix { $0 != "]" })
        else {
            return subject
        }
        return "\(subject) (entry \(UInt64(index) + 1))"
    }

    /// A wire name as words: `recipient_id` is "recipient ID".
    private static func plain(_ name: Substring) -> String {
        name.split(separator: "_").map { word in
            switch word {
            case "at": "time"
            case "ai", "id", "url": word.uppercased()
            case "ids": "IDs"
            default: String(word)
            }
        }.joined(separator: " ")
    }
}
