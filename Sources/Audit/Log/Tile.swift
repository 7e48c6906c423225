/// A tile in the layout of C2SP tlog-tiles. The stored hashes are the roots of perfect subtrees of 1, 256, 65,536, …
/// leaves; 256 adjacent hashes of a level are a tile.
public struct Tile: Hashable, Sendable {
    /// The number of hashes in a full tile.
    public static let width: Int64 = 256
    /// The number of levels in a tree of 2^63 leaves.
    public static let levelCount = 8

    /// The level: 0 for tiles of leaf hashes, 1 for tiles of hashes over 256 leaves each, …
    public var level: Int
    public var index: Int64
    /// The number of hashes in the tile: 1…256.
    public var count: Int64

    public init(level: Int, index: Int64, count: Int64 = width) {
        self.level = level
        self.index = index
        self.count = count
    }

    /// Parses `<level>` and `<index>[.p/<count>]`, the index in groups of three digits: `x001/x234/067.p/8`. It returns
    /// nil for any other text.
    public init?(level: String, path: [String]) {
        guard let level = Self.parseNumber(level, digits: 1...2), level < Self.levelCount, var last = path.last else {
            return nil
        }
        var groups = path
        var count = Self.width
        if groups.count >= 2, groups[groups.count - 2].hasSuffix(".p") {
            guard let partialCount = Self.parseNumber(last, digits: 1...3), (1..<Self.width).contains(partialCount)
            else { return nil }
            count = partialCount
            groups.removeLast()
            last = String(groups.removeLast().dropLast(2))
            groups.append(last)
        }
        guard (1...6).contains(groups.count) else { return nil }
        var index: Int64 = 0
        for (groupIndex, group) in groups.enumerated() {
            let isLast = groupIndex == groups.count - 1
            guard isLast || group.hasPrefix("x"),
                let part = Self.parseNumber(isLast ? group : String(group.dropFirst()), digits: 3...3)
            else { return nil }
            // Of several groups the first is never zero: each tile has one name.
            guard isLast || groupIndex > 0 || part > 0 else { return nil }
            index = index * 1_000 + part
        }
        self.init(level: Int(level), index: index, count: count)
    }

    /// Parses ASCII digits; nil for another count of digits. Leading zeros are valid only in a group of three digits.
    private static func parseNumber(_ text: String, digits: ClosedRange<Int>) -> Int64? {
        guard digits.contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            text.utf8.count == 1 || digits.lowerBound == 3 || text.utf8.first != 0x30
        else { return nil }
        return Int64(text)
    }

    /// The path: `<level>/<index>[.p/<count>]`.
    public var path: String {
        var groups = [Self.threeDigits(index % 1_000)]
        var rest = index / 1_000
        while rest > 0 {
            groups.insert("x" + Self.threeDigits(rest % 1_000), at: 0)
            rest /= 1_000
        }
        return "\(level)/" + groups.joined(separator: "/") + (count < Self.width ? ".p/\(count)" : "")
    }

    private static func threeDigits(_ number: Int64) -> String {
        let text = String(number)
        return String(repeating: "0", count: 3 - text.count) + text
    }

    /// The positions of the tile's hashes within the level.
    public var positions: Range<Int64> { index * Self.width..<index * Self.width + count }

    /// Returns the number of hashes on a level in a tree of `size` leaves.
    public static func nodeCount(level: Int, size: Int64) -> Int64 { size >> Int64(8 * level) }
}

/// A run of adjacent hashes on one level of the layout of tiles.
public struct NodeRun: Hashable, Sendable {
    public var level: Int
    public var positions: Range<Int64>

    public init(level: Int, positions: Range<Int64>) {
        self.level = level
        self.positions = positions
    }

    /// Creates the run of hashes that give the root of a perfect subtree: at most 128.
    public init(perfect range: Range<Int64>) {
        let height = (range.upperBound - range.lowerBound).trailingZeroBitCount
        level = height / 8
        positions = range.lowerBound >> Int64(8 * level)..<range.upperBound >> Int64(8 * level)
    }

    /// Returns the runs of all hashes that give the root over a proof's range.
    public static func runs(of range: Range<Int64>) -> [NodeRun] {
        MerkleRange.perfectSubtrees(of: range).map(NodeRun.init(perfect:))
    }
}

/// Hashes of the Merkle log by their level and position in the layout of tiles.
public struct NodeStore: Sendable {
    private struct NodeIndex: Hashable {
        let level: Int
        let position: Int64
    }

    private var hashes: [NodeIndex: [UInt8]] = [:]

    public init() {}

    public subscript(level: Int, position: Int64) -> [UInt8]? {
        get { hashes[NodeIndex(level: level, position: position)] }
        set { hashes[NodeIndex(level: level, position: position)] = newValue }
    }

    /// Returns the root over a proof's range; nil where a hash is missing.
    public func root(of range: Range<Int64>) -> [UInt8]? {
        var roots: [[UInt8]] = []
        for subtree in MerkleRange.perfectSubtrees(of: range) {
            let run = NodeRun(perfect: subtree)
            var nodes: [[UInt8]] = []
            for position in run.positions {
                guard let hash = self[run.level, position] else { return nil }
                nodes.append(hash)
            }
            roots.append(MerkleHash.root(nodes))
        }
        guard var hash = roots.last else { return MerkleHash.empty }
        for left in roots.dropLast().reversed() { hash = MerkleHash.node(left, hash) }
        return hash
    }

    /// Returns the proof that consists of the roots over the ranges; nil where a hash is missing.
    public func proof(_ ranges: [Range<Int64>]) -> [[UInt8]]? {
        var path: [[UInt8]] = []
        for range in ranges {
            guard let hash = root(of: range) else { return nil }
            path.append(hash)
        }
        return path
    }
}
