/// The names of fields in messages for people. Programs read the wire names in `details.field`.
enum FieldWords {
    /// The subjects of fields whose wire name does not give them.
    private static let irregularSubjects: [Substring: String] = [
        "pin": "The PIN", "current_pin": "The current PIN", "prefs_json": "The preferences",
        "committed_at": "The promised time", "made_at": "The time of the input", "email": "The email address",
        "phone": "The telephone number",
        "invitee_email": "The invited person's email address",
    ]

    /// Returns the subject of a sentence about a field, such as "The due time (entry 4)".
    /// - Parameter path: as in `InvalidInput.field`.
    static func subject(of path: String) -> String {
        let name = path.split(separator: ".").last?.prefix { $0 != "[" } ?? ""
        let subject = irregularSubjects[name] ?? (name.isEmpty ? "The list" : "The \(spelledOut(name))")
        // A member's name that the client chose may contain brackets with a number of any size.
        guard let start = path.lastIndex(of: "["), let index = UInt32(path[start...].dropFirst().prefix { $0 != "]" })
        else {
            return subject
        }
        return "\(subject) (entry \(UInt64(index) + 1))"
    }

    /// Returns a wire name as words: "recipient ID" for `recipient_id`.
    private static func spelledOut(_ name: Substring) -> String {
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
