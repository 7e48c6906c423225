/// The `If-Match` field of a request (RFC 9110, section 13.1.1).
enum IfMatch {
    /// Returns whether the field names an entity tag, by strong comparison. `*` names every tag. Quotes in the field
    /// are optional.
    /// - Parameter tag: the entity tag with its quotes.
    static func matches(_ tag: String, in field: String) -> Bool {
        field.split(separator: ",").map { $0.trimmingPrefix { $0 == " " || $0 == "\t" } }.contains { candidate in
            var candidate = candidate
            while candidate.last == " " || candidate.last == "\t" { candidate.removeLast() }
            return candidate == "*" || candidate == tag || "\"\(candidate)\"" == tag
        }
    }
}
