import Contract
import Domain

/// A position in a list of the audit log, opaque to clients. The next page contains the entries of earlier times, and
/// those of the same time that come before this family and number.
struct AuditCursor: Hashable {
    /// The family of the last entry that was listed. If `number` is 0, it is the family whose audit log is read, or
    /// `outside` for the log of all families.
    let family: FamilyID
    /// The number of the last entry that was listed or searched; 0 if no entry of the time `at` is left.
    let number: Int64
    /// The time of the last entry that was listed or searched.
    var at = Timestamp.epoch

    /// Returns the position just below a moment: that moment and later ones are excluded.
    static func below(_ moment: Timestamp, of family: FamilyID?) -> AuditCursor {
        AuditCursor(family: family ?? .outside, number: 0, at: moment)
    }

    /// Parses a cursor; nil when there is none.
    /// - Throws: 422 for text that is not a cursor of this list.
    static func parse(_ text: String?, in family: FamilyID?) throws(APIError) -> AuditCursor? {
        guard let text else { return nil }
        guard let bytes = bytes(base64URL: text[...]), bytes.count == 32 else { throw APIError.auditCursorIsUnknown }
        func word(_ index: Int) -> UInt64 { bytes[(index * 8)..<(index * 8 + 8)].reduce(0) { $0 << 8 | UInt64($1) } }
        let cursor = AuditCursor(
            family: FamilyID(high: word(0), low: word(1)), number: Int64(bitPattern: word(2)),
            at: Timestamp(microseconds: Int64(bitPattern: word(3))))
        guard family == nil || cursor.family == family,
            (Timestamp.epoch...Timestamp.lastSecond).contains(cursor.at)
        else { throw APIError.auditCursorIsUnknown }
        return cursor
    }

    /// The cursor as clients get it, in base64url.
    var wireText: String {
        let words = [number, at.microseconds]
        return base64URL(
            family.bytes
                + words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> Int64(56 - 8 * $0)) } })
    }
}
