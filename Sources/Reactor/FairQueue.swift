/// A bounded queue with lanes. The lanes are served in turn, and within a lane its clients, so that no client with many
/// elements delays the others.
///
/// If a lane is full, a new element of a client with few waiting elements displaces one of the client with the most.
public struct FairQueue<Element: Sendable>: Sendable {
    private struct Lane {
        /// The waiting clients, in the order in which they are served.
        var clientOrder: [Int] = []
        var elements: [Int: [Element]] = [:]
        var count = 0

        mutating func append(_ element: Element, of client: Int) {
            if elements[client] == nil { clientOrder.append(client) }
            elements[client, default: []].append(element)
            count += 1
        }

        mutating func popFirst() -> Element? {
            guard let client = clientOrder.first, let element = elements[client]?.removeFirst() else { return nil }
            clientOrder.removeFirst()
            if elements[client]?.isEmpty == true { elements[client] = nil } else { clientOrder.append(client) }
            count -= 1
            return element
        }

        /// Removes and returns the newest element of the client with the most elements. Returns nil if `client`, with
        /// one more element, would have at least as many.
        mutating func displaceElement(for client: Int) -> Element? {
            guard let largest = clientOrder.max(by: { elementCount(of: $0) < elementCount(of: $1) }),
                elementCount(of: largest) > elementCount(of: client) + 1
            else { return nil }
            count -= 1
            return elements[largest]?.popLast()
        }

        private func elementCount(of client: Int) -> Int { elements[client]?.count ?? 0 }
    }

    private var lanes: [Lane]
    private let limitPerLane: Int
    /// The lane whose turn is next.
    private var nextLane = 0

    /// - Parameter limitPerLane: the maximum number of elements in a lane.
    public init(lanes: Int, limitPerLane: Int) {
        self.lanes = Array(repeating: Lane(), count: lanes)
        self.limitPerLane = limitPerLane
    }

    public var count: Int { lanes.reduce(0) { $0 + $1.count } }

    /// Appends an element.
    /// - Parameters:
    ///   - lane: from 0 to the number of lanes - 1.
    ///   - client: any number that distinguishes the clients of a lane.
    /// - Returns: the element that is not queued: `element` itself, or one that `element` displaced; nil if there is
    ///   none.
    public mutating func append(_ element: Element, lane: Int, client: Int) -> Element? {
        guard lanes[lane].count >= limitPerLane else {
            lanes[lane].append(element, of: client)
            return nil
        }
        guard let displaced = lanes[lane].displaceElement(for: client) else { return element }
        lanes[lane].append(element, of: client)
        return displaced
    }

    /// Removes and returns the element whose turn is next; nil if the queue is empty.
    public mutating func popFirst() -> Element? {
        for offset in lanes.indices {
            let lane = (nextLane + offset) % lanes.count
            guard let element = lanes[lane].popFirst() else { continue }
            nextLane = (lane + 1) % lanes.count
            return element
        }
        return nil
    }
}
