import Reactor

/// Which session a request gets, who waits for one and for how long, and when a lost one is opened again.
///
/// A pure value: it opens nothing, sends nothing and reads no clock. `Database` tells it what happens, and does what it
/// answers.
struct SessionPool {
    /// What a session is wanted for.
    enum Use {
        /// Statements that hardly wait for locks.
        case read
        /// Statements that may wait for locks: where there are three sessions or more, nothing is sent behind them on theirs.
        case write
        /// A transaction, which has the session to itself.
        case exclusive
    }

    enum Acquisition: Equatable {
        case granted(session: Int)
        case waiting(ticket: UInt64)
        case tooManyWaiting
        case closed
    }

    /// Somebody who waited has a session now.
    struct Grant: Equatable {
        let ticket: UInt64
        let session: Int
    }

    private struct Session {
        let id: Int
        /// Requests it was given to that have not given it back.
        var inFlight = 0
        /// Those among them that may wait for locks.
        var lockHolders = 0
        /// Held by a transaction: nobody else may use it.
        var isExclusive = false
        /// It is given to nobody any more.
        var isRetired = false
    }

    private struct Waiter {
        let ticket: UInt64
        let use: Use
        let deadline: MonotonicTime
    }

    private static let shortestPause = Duration.milliseconds(50)
    private static let longestPause = Duration.seconds(1)

    private let limits: Database.Limits
    private var sessions: [Session] = []
    private var attempts = 0
    /// Those that only read, and all others: the ones do not wait for the others' sessions. Both in the order of arrival,
    /// which is that of their deadlines.
    private var readers = Queue<Waiter>()
    private var writers = Queue<Waiter>()
    private var lastTicket: UInt64 = 0
    private var reconnectPause = shortestPause
    private(set) var isClosed = false

    init(_ limits: Database.Limits) { self.limits = limits }

    /// How many requests wait for a session.
    var waiting: Int { readers.count + writers.count }

    /// When the first of those who wait has waited for too long.
    var nextDeadline: MonotonicTime? {
        [readers.first?.deadline, writers.first?.deadline].compactMap(\.self).min()
    }

    // MARK: Requests

    /// A session for a request that need not wait: because nobody does, or because only writes do and it reads. From here on
    /// it is taken, whether anything was sent on it yet or not.
    mutating func acquireAtOnce(for use: Use) -> Int? {
        if use == .read ? readers.count > 0 : waiting > 0 { return nil }
        guard let index = free(for: use, isReserved: waiting > 0) else { return nil }
        take(index, for: use)
        return sessions[index].id
    }

    mutating func acquire(for use: Use, at now: MonotonicTime) -> Acquisition {
        if let session = acquireAtOnce(for: use) { return .granted(session: session) }
        guard !isClosed else { return .closed }
        guard waiting < limits.queue else { return .tooManyWaiting }
        lastTicket += 1
        let waiter = Waiter(ticket: lastTicket, use: use, deadline: now + limits.acquireTimeout)
        if use == .read { readers.append(waiter) } else { writers.append(waiter) }
        return .waiting(ticket: lastTicket)
    }

    /// Who was given the session for `use` gives it back.
    /// - Returns: who gets one now, and whether this session is to be closed, because it is retired and nobody holds it.
    mutating func release(_ id: Int, from use: Use) -> (grants: [Grant], mustClose: Bool) {
        // Not there: it was lost meanwhile.
        guard let index = sessions.firstIndex(where: { $0.id == id }) else { return ([], false) }
        sessions[index].inFlight -= 1
        if use != .read { sessions[index].lockHolders -= 1 }
        if use == .exclusive { sessions[index].isExclusive = false }
        return (serve(), sessions[index].isRetired && sessions[index].inFlight == 0)
    }

    /// Takes those whose time is over out of the queue.
    mutating func expire(at now: MonotonicTime) -> [UInt64] {
        var tickets: [UInt64] = []
        while let first = readers.first, first.deadline <= now { tickets.append(readers.removeFirst().ticket) }
        while let first = writers.first, first.deadline <= now { tickets.append(writers.removeFirst().ticket) }
        return tickets
    }

    /// Takes one out of the queue that waits no longer.
    /// - Returns: whether it was there, and who gets a session because it no longer stands in front.
    mutating func cancel(_ ticket: UInt64) -> (wasWaiting: Bool, grants: [Grant]) {
        guard readers.remove(where: { $0.ticket == ticket }) || writers.remove(where: { $0.ticket == ticket }) else {
            return (false, [])
        }
        return (true, serve())
    }

    /// Takes everybody out of the queue.
    mutating func refuseAll() -> [UInt64] {
        defer { (readers, writers) = (Queue(), Queue()) }
        return (readers.all + writers.all).map(\.ticket)
    }

    // MARK: Sessions

    /// Whether one more session may be opened; its attempt is under way then.
    mutating func beginAttempt() -> Bool {
        guard !isClosed, sessions.count + attempts < limits.connections else { return false }
        attempts += 1
        return true
    }

    /// An attempt has become a session.
    mutating func opened(_ id: Int) -> [Grant] {
        attempts -= 1
        reconnectPause = Self.shortestPause
        sessions.append(Session(id: id))
        return serve()
    }

    /// An attempt has failed.
    /// - Returns: how long to wait before the next, nil for no next one.
    mutating func attemptFailed() -> Duration? {
        attempts -= 1
        return nextPause()
    }

    /// A session is gone.
    /// - Returns: how long to wait before another is opened, nil for none.
    mutating func lost(_ id: Int) -> Duration? {
        sessions.removeAll { $0.id == id }
        return nextPause()
    }

    /// The session is given to nobody any more.
    mutating func retire(_ id: Int) {
        guard let index = sessions.firstIndex(where: { $0.id == id }) else { return }
        sessions[index].isRetired = true
    }

    mutating func close() { isClosed = true }

    private mutating func nextPause() -> Duration? {
        guard !isClosed else { return nil }
        defer { reconnectPause = min(reconnectPause * 2, Self.longestPause) }
        return reconnectPause
    }

    // MARK: Choice

    /// The session that the fewest hold, if it can take more. The first of three or more is kept for reads: however
    /// many writes wait for locks, they have one.
    /// - Parameter isReserved: only that one is looked at.
    private func free(for use: Use, isReserved: Bool = false) -> Int? {
        let limit = use == .exclusive ? 1 : limits.exchangesPerConnection
        let hasReserved = limits.connections > 2 && sessions.count > 1
        if isReserved, !hasReserved { return nil }
        var best: Int?
        for (index, session) in sessions.enumerated() where !session.isExclusive && !session.isRetired {
            if hasReserved, index == 0 ? use != .read : isReserved { continue }
            if hasReserved, session.lockHolders > 0 { continue }
            if session.inFlight < (best.map { sessions[$0].inFlight } ?? limit) { best = index }
            if session.inFlight == 0 { break }
        }
        return best
    }

    private mutating func take(_ index: Int, for use: Use) {
        sessions[index].inFlight += 1
        if use != .read { sessions[index].lockHolders += 1 }
        sessions[index].isExclusive = use == .exclusive
    }

    /// First come first served; but a read whose turn it is not goes before writes that wait, on the session kept for reads.
    private mutating func serve() -> [Grant] {
        var grants: [Grant] = []
        while waiting > 0 {
            let (reader, writer) = (readers.first, writers.first)
            let isReadersTurn = reader.map { $0.ticket < writer?.ticket ?? .max } ?? false
            if let next = isReadersTurn ? reader : writer, let index = free(for: next.use) {
                grants.append(grant(next, index))
            } else if let reader, let index = free(for: .read, isReserved: true) {
                grants.append(grant(reader, index))
            } else {
                break
            }
        }
        return grants
    }

    private mutating func grant(_ waiter: Waiter, _ index: Int) -> Grant {
        if waiter.use == .read { _ = readers.removeFirst() } else { _ = writers.removeFirst() }
        take(index, for: waiter.use)
        return Grant(ticket: waiter.ticket, session: sessions[index].id)
    }
}

/// First in, first out; both ends in constant time, from between in linear time.
private struct Queue<Element> {
    private var elements: [Element] = []
    private var firstIndex = 0

    var count: Int { elements.count - firstIndex }
    var first: Element? { count > 0 ? elements[firstIndex] : nil }
    var all: ArraySlice<Element> { elements[firstIndex...] }

    mutating func append(_ element: Element) { elements.append(element) }

    /// - Returns: whether there was such an element; only the first one goes.
    mutating func remove(where isMatch: (Element) -> Bool) -> Bool {
        guard let index = all.firstIndex(where: isMatch) else { return false }
        elements.remove(at: index)
        return true
    }

    /// - Precondition: there is one.
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
