import Domain

/// The constraints of one scope by priority.
public struct ConstraintOrder: Hashable, Sendable {
    public private(set) var ids: [Int: ConstraintID]

    /// - Parameter ids: by priority.
    public init(_ ids: [Int: ConstraintID]) { self.ids = ids }

    public var count: Int { ids.count }

    /// Gives a constraint a priority. If another constraint has it, that one moves to the next priority, and so on up
    /// to the first free one; the others keep their order.
    /// - Throws: a fault in `priority` if no priority from there on is free; nothing is changed then.
    public mutating func insert(_ id: ConstraintID, at priority: Int) throws(ConstraintFault) {
        let places = priority...max(priority, ConstraintLimit.priorities.upperBound)
        guard let free = places.first(where: { ids[$0] == nil }) else {
            throw ConstraintFault("priority", "leaves no room for the constraints after it")
        }
        for place in stride(from: free, to: priority, by: -1) { ids[place] = ids[place - 1] }
        ids[priority] = id
    }

    public mutating func remove(_ id: ConstraintID) {
        for (priority, other) in ids where other == id { ids[priority] = nil }
    }

    /// Reorders some constraints, which exchange their priorities among themselves.
    public mutating func reorder(_ order: [ConstraintID]) {
        let members = Set(order)
        let priorities = ids.filter { members.contains($0.value) }.map(\.key).sorted()
        for (priority, id) in zip(priorities, order) { ids[priority] = id }
    }

    /// Returns the constraints that `earlier` has with another priority, ordered by their present priority.
    public func moved(since earlier: ConstraintOrder) -> [(id: ConstraintID, priority: Int)] {
        let before = Set(earlier.ids.values)
        return ids.sorted { $0.key < $1.key }.filter { priority, id in
            before.contains(id) && earlier.ids[priority] != id
        }.map { ($0.value, $0.key) }
    }
}
