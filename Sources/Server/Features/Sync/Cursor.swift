import Domain

/// A position in one family's feed, opaque to clients. It contains the family, the epoch, the last stamp that was read,
/// what the reader could see, and the day on which it was issued.
struct Cursor {
    /// The times that a family clock can have.
    private static let clockRange = Timestamp.epoch...Timestamp.lastSecond

    let family: FamilyID
    /// The feed's epoch when the cursor was issued (`FeedEpoch`).
    let epoch: Int64
    /// The reader has every row that is stamped with this time or earlier.
    let position: Timestamp
    let visibility: FeedVisibility
    /// The day on which the cursor was issued, in days since 1970. The position can be much older, as in a full resync.
    let issueDay: Int64

    init(family: FamilyID, epoch: Int64, position: Timestamp, visibility: FeedVisibility, issuedAt now: Timestamp) {
        self.family = family
        self.epoch = epoch
        self.position = position
        self.visibility = visibility
        issueDay = min(max(floorDivide(now.seconds, 86_400), 0), 65_535)
    }

    /// Parses a cursor; nil for other text.
    init?(_ text: String) {
        guard let bytes = bytes(base64URL: text[...]), bytes.count == 42 else { return nil }
        func word(_ index: Int) -> UInt64 { bytes[(index * 8)..<(index * 8 + 8)].reduce(0) { $0 << 8 | UInt64($1) } }
        family = FamilyID(high: word(0), low: word(1))
        epoch = Int64(bitPattern: word(2))
        position = Timestamp(microseconds: Int64(bitPattern: word(3)))
        visibility = FeedVisibility(rawValue: Int64(bitPattern: word(4)))
        issueDay = Int64(bytes[40]) << 8 | Int64(bytes[41])
        guard Self.clockRange.contains(position), visibility.rawValue >= 0 else { return nil }
    }

    var text: String {
        var bytes = family.bytes
        for word in [epoch, position.microseconds, visibility.rawValue] {
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: word >> Int64(shift)))
            }
        }
        return base64URL(bytes + [UInt8(truncatingIfNeeded: issueDay >> 8), UInt8(truncatingIfNeeded: issueDay)])
    }

    /// Whether the cursor is so recent that no nag that closed after it can have left the feed.
    func isWithinNagRetention(at now: Timestamp) -> Bool {
        Timestamp(seconds: issueDay * 86_400) >= now - SyncStatements.closedNagRetention
    }
}
