/// Counts events by key in windows of equal length, for a bounded number of keys. A pure value.
///
/// When it is full, expired windows are removed first. If it is still full, the key with the smallest count among a few
/// is evicted. So a key with a high count is not evicted by many keys with low ones.
struct RateWindows<Key: Hashable> {
    private struct Window {
        /// The number of the window, which callers count up, such as the minute.
        var number: Int64
        var count: Int
        /// The key's index in `ring`.
        let slot: Int
    }

    /// The maximum number of keys that are compared to find the one to evict.
    private static var candidateCount: Int { 8 }

    /// The maximum number of keys.
    private let keyLimit: Int
    private var windows: [Key: Window] = [:]
    /// The keys at their slots. The search for a key to evict goes round them.
    private var ring: [Key] = []
    /// The index in `ring` at which the next search for a key to evict begins.
    private var nextCandidate = 0
    /// The window in which expired ones were last removed.
    private var lastSweptWindow = Int64.min

    init(keyLimit: Int) {
        precondition(keyLimit > 0)
        self.keyLimit = keyLimit
    }

    var keyCount: Int { windows.count }

    /// Returns whether a new key would evict another one in the window. If the maximum number of keys is reached,
    /// expired windows are removed first.
    mutating func isFull(_ windowNumber: Int64) -> Bool {
        guard windows.count >= keyLimit else { return false }
        sweep(windowNumber)
        return windows.count >= keyLimit
    }

    /// Returns a key's count in a window; nil for a key without one.
    func count(_ key: Key, in windowNumber: Int64) -> Int? {
        windows[key].flatMap { $0.number == windowNumber ? $0.count : nil }
    }

    /// Counts a key once more.
    /// - Returns: its count in the window.
    mutating func increment(_ key: Key, in windowNumber: Int64) -> Int {
        if var window = windows[key] {
            if window.number != windowNumber { (window.number, window.count) = (windowNumber, 0) }
            window.count += 1
            windows[key] = window
            return window.count
        }
        let slot = isFull(windowNumber) ? evictKey(windowNumber) : ring.count
        if slot == ring.count { ring.append(key) } else { ring[slot] = key }
        windows[key] = Window(number: windowNumber, count: 1, slot: slot)
        return 1
    }

    /// Decrements a key's count in the window.
    mutating func decrement(_ key: Key, in windowNumber: Int64) {
        guard let window = windows[key], window.number == windowNumber, window.count > 0 else { return }
        windows[key]?.count -= 1
    }

    /// Removes expired windows, at most once a window, because it reads all of them.
    private mutating func sweep(_ windowNumber: Int64) {
        guard lastSweptWindow != windowNumber else { return }
        lastSweptWindow = windowNumber
        let current = windows.filter { $0.value.number == windowNumber }
        ring.removeAll(keepingCapacity: true)
        windows.removeAll(keepingCapacity: true)
        for (key, window) in current {
            windows[key] = Window(number: window.number, count: window.count, slot: ring.count)
            ring.append(key)
        }
        nextCandidate = 0
    }

    /// Evicts the key with the smallest count among the next few.
    /// - Returns: its slot.
    private mutating func evictKey(_ windowNumber: Int64) -> Int {
        var smallest = nextCandidate
        for offset in 0..<min(Self.candidateCount, ring.count) {
            let slot = (nextCandidate + offset) % ring.count
            if count(atSlot: slot, in: windowNumber) < count(atSlot: smallest, in: windowNumber) { smallest = slot }
        }
        nextCandidate = (nextCandidate + Self.candidateCount) % ring.count
        windows[ring[smallest]] = nil
        return smallest
    }

    private func count(atSlot slot: Int, in windowNumber: Int64) -> Int { count(ring[slot], in: windowNumber) ?? 0 }
}
