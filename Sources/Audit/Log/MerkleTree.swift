/// The hashes of RFC 6962, section 2.1. Leaves and inner nodes never have the same input, so neither can pass as the
/// other.
public enum MerkleHash {
    /// The root of a tree without leaves.
    public static let empty = sha256([])

    public static func leaf(_ content: [UInt8]) -> [UInt8] { sha256([0x00] + content) }

    public static func node(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(65)
        bytes.append(0x01)
        bytes += left
        bytes += right
        return sha256(bytes)
    }

    /// Returns the root over a list of subtrees of the same height, or of leaves.
    public static func root(_ hashes: [[UInt8]]) -> [UInt8] {
        var frontier = MerkleFrontier()
        for hash in hashes { frontier.append(hash) }
        return frontier.root
    }
}

/// A tree to which leaves are appended. It keeps only the roots of its perfect subtrees: at most 64 hashes.
public struct MerkleFrontier: Hashable, Sendable {
    /// The number of leaves.
    public private(set) var size: Int64
    /// The roots of the perfect subtrees, largest first: one for each bit set in `size`.
    public private(set) var roots: [[UInt8]]

    public init() {
        size = 0
        roots = []
    }

    /// Creates a tree from the roots of its perfect subtrees.
    /// - Precondition: there are as many roots as bits set in `size`.
    public init(size: Int64, roots: [[UInt8]]) {
        precondition(size >= 0 && roots.count == size.nonzeroBitCount)
        self.size = size
        self.roots = roots
    }

    /// Adds a leaf's hash.
    public mutating func append(_ leafHash: [UInt8]) {
        var hash = leafHash
        var rest = size
        while rest & 1 == 1 {
            hash = MerkleHash.node(roots.removeLast(), hash)
            rest >>= 1
        }
        roots.append(hash)
        size += 1
    }

    /// The root over all leaves: MTH of RFC 6962.
    public var root: [UInt8] {
        guard var hash = roots.last else { return MerkleHash.empty }
        for left in roots.dropLast().reversed() { hash = MerkleHash.node(left, hash) }
        return hash
    }
}

/// Splits ranges of leaves into perfect subtrees.
public enum MerkleRange {
    /// Returns the perfect subtrees of a range, largest first.
    /// - Precondition: the lower bound is a multiple of the smallest power of two that is not less than the length, as
    ///   in the ranges of proofs.
    public static func perfectSubtrees(of range: Range<Int64>) -> [Range<Int64>] {
        var subtrees: [Range<Int64>] = []
        var start = range.lowerBound
        while start < range.upperBound {
            let remaining = range.upperBound - start
            let width = Int64(1) << (63 - remaining.leadingZeroBitCount)
            subtrees.append(start..<start + width)
            start += width
        }
        return subtrees
    }
}
