/// How many bytes of requests one loop may hold in memory, and how many it does.
///
/// A byte counts from its arrival until the request it belongs to is answered, so that requests which nobody has
/// looked at yet cannot take all the memory there is. A sixteenth is for small requests only.
struct RequestMemory {
    private let limit: Int
    private let small: Int
    private(set) var held = 0

    init(limit: Int, small: Int) {
        self.limit = limit
        self.small = small
    }

    /// How many bytes a connection may hold that holds `own` of them now.
    func room(holding own: Int) -> Int { MemoryBudget.room(limit, held: held, own: own, small: small) }

    /// A connection holds `new` bytes now instead of `old`.
    mutating func change(from old: Int, to new: Int) { held += new - old }
}
