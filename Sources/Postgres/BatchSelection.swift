/// Chooses which waiting statements form the next batch. Keys take turns. Statements of a key that is already in a
/// running batch are skipped, because they would only wait for its lock.
///
/// A pure value. Keys that were in no batch yet come first, then those whose last batch is the oldest.
struct BatchSelection<Key: Hashable> {
    private static var rememberedKeys: Int { 4_096 }

    /// The number of batches so far.
    private var turn = 0
    /// The last batch of each waiting key.
    private var lastTurns: [Key: Int] = [:]
    private var underWay: Set<Key> = []

    func mayTake(_ key: Key) -> Bool { underWay.isEmpty || !underWay.contains(key) }

    /// Removes the next batch from `pending`, which is in order of arrival.
    /// - Parameter fits: whether an entry may join a batch that is not empty.
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

    /// Ends the batch of these keys.
    mutating func ended(_ keys: some Sequence<Key>, stillPending: Bool) {
        for key in keys { underWay.remove(key) }
        // While no statement waits, turns need not be remembered.
        if !stillPending { lastTurns.removeAll(keepingCapacity: true) }
        if lastTurns.count > Self.rememberedKeys { lastTurns = lastTurns.filter { $0.value > turn - 64 } }
    }

    /// The indices of the first entry of each key, in turn, then of the other entries in order of arrival.
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
