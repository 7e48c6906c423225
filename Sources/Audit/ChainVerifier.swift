import Domain

/// Verifies one family's entries in order and finds the first invalid one.
public struct ChainVerifier {
    /// A reason for which an entry is invalid.
    public enum Fault: Error, Hashable, Sendable {
        /// The next number is missing: an entry was removed, added or moved.
        case outOfOrder(expected: Int64, found: Int64)
        /// The entry belongs to another family's chain.
        case foreignFamily(number: Int64)
        /// The entry does not continue from the previous entry.
        case brokenLink(number: Int64)
        /// The entry was changed after it was written.
        case alteredEntry(number: Int64)
        /// The time is not later than the previous entry's.
        case backdated(number: Int64)
        /// The body does not match the entry's commitment.
        case alteredBody(number: Int64)
    }

    public let family: FamilyID
    public private(set) var lastNumber: Int64 = 0
    /// The hash of the last entry that was checked.
    public private(set) var head = AuditEntry.genesisHash
    private var lastTime = Timestamp(microseconds: .min)

    public init(family: FamilyID) { self.family = family }

    /// Creates a verifier that continues after the entries that retention deleted.
    public init(family: FamilyID, after number: Int64, head: [UInt8]) {
        self.family = family
        lastNumber = number
        self.head = head
    }

    /// Checks the next entry.
    /// - Parameter payload: the entry's salt and body; nil where they are erased or cannot be read.
    public mutating func check(_ entry: AuditEntry, payload: (salt: [UInt8], body: [UInt8])?) throws(Fault) {
        let payload = payload.map { ExportRecord.Payload.whole(salt: $0.salt, body: $0.body) } ?? .erased
        try check(PreparedEntry(entry, payload, position: nil))
    }

    /// Checks the next entry.
    public mutating func check(_ prepared: PreparedEntry) throws(Fault) {
        let entry = prepared.entry
        guard entry.number == lastNumber + 1 else {
            throw .outOfOrder(expected: lastNumber + 1, found: entry.number)
        }
        guard entry.family == family else { throw .foreignFamily(number: entry.number) }
        guard entry.previous == head else { throw .brokenLink(number: entry.number) }
        guard prepared.isUnaltered else { throw .alteredEntry(number: entry.number) }
        guard entry.at > lastTime else { throw .backdated(number: entry.number) }
        guard prepared.isBodyUnaltered else { throw .alteredBody(number: entry.number) }
        (lastNumber, head, lastTime) = (entry.number, entry.hash, entry.at)
    }
}
