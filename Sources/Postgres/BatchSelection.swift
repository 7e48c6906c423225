/// Which of the waiting statements make the next batch: the keys take turns, and of a key that has statements under way
/// none is taken, because they would only wait for its lock.
///
/// A pure value. Keys that were never in a batch come first, then those whose last batch is longest ago.
struct BatchSelection<Key: Hashable> {
    private static var rememberedKeys: Int { 4_096 }

    /// Batches so far.
    private var turn = 0
    /// The batch that a waiting key was in last.
    private var lastTurns: [Key: Int] = [:]
    private var underWay: Set<Key> = []

    func mayTake(_ key: Key) -> Bool { underWay.isEmpty || !underWay.contains(key) }

    /// Takes the next batch out of `pending`, whose order is that of arrival.
    /// - Parameter fits: whether one more may join a batch that is not empty.
    mutating func takeBatch<Entry>(
        from pending: inout [Entry], limit: Int, key: (Entry) -> Key, fits: (Entry, [Entry]) -> Bool
    ) -> [Entry] {
        var batch: [Entry] = []
        var taken: Set<Int> = []
        for index in order(of: pending, key) where batch.count < limit {
            guard batch.isEmpty || fits(pending[index], batch) else { continue }
            batch.append(pending[index])
            taken.insert(index)
        }
        guard !batch.isEmpty else { return [] }
        var index = -1
        pending.removeAll { _ in
            index += 1
            return taken.contains(index)
        }
        turn += 1
        for entry in batch {
            lastTurns[key(entry)] = turn
            underWay.insert(key(entry))
        }
        return batch
    }

    /// The batch of these keys has ended.
    mutating func ended(_ keys: some Sequence<Key>, stillPending: Bool) {
        for key in keys { underWay.remove(key) }
        // With nobody waiting there are no turns to remember.
        if !stillPending { lastTurns.removeAll(keepingCapacity: true) }
        if lastTurns.count > Self.rememberedKeys { lastTurns = lastTurns.filter { $0.value > turn - 64 } }
    }

    /// The first of each key, the keys in turn; then the others as they came.
    private func order<Entry>(of pending: [Entry], _ key: (Entry) -> Key) -> [Int] {
        var seen: Set<Key> = []
        var firsts: [(turn: Int, index: Int)] = []
        var others: [Int] = []
        for (index, entry) in pending.enumerated() {
            let key = key(entry)
            guard mayTake(key) else { continue }
            if seen.insert(key).inserted { firsts.append((lastTurns[key] ?? 0, index)) } else { others.append(index) }
        }
        firsts.sort { ($0.turn, $0.index) < ($1.turn, $1.index) }
        return firsts.map(\.index) + others
    }
}
