import Domain

/// The leaf of an entry in the Merkle log: its family, number and hash, 56 bytes.
public struct LogLeaf: Hashable, Sendable {
    public let family: FamilyID
    public let number: Int64
    /// The entry's hash, which commits to the entry and to all earlier ones of its chain.
    public let entryHash: [UInt8]

    public init(family: FamilyID, number: Int64, entryHash: [UInt8]) {
        self.family = family
        self.number = number
        self.entryHash = entryHash
    }

    public var content: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(56)
        append(to: &bytes)
        return bytes
    }

    public var hash: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(57)
        bytes.append(0x00)
        append(to: &bytes)
        return sha256(bytes)
    }

    private func append(to bytes: inout [UInt8]) {
        bytes.append(family)
        bytes.appendBigEndian(number)
        bytes += entryHash
    }
}

/// The frontier (right edge) of the log, level by level of the tile layout, to which leaves are appended.
public struct TileFrontier: Sendable {
    /// A new hash of the layout.
    public struct Node: Hashable, Sendable {
        public let level: Int
        public let position: Int64
        public let hash: [UInt8]
    }

    public private(set) var size: Int64
    /// The hashes of each level's last, incomplete tile.
    private var edges: [[[UInt8]]]

    /// Returns the positions of the hashes that are needed to extend a tree of `size` leaves: those in the incomplete
    /// last tile of each level.
    public static func nodeRuns(at size: Int64) -> [NodeRun] {
        (0..<Tile.levelCount).map { level in
            let count = Tile.nodeCount(level: level, size: size)
            return NodeRun(level: level, positions: count / Tile.width * Tile.width..<count)
        }
    }

    /// Creates the frontier of a tree of that size; nil where one of its hashes is missing.
    public init?(size: Int64, _ store: NodeStore) {
        self.size = size
        edges = []
        for run in Self.nodeRuns(at: size) {
            var edge: [[UInt8]] = []
            for position in run.positions {
                guard let hash = store[run.level, position] else { return nil }
                edge.append(hash)
            }
            edges.append(edge)
        }
    }

    /// Adds a leaf's hash.
    /// - Returns: the nodes to store: the leaf, and the roots of the subtrees that it completes.
    public mutating func append(_ leafHash: [UInt8]) -> [Node] {
        var nodes: [Node] = []
        var hash = leafHash
        for level in 0..<Tile.levelCount {
            let position = Tile.nodeCount(level: level, size: size + 1) - 1
            nodes.append(Node(level: level, position: position, hash: hash))
            edges[level].append(hash)
            guard edges[level].count == Int(Tile.width) else { break }
            hash = MerkleHash.root(edges[level])
            edges[level] = []
        }
        size += 1
        return nodes
    }

    public var root: [UInt8] {
        var roots: [[UInt8]] = []
        for edge in edges.reversed() where !edge.isEmpty {
            var frontier = MerkleFrontier()
            for hash in edge { frontier.append(hash) }
            roots += frontier.roots
        }
        guard var hash = roots.last else { return MerkleHash.empty }
        for left in roots.dropLast().reversed() { hash = MerkleHash.node(left, hash) }
        return hash
    }
}
