import Domain

/// A place in one family's feed, opaque to clients: family, epoch, the last stamp that was read, and what its reader could
/// see.
struct Cursor {
    /// The times a family clock can have.
    private static let times = Timestamp.epoch...Timestamp(seconds: 253_402_300_799)

    let family: FamilyID
    let epoch: Int64
    let place: Timestamp
    let sight: FeedSight

    init(family: FamilyID, epoch: Int64, place: Timestamp, sight: FeedSight) {
        self.family = family
        self.epoch = epoch
        self.place = place
        self.sight = sight
    }

    /// Nil for text that no cursor prints.
    init?(_ text: String) {
        guard let bytes = bytes(base64URL: text[...]), bytes.count == 33 else { return nil }
        func word(_ index: Int) -> UInt64 { bytes[(index * 8)..<(index * 8 + 8)].reduce(0) { $0 << 8 | UInt64($1) } }
        family = FamilyID(high: word(0), low: word(1))
        epoch = Int64(bitPattern: word(2))
        place = Timestamp(microseconds: Int64(bitPattern: word(3)))
        sight = FeedSight(rawValue: Int(bytes[32]))
        guard Self.times.contains(place), FeedSight.everything.isSuperset(of: sight) else { return nil }
    }

    var text: String {
        var bytes = family.bytes
        for word in [UInt64(bitPattern: epoch), UInt64(bitPattern: place.microseconds)] {
            for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift))) }
        }
        return base64URL(bytes + [UInt8(sight.rawValue)])
    }
}
