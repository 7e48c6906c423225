import Domain

/// The content of a signed note which says that retention deleted one family's entries up to a number.
public struct Prune: Hashable, Sendable {
    /// The log's name.
    public let origin: String
    public let family: FamilyID
    /// The number of the last deleted entry.
    public let lastNumber: Int64
    /// The hash of the last deleted entry, from which the chain continues.
    public let lastHash: [UInt8]
    /// The time at which the last deleted entry was written.
    public let lastTime: Timestamp
    /// The time at which the entries were deleted.
    public let time: Timestamp

    /// The age from which an entry may be deleted: 36 months of 30.5 days.
    public static let retention = Timestamp.Span.days(1_098)

    public init(
        origin: String, family: FamilyID, lastNumber: Int64, lastHash: [UInt8], lastTime: Timestamp, time: Timestamp
    ) {
        self.origin = origin
        self.family = family
        self.lastNumber = lastNumber
        self.lastHash = lastHash
        self.lastTime = lastTime.flooredToSecond
        self.time = time.flooredToSecond
    }

    /// Parses the text of a prune record; nil for an invalid one.
    public init?(text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard lines.count == 8, lines[0] == "nagz audit prune", lines[7].isEmpty, VerifierKey.isValidName(lines[1]),
            let family = FamilyID(lines[2]), let lastNumber = Int64(lines[3]), lastNumber > 0,
            let hash = Base64.decode(lines[4]), hash.count == 32, let last = Int64(lines[5]),
            let seconds = Int64(lines[6]), (0..<1 << 40).contains(last), (0..<1 << 40).contains(seconds)
        else { return nil }
        self.init(
            origin: lines[1], family: family, lastNumber: lastNumber, lastHash: hash,
            lastTime: Timestamp(seconds: last), time: Timestamp(seconds: seconds))
        guard self.text == text else { return nil }
    }

    public var text: String {
        """
        nagz audit prune
        \(origin)
        \(family)
        \(lastNumber)
        \(Base64.encode(lastHash))
        \(lastTime.seconds)
        \(time.seconds)

        """
    }
}
