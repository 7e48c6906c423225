/// The proofs of RFC 6962, sections 2.1.1 and 2.1.2: the subtrees of which they consist, and their verification.
///
/// A proof consists of the roots of `inclusionRanges` or `consistencyRanges`, in order. Verification (RFC 9162,
/// sections 2.1.3.2 and 2.1.4.2) needs nothing but the proof.
public enum MerkleProof {
    /// Returns the ranges of leaves whose roots prove that leaf `index` is in the tree of `size` leaves.
    /// - Precondition: `0 <= index < size`.
    public static func inclusionRanges(_ index: Int64, size: Int64) -> [Range<Int64>] {
        precondition(index >= 0 && index < size)
        return pathRanges(index, 0..<size)
    }

    /// Returns the ranges of PATH of RFC 6962 for the leaf `index` in the subtree over `range`.
    private static func pathRanges(_ index: Int64, _ range: Range<Int64>) -> [Range<Int64>] {
        guard range.count > 1 else { return [] }
        let middle = range.lowerBound + largestPowerOfTwo(below: Int64(range.count))
        return index < middle
            ? pathRanges(index, range.lowerBound..<middle) + [middle..<range.upperBound]
            : pathRanges(index, middle..<range.upperBound) + [range.lowerBound..<middle]
    }

    /// Returns the ranges of leaves whose roots prove that a tree of `new` leaves extends the tree of its first `old`
    /// leaves.
    /// - Precondition: `0 < old <= new`.
    public static func consistencyRanges(from old: Int64, to new: Int64) -> [Range<Int64>] {
        precondition(old > 0 && old <= new)
        return subproofRanges(old, 0..<new, isWhole: true)
    }

    /// Returns the ranges of SUBPROOF of RFC 6962.
    /// - Parameter isWhole: whether the range begins at the first leaf. The root of the old tree is then no part of the
    ///   proof, because the verifier has it.
    private static func subproofRanges(_ old: Int64, _ range: Range<Int64>, isWhole: Bool) -> [Range<Int64>] {
        if old == range.upperBound { return isWhole ? [] : [range] }
        let middle = range.lowerBound + largestPowerOfTwo(below: Int64(range.count))
        return old <= middle
            ? subproofRanges(old, range.lowerBound..<middle, isWhole: isWhole) + [middle..<range.upperBound]
            : subproofRanges(old, middle..<range.upperBound, isWhole: false) + [range.lowerBound..<middle]
    }

    private static func largestPowerOfTwo(below count: Int64) -> Int64 { 1 << (63 - (count - 1).leadingZeroBitCount) }

    // MARK: Verification

    /// Computes the root of a tree of `size` leaves from the leaf at `index` and its path; nil if the tree has no such
    /// leaf, or the path has a wrong length.
    public static func root(
        including leafHash: [UInt8], at index: Int64, size: Int64, path: [[UInt8]]
    ) -> [UInt8]? {
        guard index >= 0, index < size else { return nil }
        var (node, last, hash) = (index, size - 1, leafHash)
        for sibling in path {
            guard last > 0, sibling.count == 32 else { return nil }
            if node & 1 == 1 || node == last {
                hash = MerkleHash.node(sibling, hash)
                while node & 1 == 0, node != 0 {
                    node >>= 1
                    last >>= 1
                }
            } else {
                hash = MerkleHash.node(hash, sibling)
            }
            node >>= 1
            last >>= 1
        }
        return last == 0 ? hash : nil
    }

    /// Returns whether the path proves that the tree of `new` leaves with the root `newRoot` extends the tree of `old`
    /// leaves with the root `oldRoot`.
    public static func isConsistent(
        old: Int64, oldRoot: [UInt8], new: Int64, newRoot: [UInt8], path: [[UInt8]]
    ) -> Bool {
        guard old >= 0, old <= new, path.allSatisfy({ $0.count == 32 }) else { return false }
        if old == new { return path.isEmpty && oldRoot == newRoot }
        if old == 0 { return path.isEmpty && oldRoot == MerkleHash.empty }
        // If the old tree is perfect, the path begins with its root, which the proof omits.
        var path = (old.nonzeroBitCount == 1 ? [oldRoot] : []) + path
        guard !path.isEmpty else { return false }
        var (node, last) = (old - 1, new - 1)
        while node & 1 == 1 {
            node >>= 1
            last >>= 1
        }
        let first = path.removeFirst()
        var (oldHash, newHash) = (first, first)
        for sibling in path {
            guard last > 0 else { return false }
            if node & 1 == 1 || node == last {
                oldHash = MerkleHash.node(sibling, oldHash)
                newHash = MerkleHash.node(sibling, newHash)
                while node & 1 == 0, node != 0 {
                    node >>= 1
                    last >>= 1
                }
            } else {
                newHash = MerkleHash.node(newHash, sibling)
            }
            node >>= 1
            last >>= 1
        }
        return last == 0 && oldHash == oldRoot && newHash == newRoot
    }
}
