/// Chooses which waiting statements form the next batch. Keys take turns. Statements of a key that is already in a
/// running batch are skipped, because they would only wait for its lock.
///
/// A pure value. Keys without a remembered batch come first, then those whose last batch is the oldest.
struct BatchSelection<Key: Hashable> {
    /// If more keys than this are remembered, those without one of the last 64 batches are forgotten.
    private static var rememberedKeyLimit: Int { 4_096 }

    /// The number of batches so far.
    private var batchNumber = 0
    /// The number of the last batch of each key; removed while no statement waits.
    private var lastBatchNumbers: [Key: Int] = [:]
    private var keysInFlight: Set<Key> = []

    /// Returns whether the key has no batch in flight.
    func canTake(_ key: Key) -> Bool { keysInFlight.isEmpty || !keysInFlight.contains(key) }

    /// Removes the next batch from `pending`, which is in order of arrival.
    /// - Parameter fits: whether an entry may join a batch that is not empty.
    mutating func takeBatch<Entry>(
        from pending: inout [Entry], limit: Int, key: (Entry) -> Key, fits: (Entry, [Entry]) -> Bool
    ) -> [Entry] {
        var batch: [Entry] = []
        var takenIndices: Set<Int> = []
        for index in selectionOrder(of: pending, key) where batch.count < limit {
            guard batch.isEmpty || fits(pending[index], batch) else { continue }
            batch.append(pending[index])
            takenIndices.insert(index)
        }
        guard !batch.isEmpty else { return [] }
        var index = -1
        pending.removeAll { _ in
            index += 1
            return takenIndices.contains(index)
        }
        batchNumber += 1
        for entry in batch {
            lastBatchNumbers[key(entry)] = batchNumber
            keysInFlight.insert(key(entry))
        }
        return batch
    }

    /// Ends the batch of these keys.
    /// - Parameter hasPending: whether statements still wait.
    mutating func endBatch(of keys: some Sequence<Key>, hasPending: Bool) {
        for key in keys { keysInFlight.remove(key) }
        // While no statement waits, turns need not be remembered.
        if !hasPending { lastBatchNumbers.removeAll(keepingCapacity: true) }
        if lastBatchNumbers.count > Self.rememberedKeyLimit {
            lastBatchNumbers = lastBatchNumbers.filter { $0.value > batchNumber - 64 }
        }
    }

    /// Returns the indices of the first entry of each key, in turn, then of the other entries in order of arrival.
    private func selectionOrder<Entry>(of pending: [Entry], _ key: (Entry) -> Key) -> [Int] {
        var seenKeys: Set<Key> = []
        var firstEntryOfEachKey: [(lastBatchNumber: Int, index: Int)] = []
        var otherIndices: [Int] = []
        for (index, entry) in pending.enumerated() {
            let key = key(entry)
            guard canTake(key) else { continue }
            if seenKeys.insert(key).inserted {
                firstEntryOfEachKey.append((lastBatchNumbers[key] ?? 0, index))
            } else {
                otherIndices.append(index)
            }
        }
        firstEntryOfEachKey.sort { ($0.lastBatchNumber, $0.index) < ($1.lastBatchNumber, $1.index) }
        return firstEntryOfEachKey.map(\.index) + otherIndices
    }
}
