import CPostgres
import Reactor
import SQL

/// Something statements can be run on: the pool, or one transaction.
public protocol Queries {
    /// Runs one statement and returns its rows. On the pool it is a transaction of its own.
    func query(_ statement: SQL) async throws(PostgresError) -> Rows
    /// Runs one `SELECT` that takes little time and memory. On the pool it may share a statement, and so its fate in a
    /// timeout, with others of the same shape: for what every request asks.
    func read(_ statement: SQL) async throws(PostgresError) -> Rows
}

extension Queries {
    public func read(_ statement: SQL) async throws(PostgresError) -> Rows { try await query(statement) }
}

/// The sessions of one loop with PostgreSQL, shared by its requests behind a bounded queue.
///
/// Lost sessions are opened again in the background, with growing pauses, for as long as the server runs: a restarted
/// database needs no restart of ours.
public final class Database: Queries {
    public struct Limits: Sendable {
        /// Sessions of this loop.
        public var connections = 8
        /// Batches that may be under way on one session at the same time.
        public var exchangesPerConnection = 2
        /// Requests that may wait for a session; one more is refused at once.
        public var queue = 1_024
        /// How long a request waits for a session.
        public var acquireTimeout = Duration.seconds(2)
        /// How long one batch may take before its session is given up.
        public var batchTimeout = Duration.seconds(6)
        public var connectTimeout = Duration.seconds(5)
        /// Whether those who wait are told at once that a session could not be opened: for tools, which have nobody to
        /// come back to.
        public var givesUpOnFailure = false
        /// Reads that share a statement at most, and such statements under way at most.
        public var sharedReads = 16
        public var sharedStatements = 2
        public init() {}
    }

    public let poller: Poller
    private let options: ConnectionOptions
    private let resolver: HostResolver
    let limits: Limits
    private var connections: [Connection] = []
    private var attempts: [ConnectionAttempt] = []
    /// Those that only read, and all others: the ones do not wait for the others' sessions.
    private var readers = WaiterQueue()
    private var writers = WaiterQueue()
    private var lastTicket: UInt64 = 0
    private lazy var reads = GroupRead(
        self, batchLimit: limits.sharedReads, concurrency: limits.sharedStatements)
    private var reconnectPause = Duration.milliseconds(50)
    private var isClosed = false
    /// Why the last attempt to open a session failed; nil once one is open.
    public private(set) var lastFailure: String?

    /// - Parameter resolver: looks up the hosts' names.
    public init(
        _ options: ConnectionOptions, limits: Limits = Limits(), resolver: HostResolver = .system, poller: Poller
    ) {
        self.options = options
        self.resolver = resolver
        self.limits = limits
        self.poller = poller
    }

    /// How many sessions there may be.
    public var connectionLimit: Int { limits.connections }
    /// How many sessions are open.
    public var openConnections: Int { connections.count }
    /// How many requests wait for a session.
    public var waiting: Int { readers.count + writers.count }

    // MARK: Statements

    public func query(_ statement: SQL) async throws(PostgresError) -> Rows {
        let rows = try await pipeline([statement])
        guard let first = rows.first else { throw .unexpectedShape("no result") }
        return first
    }

    public func read(_ statement: SQL) async throws(PostgresError) -> Rows { try await reads.run(statement) }

    /// Runs several statements of one shape as one (`SQL.merged`) and returns the rows of each; nil where they cannot be.
    func runMerged(_ statements: [SQL], use: SessionUse = .read) async throws(PostgresError) -> [Rows]? {
        guard statements.count > 1, let merged = SQL.merged(statements) else { return nil }
        let rows = try await pipeline([merged], use: use)
        guard let first = rows.first else { throw .unexpectedShape("no result") }
        return try first.split(among: statements.count)
    }

    /// Runs the statements as one implicit transaction in one round trip.
    public func pipeline(_ statements: [SQL]) async throws(PostgresError) -> [Rows] {
        try await pipeline(statements, use: .read)
    }

    /// What a session is wanted for.
    enum SessionUse {
        /// Statements that hardly wait for locks.
        case read
        /// Statements that may wait for locks: where there are three sessions or more, nothing is sent behind them on theirs.
        case write
        /// A transaction, which has the session to itself.
        case exclusive
    }

    func pipeline(_ statements: [SQL], use: SessionUse) async throws(PostgresError) -> [Rows] {
        let connection = try await acquire(for: use)
        defer { released(connection, from: use) }
        return try await connection.pipeline(statements)
    }

    /// Runs `body` in a transaction of its own; commits when it returns, rolls back when it throws.
    ///
    /// A failure of the commit itself is `connectionLost`: the outcome is in doubt and MUST NOT be told as success.
    public func transaction<Value, Failure: Error>(
        _ body: (Transaction) async throws(Failure) -> Value
    ) async throws -> Value {
        let connection = try await acquire(for: .exclusive)
        defer {
            connection.isExclusive = false
            released(connection, from: .exclusive)
        }
        let transaction = Transaction(connection)
        do {
            let value = try await body(transaction)
            try await transaction.commit()
            return value
        } catch {
            do { try await transaction.rollBack() } catch { connection.close() }
            throw error
        }
    }

    // MARK: Sessions

    /// Opens the sessions in the background, one after the other: the first answers requests while the others sign in,
    /// which costs the loop milliseconds each (SCRAM).
    public func open() {
        guard !isClosed, connections.count + attempts.count < limits.connections else { return }
        let attempt = ConnectionAttempt(options, resolver, poller)
        attempts.append(attempt)
        poller.spawn { [self] in
            let isOpen = await establish(attempt)
            attempts.removeAll { $0 === attempt }
            if isOpen { open() }
        }
    }

    /// Ends all sessions; statements under way fail as lost.
    public func close() {
        isClosed = true
        for attempt in attempts { attempt.giveUp() }
        for connection in connections { connection.close() }
        refuseWaiters()
    }

    private func refuseWaiters() {
        for waiter in readers.takeAll() + writers.takeAll() { waiter.resume(returning: nil) }
    }

    private func establish(_ attempt: ConnectionAttempt) async -> Bool {
        do {
            let handle = unsafe try await attempt.open(within: limits.connectTimeout)
            let connection = unsafe try Connection(
                adopting: handle, poller: poller, timeout: limits.batchTimeout,
                onClose: { [weak self] in self?.lost($0) })
            reconnectPause = .milliseconds(50)
            lastFailure = nil
            connections.append(connection)
            if isClosed { connection.close() } else { serveWaiters() }
            return true
        } catch {
            failed(error)
            return false
        }
    }

    /// A session could not be opened.
    private func failed(_ error: any Error) {
        lastFailure = (error as? PostgresError)?.reason ?? "\(error)"
        if limits.givesUpOnFailure { refuseWaiters() }
        reopenLater()
    }

    private func lost(_ connection: Connection) {
        connections.removeAll { $0 === connection }
        reopenLater()
    }

    private func reopenLater() {
        guard !isClosed else { return }
        poller.schedule(at: poller.now + reconnectPause) { [weak self] in self?.open() }
        reconnectPause = min(reconnectPause * 2, .seconds(1))
    }

    // MARK: Waiting for a session

    private func acquire(for use: SessionUse) async throws(PostgresError) -> Connection {
        poller.assertIsolated()
        if waiting == 0, let connection = free(for: use) {
            give(connection, for: use)
            return connection
        }
        guard !isClosed else { throw Self.closed }
        guard waiting < limits.queue else { throw .unavailable("too many requests are waiting") }
        let deadline = poller.now + limits.acquireTimeout
        let granted = await withCheckedContinuation { continuation in
            lastTicket += 1
            let ticket = lastTicket
            if use == .read {
                readers.add(continuation, ticket, for: use)
            } else {
                writers.add(continuation, ticket, for: use)
            }
            poller.schedule(at: deadline) { [weak self] in self?.take(ticket, for: use)?.resume(returning: nil) }
            // The loop may have turned since we looked for a session.
            serveWaiters()
        }
        guard let connection = granted?.value else {
            throw isClosed ? Self.closed : .unavailable(lastFailure ?? "no session became free in time")
        }
        return connection
    }

    private static let closed = PostgresError.unavailable("the pool of sessions is closed")

    private func take(_ ticket: UInt64, for use: SessionUse) -> WaiterQueue.Continuation? {
        use == .read ? readers.take(ticket) : writers.take(ticket)
    }

    /// From here on the session is taken, whether anything was sent on it yet or not: the loop may turn in between.
    private func give(_ connection: Connection, for use: SessionUse) {
        connection.inFlight += 1
        if use != .read { connection.lockHolders += 1 }
        connection.isExclusive = use == .exclusive
    }

    /// The open session that the fewest hold, if it can take more. The first of three or more is kept for reads: however
    /// many writes wait for locks, they have one.
    /// - Parameter isReserved: only that one is looked at.
    private func free(for use: SessionUse, isReserved: Bool = false) -> Connection? {
        let limit = use == .exclusive ? 1 : limits.exchangesPerConnection
        let hasReserved = limits.connections > 2 && connections.count > 1
        if isReserved, !hasReserved { return nil }
        var best: Connection?
        for (index, connection) in connections.enumerated()
        where !connection.isExclusive && !connection.mustClose && connection.isOpen {
            if hasReserved, index == 0 ? use != .read : isReserved { continue }
            if hasReserved, connection.lockHolders > 0 { continue }
            if connection.inFlight < (best?.inFlight ?? limit) { best = connection }
            if connection.inFlight == 0 { break }
        }
        return best
    }

    private func released(_ connection: Connection, from use: SessionUse) {
        connection.inFlight -= 1
        if use != .read { connection.lockHolders -= 1 }
        if connection.mustClose, connection.inFlight == 0 { connection.close() }
        serveWaiters()
    }

    /// First come first served; but a read whose turn it is not goes before writes that wait, on the session kept for reads.
    private func serveWaiters() {
        while true {
            let (reader, writer) = (readers.next, writers.next)
            let isReadersTurn = reader.map { $0.ticket < writer?.ticket ?? .max } ?? false
            if let next = isReadersTurn ? reader : writer, let connection = free(for: next.use) {
                serve(next, connection)
            } else if let reader, let connection = free(for: .read, isReserved: true) {
                serve(reader, connection)
            } else {
                return
            }
        }
    }

    private func serve(_ next: (ticket: UInt64, use: SessionUse), _ connection: Connection) {
        guard let continuation = take(next.ticket, for: next.use) else { return }
        give(connection, for: next.use)
        continuation.resume(returning: LoopBound(value: connection))
    }
}

/// Statements on one session between BEGIN and COMMIT.
public final class Transaction: Queries {
    private let connection: Connection
    private var isBegun = false
    private var isOver = false

    init(_ connection: Connection) { self.connection = connection }

    /// The statement after which a transaction waits no longer than that for each lock.
    static func lockTimeout(_ timeout: Duration) -> SQL {
        let timeout = "\(timeout / .milliseconds(1))ms"
        return "SELECT set_config('lock_timeout', \(timeout), true)"
    }

    public func query(_ statement: SQL) async throws(PostgresError) -> Rows {
        let rows = try await pipeline([statement])
        guard let first = rows.first else { throw .unexpectedShape("no result") }
        return first
    }

    /// Runs the statements in one round trip.
    public func pipeline(_ statements: [SQL]) async throws(PostgresError) -> [Rows] {
        if isBegun { return try await connection.pipeline(statements) }
        isBegun = true
        return Array(try await connection.pipeline(["BEGIN"] + statements).dropFirst())
    }

    /// Runs several statements in one text, without parameters, and drops what they return: for migrations.
    public func run(script: String) async throws(PostgresError) {
        if !isBegun { _ = try await pipeline([]) }
        try await connection.run(script: script)
    }

    /// - Throws: also when a statement had failed before, which the caller of the transaction may have ignored.
    fileprivate func commit() async throws(PostgresError) {
        guard let rows = try await end("COMMIT"), rows.command != "COMMIT" else { return }
        throw .refused(.rolledBack)
    }

    fileprivate func rollBack() async throws(PostgresError) { _ = try await end("ROLLBACK") }

    /// Nil when there is nothing to end.
    private func end(_ statement: SQL) async throws(PostgresError) -> Rows? {
        guard isBegun, !isOver else { return nil }
        isOver = true
        return try await connection.pipeline([statement]).first
    }
}

/// Requests waiting for a session, first come first served.
private struct WaiterQueue {
    typealias Continuation = CheckedContinuation<LoopBound<Connection>?, Never>

    private struct Waiter {
        let continuation: Continuation
        let use: Database.SessionUse
    }

    private var order: [UInt64] = []
    private var firstIndex = 0
    private var waiters: [UInt64: Waiter] = [:]

    var count: Int { waiters.count }

    mutating func add(_ continuation: Continuation, _ ticket: UInt64, for use: Database.SessionUse) {
        order.append(ticket)
        waiters[ticket] = Waiter(continuation: continuation, use: use)
    }

    mutating func take(_ ticket: UInt64) -> Continuation? { waiters.removeValue(forKey: ticket)?.continuation }

    /// Who is first in line; those who gave up are skipped.
    var next: (ticket: UInt64, use: Database.SessionUse)? {
        mutating get {
            while firstIndex < order.count {
                let ticket = order[firstIndex]
                if let waiter = waiters[ticket] { return (ticket, waiter.use) }
                firstIndex += 1
                if firstIndex > 1_024 {
                    order.removeFirst(firstIndex)
                    firstIndex = 0
                }
            }
            return nil
        }
    }

    mutating func takeAll() -> [Continuation] {
        defer { waiters.removeAll() }
        return waiters.values.map(\.continuation)
    }
}
