import Domain

/// The constraints of one scope by priority.
public struct ConstraintOrder: Hashable, Sendable {
    public private(set) var ids: [Int: ConstraintID]

    /// - Parameter ids: by priority.
    public init(_ ids: [Int: ConstraintID]) { self.ids = ids }

    public var count: Int { ids.count }

    /// Gives a constraint a priority. Where it is taken, the constraint there moves one down, and so on up to the first
    /// priority that is free: the others keep their order.
    /// - Throws: a fault in `priority` where all priorities from there on are taken; nothing has changed then.
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

    /// Puts some constraints in another order: they share out the priorities that they have.
    public mutating func reorder(_ order: [ConstraintID]) {
        let members = Set(order)
        let priorities = ids.filter { members.contains($0.value) }.map(\.key).sorted()
        for (priority, id) in zip(priorities, order) { ids[priority] = id }
    }

    /// The constraints of an earlier order that have another priority now, by their new priorities.
    public func moved(since earlier: ConstraintOrder) -> [(id: ConstraintID, priority: Int)] {
        let before = Set(earlier.ids.values)
        return ids.sorted { $0.key < $1.key }.filter { priority, id in
            before.contains(id) && earlier.ids[priority] != id
        }.map { ($0.value, $0.key) }
    }
}
