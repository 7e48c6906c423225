/// The bytes of requests that one loop holds, and their limit.
///
/// Bytes count from their arrival until their request is answered, so requests that wait to be read count too. A
/// sixteenth of the limit is for small requests only.
struct LoopRequestMemory {
    private let limit: Int
    /// The number of bytes up to which a connection may use the sixteenth for small requests.
    private let maxSmallBytes: Int
    private(set) var heldBytes = 0

    init(limit: Int, maxSmallBytes: Int) {
        self.limit = limit
        self.maxSmallBytes = maxSmallBytes
    }

    /// Returns the maximum number of bytes that a connection may hold that holds `current` bytes now.
    func allowance(holding current: Int) -> Int {
        MemoryBudget.allowance(limit, held: heldBytes, current: current, maxSmallBytes: maxSmallBytes)
    }

    /// Replaces a connection's `old` bytes with `new`.
    mutating func change(from old: Int, to new: Int) { heldBytes += new - old }
}
