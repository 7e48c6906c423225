import Domain

/// The form of exported audit entries.
public enum ExportFormat: String, Sendable, CaseIterable, WireEnumeration {
    /// One JSON object per line.
    case ndjson
    /// RFC 4180 with a header line. Cells that a spreadsheet would read as a formula are prefixed with an
    /// apostrophe.
    case csv
}

extension AuditEntryPath {
    public init(familyID: FamilyID, n: Int) { self.init(familyID: familyID, n: String(n)) }

    /// The entry's number; nil if `n` is not a number of at most 18 digits.
    public var number: Int64? {
        guard n.utf8.count <= 18, n.utf8.allSatisfy(\.isDigit) else { return nil }
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
