/// A bounded queue with lanes. The lanes are served in turn, and within a lane its clients, so that no client with many
/// elements delays the others.
///
/// A full lane makes room for a client with few waiting elements at the cost of the one with most.
public struct FairQueue<Element: Sendable>: Sendable {
    private struct Lane {
        /// The waiting clients, in turn.
        var turns: [Int] = []
        var waiting: [Int: [Element]] = [:]
        var count = 0

        mutating func append(_ element: Element, of client: Int) {
            if waiting[client] == nil { turns.append(client) }
            waiting[client, default: []].append(element)
            count += 1
        }

        mutating func popFirst() -> Element? {
            guard let client = turns.first, let element = waiting[client]?.removeFirst() else { return nil }
            turns.removeFirst()
            if waiting[client]?.isEmpty == true { waiting[client] = nil } else { turns.append(client) }
            count -= 1
            return element
        }

        /// Removes the newest element of the client with the most elements, if those are more than `client` would have
        /// with one more.
        mutating func makeRoom(for client: Int) -> Element? {
            guard let largest = turns.max(by: { number(of: $0) < number(of: $1) }),
                number(of: largest) > number(of: client) + 1
            else { return nil }
            count -= 1
            return waiting[largest]?.popLast()
        }

        private func number(of client: Int) -> Int { waiting[client]?.count ?? 0 }
    }

    private var lanes: [Lane]
    private let limit: Int
    /// The lane whose turn is next.
    private var next = 0

    /// - Parameter limit: the largest number of elements in a lane.
    public init(lanes: Int, limit: Int) {
        self.lanes = Array(repeating: Lane(), count: lanes)
        self.limit = limit
    }

    public var count: Int { lanes.reduce(0) { $0 + $1.count } }

    /// - Parameters:
    ///   - lane: from 0 to the number of lanes - 1.
    ///   - client: any number that distinguishes the clients of a lane.
    /// - Returns: the element that is not queued: nil, `element` itself, or one that `element` displaced.
    public mutating func append(_ element: Element, lane: Int, client: Int) -> Element? {
        guard lanes[lane].count >= limit else {
            lanes[lane].append(element, of: client)
            return nil
        }
        guard let displaced = lanes[lane].makeRoom(for: client) else { return element }
        lanes[lane].append(element, of: client)
        return displaced
    }

    public mutating func popFirst() -> Element? {
        for offset in lanes.indices {
            let lane = (next + offset) % lanes.count
            guard let element = lanes[lane].popFirst() else { continue }
            next = (lane + 1) % lanes.count
            return element
        }
        return nil
    }
}
