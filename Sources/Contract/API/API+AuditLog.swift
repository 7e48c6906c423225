import Domain

// MARK: Parameters

extension AuditEntryPath {
    public init(familyID: FamilyID, n: Int) { self.init(familyID: familyID, n: String(n)) }

    /// The entry's number; nil if `n` is not a number of at most 18 digits.
    public var number: Int64? {
        guard n.utf8.count <= 18, n.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(n)
    }
}

/// A tile's level and its name in groups of three digits. The last group may denote a partial tile: `067.p/8`.
public protocol TileName: WireParameters {
    var level: String { get }
    var parts: [String] { get }
}

extension TilePath: TileName {
    public var parts: [String] { [first] }
}

extension TilePathOfTwo: TileName {
    public var parts: [String] { [first, second] }
}

extension TilePathOfThree: TileName {
    public var parts: [String] { [first, second, third] }
}
