import Reactor

/// Assigns sessions to requests, queues waiting requests with a deadline, and decides when to reopen lost sessions.
///
/// A pure value: it opens nothing, sends nothing and reads no clock. `Database` reports events and carries out the
/// results.
struct SessionPool {
    /// The kind of use of a session by a request.
    enum Purpose {
        /// Statements that rarely wait for locks.
        case read
        /// A read of many rows. Only `Database.Limits.bulkReads` of them are in flight.
        case bulkRead
        /// Statements that may wait for locks. If the pool may have three or more sessions and at least two are open,
        /// no other statement is sent behind them.
        case write
        /// A transaction, which uses the session alone.
        case exclusive

        var isRead: Bool { self == .read || self == .bulkRead }

        /// The index of the queue in which its requests wait.
        fileprivate var queueIndex: Int {
            switch self {
            case .read: 0
            case .bulkRead: 1
            case .write, .exclusive: 2
            }
        }
    }

    enum Acquisition: Equatable {
        case granted(sessionID: Int)
        case waiting(ticket: UInt64)
        case tooManyWaiting
        case closed
    }

    /// A session for a request that waited.
    struct Grant: Equatable {
        let ticket: UInt64
        let sessionID: Int
    }

    private struct Session {
        let id: Int
        /// The number of requests that use the session.
        var inFlight = 0
        /// The number of these requests that may wait for locks.
        var lockingRequests = 0
        /// The number of these requests that are bulk reads.
        var bulkReads = 0
        /// Whether a transaction uses the session alone.
        var isExclusive = false
        /// Whether the session is closed to new requests.
        var isRetired = false
    }

    private struct Waiter {
        let ticket: UInt64
        let use: Purpose
        let deadline: MonotonicTime
    }

    private static let shortestPause = Duration.milliseconds(50)
    private static let longestPause = Duration.seconds(1)

    private let limits: Database.Limits
    private var sessions: [Session] = []
    private var attemptsInProgress = 0
    /// The queues of waiting reads, of waiting bulk reads, and of all other waiting requests, each in order of arrival.
    /// Reads do not wait for the sessions of writes. A bulk read that waits for other bulk reads does not make other
    /// requests wait.
    private var queues = [Queue<Waiter>](repeating: Queue(), count: 3)
    private var lastTicket: UInt64 = 0
    private var reconnectPause = shortestPause
    private(set) var isClosed = false

    init(_ limits: Database.Limits) { self.limits = limits }

    /// The number of requests that wait for a session.
    var waitingRequests: Int { queues.reduce(0) { $0 + $1.count } }

    /// The earliest deadline of a waiting request.
    var nextDeadline: MonotonicTime? { queues.flatMap(\.all).map(\.deadline).min() }

    // MARK: Requests

    /// Returns the ID of a session for a request that need not wait, and counts the session as in use. Returns nil if
    /// no session is free, if a `read` or a request of the same queue waits, or if a bulk read would exceed their
    /// maximum number. While writes wait, a read can only get the session that is reserved for reads.
    mutating func tryAcquire(for use: Purpose) -> Int? {
        let mustWait =
            firstWaiter(for: .read) != nil || firstWaiter(for: use) != nil || use == .bulkRead && !mayReadInBulk
        guard !mustWait, let index = freeSessionIndex(for: use, isReservedOnly: firstWaiter(for: .write) != nil)
        else { return nil }
        take(index, for: use)
        return sessions[index].id
    }

    /// Acquires a session, or queues the request.
    /// - Parameter deadline: when the request stops waiting.
    mutating func acquire(for use: Purpose, until deadline: MonotonicTime) -> Acquisition {
        if let session = tryAcquire(for: use) { return .granted(sessionID: session) }
        guard !isClosed else { return .closed }
        guard waitingRequests < limits.waitingRequests else { return .tooManyWaiting }
        lastTicket += 1
        queues[use.queueIndex].append(Waiter(ticket: lastTicket, use: use, deadline: deadline))
        return .waiting(ticket: lastTicket)
    }

    /// Ends a use of the session.
    /// - Returns: sessions for waiting requests, and whether the caller must close this one, because it is retired and
    ///   unused.
    mutating func release(_ id: Int, from use: Purpose) -> (grants: [Grant], mustClose: Bool) {
        // A session that is not found was lost meanwhile.
        guard let index = sessions.firstIndex(where: { $0.id == id }) else { return ([], false) }
        addToCounts(use, on: index, by: -1)
        if use == .exclusive { sessions[index].isExclusive = false }
        return (serve(), sessions[index].isRetired && sessions[index].inFlight == 0)
    }

    /// Removes the waiting requests whose deadline has passed, and returns their tickets.
    mutating func expire(at now: MonotonicTime) -> [UInt64] {
        queues.indices.flatMap { queues[$0].removeAll { $0.deadline <= now } }.map(\.ticket)
    }

    /// Removes one waiting request.
    /// - Returns: whether it was waiting, and sessions for requests that waited behind it.
    mutating func cancel(_ ticket: UInt64) -> (wasWaiting: Bool, grants: [Grant]) {
        guard queues.indices.contains(where: { queues[$0].removeFirst { $0.ticket == ticket } }) else {
            return (false, [])
        }
        return (true, serve())
    }

    /// Removes all waiting requests, and returns their tickets.
    mutating func refuseAllWaiting() -> [UInt64] {
        defer { queues = queues.map { _ in Queue() } }
        return queues.flatMap(\.all).map(\.ticket)
    }

    // MARK: Sessions

    /// Begins an attempt to open a session. Returns false if there are enough sessions and attempts, or the pool is
    /// closed.
    mutating func beginAttempt() -> Bool {
        guard !isClosed, sessions.count + attemptsInProgress < limits.connections else { return false }
        attemptsInProgress += 1
        return true
    }

    /// Adds the session of a successful attempt.
    mutating func sessionOpened(_ id: Int) -> [Grant] {
        attemptsInProgress -= 1
        reconnectPause = Self.shortestPause
        sessions.append(Session(id: id))
        return serve()
    }

    /// Ends a failed attempt.
    /// - Returns: the pause before the next attempt; nil if the pool is closed.
    mutating func attemptFailed() -> Duration? {
        attemptsInProgress -= 1
        return nextReconnectPause()
    }

    /// Removes a lost session.
    /// - Returns: sessions for waiting requests that the loss made possible, such as bulk reads that waited for one on
    ///   the lost session; and the pause before another session is opened, or nil if the pool is closed.
    mutating func sessionLost(_ id: Int) -> (grants: [Grant], pause: Duration?) {
        sessions.removeAll { $0.id == id }
        return (serve(), nextReconnectPause())
    }

    /// Closes the session to new requests.
    mutating func retire(_ id: Int) {
        guard let index = sessions.firstIndex(where: { $0.id == id }) else { return }
        sessions[index].isRetired = true
    }

    /// Ends the pool: requests that would wait, and new attempts to open a session, are refused. The caller closes the
    /// open sessions.
    mutating func close() { isClosed = true }

    private mutating func nextReconnectPause() -> Duration? {
        guard !isClosed else { return nil }
        defer { reconnectPause = min(reconnectPause * 2, Self.longestPause) }
        return reconnectPause
    }

    // MARK: Choice

    /// Returns the index of the session with the fewest requests, if it can take one more. If the pool may have three
    /// or more sessions and at least two are open, the first is reserved for reads, so that writes that wait for locks
    /// never block them.
    /// - Parameter isReservedOnly: whether only the reserved session is considered.
    private func freeSessionIndex(for use: Purpose, isReservedOnly: Bool = false) -> Int? {
        let limit = use == .exclusive ? 1 : limits.batchesPerConnection
        let hasReserved = limits.connections > 2 && sessions.count > 1
        if isReservedOnly, !hasReserved { return nil }
        var bestIndex: Int?
        for (index, session) in sessions.enumerated() where !session.isExclusive && !session.isRetired {
            if hasReserved, index == 0 ? !use.isRead : isReservedOnly { continue }
            if hasReserved, session.lockingRequests > 0 { continue }
            if session.inFlight < (bestIndex.map { sessions[$0].inFlight } ?? limit) { bestIndex = index }
            if session.inFlight == 0 { break }
        }
        return bestIndex
    }

    private var mayReadInBulk: Bool { sessions.reduce(0) { $0 + $1.bulkReads } < limits.bulkReads }

    private mutating func take(_ index: Int, for use: Purpose) {
        addToCounts(use, on: index, by: 1)
        sessions[index].isExclusive = use == .exclusive
    }

    private mutating func addToCounts(_ use: Purpose, on index: Int, by change: Int) {
        sessions[index].inFlight += change
        switch use {
        case .read: break
        case .bulkRead: sessions[index].bulkReads += change
        case .write, .exclusive: sessions[index].lockingRequests += change
        }
    }

    /// Serves waiting requests in order of arrival; a read may pass waiting writes on the session reserved for reads.
    private mutating func serve() -> [Grant] {
        var grants: [Grant] = []
        while waitingRequests > 0 {
            let (reader, writer) = (firstReader, firstWaiter(for: .write))
            let isReadersTurn = reader.map { $0.ticket < writer?.ticket ?? .max } ?? false
            if let next = isReadersTurn ? reader : writer, let index = freeSessionIndex(for: next.use) {
                grants.append(grant(next, index))
            } else if let reader, let index = freeSessionIndex(for: reader.use, isReservedOnly: true) {
                grants.append(grant(reader, index))
            } else {
                break
            }
        }
        return grants
    }

    private func firstWaiter(for use: Purpose) -> Waiter? { queues[use.queueIndex].first }

    /// The waiting read that came first; not a bulk read while the maximum number of bulk reads is in flight.
    private var firstReader: Waiter? {
        guard mayReadInBulk, let bulkReader = firstWaiter(for: .bulkRead) else { return firstWaiter(for: .read) }
        return firstWaiter(for: .read).map { $0.ticket < bulkReader.ticket ? $0 : bulkReader } ?? bulkReader
    }

    private mutating func grant(_ waiter: Waiter, _ index: Int) -> Grant {
        _ = queues[waiter.use.queueIndex].removeFirst()
        take(index, for: waiter.use)
        return Grant(ticket: waiter.ticket, sessionID: sessions[index].id)
    }
}

/// A first-in, first-out queue. Operations at the ends take constant time, removal from the middle linear time.
private struct Queue<Element> {
    private var elements: [Element] = []
    private var firstIndex = 0

    var count: Int { elements.count - firstIndex }
    var first: Element? { count > 0 ? elements[firstIndex] : nil }
    var all: ArraySlice<Element> { elements[firstIndex...] }

    mutating func append(_ element: Element) { elements.append(element) }

    /// Removes the first matching element. Returns whether there was one.
    mutating func removeFirst(where isMatch: (Element) -> Bool) -> Bool {
        guard let index = all.firstIndex(where: isMatch) else { return false }
        elements.remove(at: index)
        return true
    }

    /// Removes the matching elements and returns them.
    mutating func removeAll(where isMatch: (Element) -> Bool) -> [Element] {
        let matching = all.filter(isMatch)
        if !matching.isEmpty { (elements, firstIndex) = (all.filter { !isMatch($0) }, 0) }
        return matching
    }

    /// - Precondition: the queue is not empty.
    mutating func removeFirst() -> Element {
        let element = elements[firstIndex]
        firstIndex += 1
        if firstIndex == elements.count || firstIndex > 1_024 {
            elements.removeFirst(firstIndex)
            firstIndex = 0
        }
        return element
    }
}
