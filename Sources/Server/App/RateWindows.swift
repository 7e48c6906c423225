/// Counts a bounded number of keys in windows of equal length. A pure value.
///
/// When there is no room, expired windows are removed first; then, of a few in turn, the one with the smallest count.
/// So a key with a high count is not evicted by many keys with low ones.
struct RateWindows<Key: Hashable> {
    private struct Window {
        var number: Int64
        var count: Int
        /// The key's index in `ring`.
        let slot: Int
    }

    /// The number of keys that are compared to find the one to evict.
    private static var sample: Int { 8 }

    private let limit: Int
    private var windows: [Key: Window] = [:]
    private var ring: [Key] = []
    private var hand = 0
    /// The window in which expired ones were last removed.
    private var sweptAt = Int64.min

    init(limit: Int) {
        precondition(limit > 0)
        self.limit = limit
    }

    var keyCount: Int { windows.count }
    /// Whether a new key would evict another, in the window of that number.
    mutating func isFull(_ number: Int64) -> Bool {
        guard windows.count >= limit else { return false }
        sweep(number)
        return windows.count >= limit
    }

    /// A key's count in a window; nil for a key without one.
    func count(_ key: Key, in number: Int64) -> Int? {
        windows[key].flatMap { $0.number == number ? $0.count : nil }
    }

    /// Counts a key once more.
    /// - Returns: its count in the window of that number.
    mutating func increment(_ key: Key, in number: Int64) -> Int {
        if var window = windows[key] {
            if window.number != number { (window.number, window.count) = (number, 0) }
            window.count += 1
            windows[key] = window
            return window.count
        }
        let slot = isFull(number) ? makeRoom(number) : ring.count
        if slot == ring.count { ring.append(key) } else { ring[slot] = key }
        windows[key] = Window(number: number, count: 1, slot: slot)
        return 1
    }

    /// Takes back one count.
    mutating func decrement(_ key: Key, in number: Int64) {
        guard let window = windows[key], window.number == number, window.count > 0 else { return }
        windows[key]?.count -= 1
    }

    /// Removes expired windows, at most once a window, because it reads all of them.
    private mutating func sweep(_ number: Int64) {
        guard sweptAt != number else { return }
        sweptAt = number
        let current = windows.filter { $0.value.number == number }
        ring.removeAll(keepingCapacity: true)
        windows.removeAll(keepingCapacity: true)
        for (key, window) in current {
            windows[key] = Window(number: window.number, count: window.count, slot: ring.count)
            ring.append(key)
        }
        hand = 0
    }

    /// - Returns: the slot of the evicted key.
    private mutating func makeRoom(_ number: Int64) -> Int {
        var smallest = hand
        for offset in 0..<min(Self.sample, ring.count) {
            let slot = (hand + offset) % ring.count
            if weight(slot, number) < weight(smallest, number) { smallest = slot }
        }
        hand = (hand + Self.sample) % ring.count
        windows[ring[smallest]] = nil
        return smallest
    }

    private func weight(_ slot: Int, _ number: Int64) -> Int { count(ring[slot], in: number) ?? 0 }
}
