/// Identifies a scheduled timer, for cancellation.
public struct TimerID: Hashable, Sendable {
    let number: UInt64
}

/// A binary heap of deadlines with their actions. Cancelled entries stay until they reach the top, or until
/// they are more than three quarters of a heap of over 64 entries.
struct TimerQueue {
    private struct Entry {
        let deadline: MonotonicTime
        let number: UInt64
    }

    private var heap: [Entry] = []
    private var actions: [UInt64: () -> Void] = [:]
    private var lastNumber: UInt64 = 0

    /// Returns the deadline of the next timer that is not cancelled; nil if there is none.
    mutating func peekDeadline() -> MonotonicTime? {
        while let first = heap.first {
            if actions[first.number] != nil { return first.deadline }
            removeFirst()
        }
        return nil
    }

    mutating func add(_ deadline: MonotonicTime, _ action: @escaping () -> Void) -> TimerID {
        lastNumber += 1
        heap.append(Entry(deadline: deadline, number: lastNumber))
        actions[lastNumber] = action
        siftUp(heap.count - 1)
        return TimerID(number: lastNumber)
    }

    mutating func cancel(_ timer: TimerID) {
        actions[timer.number] = nil
        if heap.count > 64, heap.count > actions.count * 4 { compact() }
    }

    /// Removes and returns the action of the earliest due timer, if any. Timers with the same deadline keep their
    /// order.
    mutating func takeNextDue(at now: MonotonicTime) -> (() -> Void)? {
        guard let deadline = peekDeadline(), deadline <= now, let first = heap.first else { return nil }
        removeFirst()
        return actions.removeValue(forKey: first.number)
    }

    private mutating func compact() {
        heap.removeAll { actions[$0.number] == nil }
        for index in stride(from: heap.count / 2, through: 0, by: -1) { siftDown(index) }
    }

    private static func isBefore(_ left: Entry, _ right: Entry) -> Bool {
        left.deadline != right.deadline ? left.deadline < right.deadline : left.number < right.number
    }

    private mutating func removeFirst() {
        let last = heap.removeLast()
        guard !heap.isEmpty else { return }
        heap[0] = last
        siftDown(0)
    }

    private mutating func siftUp(_ start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard Self.isBefore(heap[child], heap[parent]) else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func siftDown(_ start: Int) {
        var parent = start
        while true {
            var earliest = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if Self.isBefore(heap[child], heap[earliest]) { earliest = child }
            }
            guard earliest != parent else { return }
            heap.swapAt(parent, earliest)
            parent = earliest
        }
    }
}
