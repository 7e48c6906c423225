/// Acts on everything that is due, batch by batch.
enum DueBatches {
    /// The maximum number of items in one batch.
    static let size = 500

    /// Acts on each item until none is due.
    ///
    /// Other instances may act on the same items at the same time: a batch that they have dealt with ends the work.
    /// - Parameters:
    ///   - read: reads at most `size` items that are due.
    ///   - act: acts on one item; returns false if there was nothing left to do.
    /// - Returns: the number of items that this call acted on.
    static func run<Item>(
        _ read: () async throws -> [Item], _ act: (Item) async throws -> Bool
    ) async throws -> Int {
        var count = 0
        while true {
            let items = try await read()
            let countBefore = count
            for item in items { count += try await act(item) ? 1 : 0 }
            if items.count < size || count == countBefore { return count }
        }
    }
}
