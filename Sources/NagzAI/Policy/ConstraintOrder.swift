import Domain

/// The order of the constraints of one scope, each of which has its own priority.
public struct ConstraintOrder: Hashable, Sendable {
    /// The IDs by priority.
    public private(set) var idsByPriority: [Int: ConstraintID]

    /// - Parameter idsByPriority: the IDs by priority.
    public init(_ idsByPriority: [Int: ConstraintID]) { self.idsByPriority = idsByPriority }

    public var count: Int { idsByPriority.count }

    /// Inserts a constraint with a priority. If another constraint has this priority, the other one moves to the next
    /// priority, and so on up to the first free one.
    /// - Throws: a fault of `priority` if neither this priority nor a higher one is free. The order is unchanged then.
    public mutating func insert(_ id: ConstraintID, at priority: Int) throws(ConstraintFault) {
        let candidates = priority...max(priority, ConstraintLimit.priorityRange.upperBound)
        guard let freePriority = candidates.first(where: { idsByPriority[$0] == nil }) else {
            throw ConstraintFault("priority", "leaves no room for the constraints after it")
        }
        for target in stride(from: freePriority, to: priority, by: -1) {
            idsByPriority[target] = idsByPriority[target - 1]
        }
        idsByPriority[priority] = id
    }

    public mutating func remove(_ id: ConstraintID) {
        for (priority, candidate) in idsByPriority where candidate == id { idsByPriority[priority] = nil }
    }

    /// Reorders some constraints: the first one gets the lowest number of their priorities, and so on. The others keep
    /// theirs. Each ID in `order` MUST already have a priority, and occur only once.
    public mutating func reorder(_ order: [ConstraintID]) {
        let reorderedIDs = Set(order)
        let priorities = idsByPriority.filter { reorderedIDs.contains($0.value) }.map(\.key).sorted()
        for (priority, id) in zip(priorities, order) { idsByPriority[priority] = id }
    }

    /// Returns the constraints whose priority differs from that in `earlier`, with their present priorities, lowest
    /// number first. Constraints that `earlier` does not have are left out.
    public func movedConstraints(since earlier: ConstraintOrder) -> [(id: ConstraintID, priority: Int)] {
        let earlierIDs = Set(earlier.idsByPriority.values)
        return idsByPriority.sorted { $0.key < $1.key }.filter { priority, id in
            earlierIDs.contains(id) && earlier.idsByPriority[priority] != id
        }.map { ($0.value, $0.key) }
    }
}
