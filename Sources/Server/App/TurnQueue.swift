/// Decides which key may run next. It limits how many run at the same time, in total and per key, and keys take turns.
///
/// It is a pure value: the caller creates the tickets of the waiting tasks.
struct TurnQueue<Key: Hashable> {
    private let totalLimit: Int
    private let limitPerKey: Int
    private let queueLimit: Int
    /// The number of runs of each key that runs.
    private var running: [Key: Int] = [:]
    /// The waiting tickets of each key, oldest first.
    private var waiting: [Key: [UInt64]] = [:]
    /// The keys that wait, in the order of their turns.
    private var order: [Key] = []
    private(set) var runningCount = 0
    private(set) var waitingCount = 0

    /// - Parameters:
    ///   - limit: the maximum number of runs at the same time in all.
    ///   - limitPerKey: the maximum number of runs at the same time for each key.
    ///   - queueLimit: the maximum number of waiting tickets in all; one key may have a quarter of it.
    init(limit: Int, limitPerKey: Int, queueLimit: Int) {
        totalLimit = limit
        self.limitPerKey = limitPerKey
        self.queueLimit = queueLimit
    }

    /// Begins a run of the key if it may run at once; then `leave` MUST follow.
    /// - Returns: whether it may.
    mutating func tryEnter(_ key: Key) -> Bool {
        guard waiting[key] == nil, mayRun(key) else { return false }
        start(key)
        return true
    }

    /// Queues a ticket.
    /// - Returns: false when too many wait already, of the key or in all.
    mutating func enqueue(_ key: Key, ticket: UInt64) -> Bool {
        let waitingOfKey = waiting[key]?.count ?? 0
        guard waitingCount < queueLimit, waitingOfKey < max(1, queueLimit / 4) else { return false }
        if waitingOfKey == 0 { order.append(key) }
        waiting[key, default: []].append(ticket)
        waitingCount += 1
        return true
    }

    /// Ends one run of the key.
    /// - Returns: the tickets that may run now; `leave` MUST follow for each.
    mutating func leave(_ key: Key) -> [UInt64] {
        runningCount -= 1
        let runningOfKey = (running[key] ?? 1) - 1
        running[key] = runningOfKey > 0 ? runningOfKey : nil
        var tickets: [UInt64] = []
        while let turn = order.firstIndex(where: mayRun) {
            let next = order.remove(at: turn)
            guard let ticket = waiting[next]?.removeFirst() else { continue }
            waitingCount -= 1
            if waiting[next]?.isEmpty ?? true { waiting[next] = nil } else { order.append(next) }
            start(next)
            tickets.append(ticket)
        }
        return tickets
    }

    /// Removes a waiting ticket, whose task gives up.
    /// - Returns: false when it may run already.
    mutating func withdraw(_ key: Key, ticket: UInt64) -> Bool {
        guard let index = waiting[key]?.firstIndex(of: ticket) else { return false }
        waiting[key]?.remove(at: index)
        waitingCount -= 1
        if waiting[key]?.isEmpty ?? true {
            waiting[key] = nil
            order.removeAll { $0 == key }
        }
        return true
    }

    private func mayRun(_ key: Key) -> Bool { runningCount < totalLimit && running[key] ?? 0 < limitPerKey }

    private mutating func start(_ key: Key) {
        running[key, default: 0] += 1
        runningCount += 1
    }
}
