import CPostgres
import Reactor
import SQL

/// Runs statements: on the pool, or in one transaction.
public protocol Queries {
    /// Runs one statement and returns its rows. On the pool the statement is a transaction.
    func query(_ statement: SQL) async throws(PostgresError) -> Rows
    /// Runs one cheap `SELECT`, such as a read that most requests make. On the pool it may be merged with other reads
    /// of the same shape into one statement. Merged reads fail together if no session becomes free in time, or the
    /// session is lost.
    func read(_ statement: SQL) async throws(PostgresError) -> Rows
}

extension Queries {
    public func read(_ statement: SQL) async throws(PostgresError) -> Rows { try await query(statement) }
}

/// A pool of PostgreSQL sessions for one loop, with a bounded queue of requests.
///
/// Lost sessions are reopened in the background, with growing pauses, so the server need not restart with the database.
public final class Database: Queries {
    public struct Limits: Sendable {
        /// The maximum number of sessions of this loop.
        public var connections: Int
        /// The maximum number of batches in flight on one session.
        public var batchesPerConnection = 2
        /// The maximum number of bulk reads in flight. The limit leaves sessions for short statements, and keeps
        /// the data of a bulk read in the processors' caches until its response is written.
        var bulkReads: Int { max(1, connections / 4) }
        /// The maximum number of requests that wait for a session; further ones are refused.
        public var waitingRequests = 1_024
        /// The time that a request may wait in all: for its turn, a session and locks.
        public var requestTimeout = Duration.milliseconds(1_900)
        /// The sessions' setting `lock_timeout`, which counts for each lock.
        public var lockTimeout = Duration.milliseconds(1_100)
        /// The time that one batch may take before its session is closed.
        public var batchTimeout: Duration
        public var connectTimeout = Duration.seconds(5)
        /// Whether waiting requests fail as soon as a session cannot be opened: for command-line tools.
        public var givesUpOnFailure = false
        /// The largest number of reads in one merged statement.
        public var readsPerMergedStatement = 16
        /// The largest number of merged statements in flight.
        public var mergedStatementsInFlight = 2

        public init(connections: Int = 8, batchTimeout: Duration = .seconds(6)) {
            (self.connections, self.batchTimeout) = (connections, batchTimeout)
        }
    }

    public let poller: Poller
    private let options: ConnectionOptions
    private let resolver: HostResolver
    let limits: Limits
    private let slowStatements: SlowStatements?
    private var connections: [Connection] = []
    private var attempts: [ConnectionAttempt] = []
    private var pool: SessionPool
    /// Requests that wait for a session, by ticket.
    private var waiters: [UInt64: CheckedContinuation<LoopBound<Connection?>, Never>] = [:]
    private lazy var expiryTimer = DeadlineTimer(poller) { [weak self] in self?.refuseExpired() }
    private var lastSessionID = 0
    private lazy var groupRead = GroupRead(
        self, batchLimit: limits.readsPerMergedStatement, concurrency: limits.mergedStatementsInFlight)
    /// The reason why the last attempt to open a session failed; nil after a success.
    public private(set) var lastOpenFailure: String?

    /// - Parameters:
    ///   - resolver: resolves the host names.
    ///   - slowStatements: reports slow statements; nil reports none.
    public init(
        _ options: ConnectionOptions, limits: Limits = Limits(), resolver: HostResolver = .system,
        slowStatements: SlowStatements? = nil, poller: Poller
    ) {
        self.options = options
        self.slowStatements = slowStatements
        self.resolver = resolver
        self.limits = limits
        self.poller = poller
        pool = SessionPool(limits)
    }

    /// The largest number of sessions.
    public var connectionLimit: Int { limits.connections }
    /// The number of open sessions.
    public var openConnections: Int { connections.count }
    /// The number of requests that wait for a session.
    public var waitingRequests: Int { pool.waitingRequests }
    /// The number of requests refused because too many waited, or no session became free in time.
    public var refusalCount: Int { refusedRequests + groupRead.refusalCount }
    private var refusedRequests = 0

    // MARK: Statements

    public func query(_ statement: SQL) async throws(PostgresError) -> Rows {
        try await query(statement, until: newRequestDeadline)
    }

    public func read(_ statement: SQL) async throws(PostgresError) -> Rows {
        try await groupRead.run(statement, until: newRequestDeadline)
    }

    /// Runs one `SELECT` of many rows. It waits while `Limits.bulkReads` others are in flight.
    public func bulkRead(_ statement: SQL) async throws(PostgresError) -> Rows {
        try await query(statement, use: .bulkRead, until: newRequestDeadline)
    }

    /// Merges statements of one shape (`SQL.merged`), runs them, and returns the rows of each; nil if there is only
    /// one, or they cannot be merged. The other parameters are those of `pipeline`.
    func runMerged(
        _ statements: [SQL], use: SessionPool.Purpose = .read, until deadline: MonotonicTime?,
        reserving reserve: Duration = .zero
    ) async throws(PostgresError) -> [Rows]? {
        guard statements.count > 1, let merged = SQL.merged(statements) else { return nil }
        let results = try await pipeline([merged], use: use, until: deadline, reserving: reserve)
        guard let first = results.first else { throw .unexpectedShape("no result") }
        return try first.split(among: statements.count)
    }

    /// Runs the statements as one implicit transaction in one round trip.
    public func pipeline(_ statements: [SQL]) async throws(PostgresError) -> [Rows] {
        try await pipeline(statements, use: .read)
    }

    /// Runs the statements as one implicit transaction in one round trip.
    /// - Parameters:
    ///   - deadline: when the statements stop waiting for a session and for locks; by default that of a request that
    ///     comes now.
    ///   - reserve: the time that must be left before the deadline when the wait for locks ends.
    func pipeline(
        _ statements: [SQL], use: SessionPool.Purpose, until deadline: MonotonicTime? = nil,
        reserving reserve: Duration = .zero
    ) async throws(PostgresError) -> [Rows] {
        let deadline = deadline ?? newRequestDeadline
        let connection = try await acquire(for: use, until: deadline)
        defer { release(connection, from: use) }
        guard let limit = lockLimitStatement(until: deadline, reserving: reserve) else {
            return try await connection.pipeline(statements)
        }
        return Array(try await connection.pipeline([limit] + statements).dropFirst())
    }

    /// Runs `body` in a transaction; commits when it returns, rolls back when it throws.
    ///
    /// If the commit fails with `connectionLost`, the outcome is unknown and MUST NOT be reported as success.
    /// - Parameter deadline: when the transaction stops waiting for a session and for locks; nil limits the wait for
    ///   the session by `Limits.requestTimeout`, and the wait for each lock by the sessions' setting.
    public func transaction<Value, Failure: Error>(
        until deadline: MonotonicTime? = nil, _ body: (Transaction) async throws(Failure) -> Value
    ) async throws -> Value {
        try await transaction(until: deadline, lockTimeout: nil, body)
    }

    /// - Parameter lockTimeout: the longest wait for each lock, if there is a deadline; nil for the sessions' setting.
    func transaction<Value, Failure: Error>(
        until deadline: MonotonicTime?, lockTimeout: Duration?, _ body: (Transaction) async throws(Failure) -> Value
    ) async throws -> Value {
        let connection = try await acquire(for: .exclusive, until: deadline ?? newRequestDeadline)
        defer { release(connection, from: .exclusive) }
        let transaction = Transaction(connection) { [self] in
            deadline.flatMap { lockLimitStatement(until: $0, atMost: lockTimeout) }
        }
        do {
            let value = try await body(transaction)
            try await transaction.commit()
            return value
        } catch {
            do { try await transaction.rollBack() } catch { connection.close() }
            throw error
        }
    }

    // MARK: Deadlines

    /// The time at which a request that comes now stops waiting. One deadline covers all of its waits, so that it is
    /// refused in time whichever of them takes long.
    public var newRequestDeadline: MonotonicTime { poller.now + limits.requestTimeout }

    /// Returns the pool for a request with this deadline.
    public func queries(until deadline: MonotonicTime) -> some Queries {
        RequestQueries(database: self, deadline: deadline)
    }

    private struct RequestQueries: Queries {
        let database: Database
        let deadline: MonotonicTime

        func query(_ statement: SQL) async throws(PostgresError) -> Rows {
            try await database.query(statement, until: deadline)
        }

        func read(_ statement: SQL) async throws(PostgresError) -> Rows {
            try await database.groupRead.run(statement, until: deadline)
        }
    }

    func query(
        _ statement: SQL, use: SessionPool.Purpose = .read, until deadline: MonotonicTime
    ) async throws(PostgresError) -> Rows {
        let results = try await pipeline([statement], use: use, until: deadline)
        guard let first = results.first else { throw .unexpectedShape("no result") }
        return first
    }

    /// The shortest time for which a lock is waited for, even if the deadline has passed: most locks are held for less.
    private static let shortestLockWait = Duration.milliseconds(50)

    /// Returns a statement that limits the wait for each lock to the time that is left, and to `longestWait`. Nil if
    /// `longestWait` is nil and the sessions' setting is short enough, as for a request that has hardly waited.
    private func lockLimitStatement(
        until deadline: MonotonicTime, reserving reserve: Duration = .zero, atMost longestWait: Duration? = nil
    ) -> SQL? {
        let timeLeft = max(deadline.elapsed(since: poller.now) - reserve, Self.shortestLockWait)
        if longestWait == nil, timeLeft >= limits.lockTimeout { return nil }
        return Transaction.lockTimeoutStatement(min(timeLeft, longestWait ?? timeLeft))
    }

    // MARK: Sessions

    /// Opens the sessions in the background, one after another: the first serves requests while the others
    /// authenticate, which takes milliseconds of the loop for each (SCRAM).
    public func open() {
        guard pool.beginAttempt() else { return }
        let attempt = ConnectionAttempt(options, resolver, poller)
        attempts.append(attempt)
        poller.spawn { [self] in
            let isOpen = await establish(attempt)
            attempts.removeAll { $0 === attempt }
            if isOpen { open() }
        }
    }

    /// Closes all sessions; batches in flight fail with `connectionLost`.
    public func close() {
        pool.close()
        for attempt in attempts { attempt.cancel() }
        for connection in connections { connection.close() }
        refuse(pool.refuseAllWaiting())
        expiryTimer.cancel()
    }

    private func establish(_ attempt: ConnectionAttempt) async -> Bool {
        do {
            let handle = unsafe try await attempt.open(within: limits.connectTimeout)
            lastSessionID += 1
            let connection = unsafe try Connection(
                adopting: handle, id: lastSessionID, poller: poller, batchTimeout: limits.batchTimeout,
                slowStatements: slowStatements, onRetire: { [weak self] in self?.pool.retire($0.id) },
                onClose: { [weak self] in self?.handleLostSession($0) })
            lastOpenFailure = nil
            connections.append(connection)
            let grants = pool.sessionOpened(connection.id)
            if pool.isClosed { connection.close() } else { serve(grants) }
            return true
        } catch {
            handleFailedAttempt(error)
            return false
        }
    }

    /// Handles a failed attempt to open a session.
    private func handleFailedAttempt(_ error: any Error) {
        lastOpenFailure = (error as? PostgresError)?.unavailabilityReason ?? "\(error)"
        if limits.givesUpOnFailure { refuse(pool.refuseAllWaiting()) }
        open(after: pool.attemptFailed())
    }

    private func handleLostSession(_ connection: Connection) {
        connections.removeAll { $0 === connection }
        let (grants, pause) = pool.sessionLost(connection.id)
        serve(grants)
        open(after: pause)
    }

    /// Opens sessions after the pause; nil opens none.
    private func open(after pause: Duration?) {
        guard let pause else { return }
        poller.schedule(at: poller.now + pause) { [weak self] in self?.open() }
    }

    // MARK: Waiting for a session

    private func acquire(
        for use: SessionPool.Purpose, until deadline: MonotonicTime
    ) async throws(PostgresError) -> Connection {
        poller.assertIsolated()
        if let id = pool.tryAcquire(for: use), let connection = connection(id) { return connection }
        var ticketIfWaiting: UInt64?
        var tooManyAreWaiting = false
        let grantedConnection = await poller.waitUnlessCancelled { continuation in
            // A session may have become free since the check.
            switch pool.acquire(for: use, until: deadline) {
            case .granted(let id): continuation.resume(returning: LoopBound(value: connection(id)))
            case .waiting(let ticket):
                ticketIfWaiting = ticket
                waiters[ticket] = continuation
                expiryTimer.arm(for: deadline)
            case .tooManyWaiting:
                tooManyAreWaiting = true
                continuation.resume(returning: LoopBound(value: nil))
            case .closed: continuation.resume(returning: LoopBound(value: nil))
            }
        } onCancel: { [self] in
            if let ticket = ticketIfWaiting { cancel(ticket) }
        }
        guard let connection = grantedConnection.value else {
            if tooManyAreWaiting {
                refusedRequests += 1
                throw .unavailable("too many requests are waiting")
            }
            if Task.isCancelled { throw .cancelled }
            throw .unavailable(
                pool.isClosed
                    ? "the pool of sessions is closed" : lastOpenFailure ?? "no session became free in time")
        }
        return connection
    }

    private func connection(_ id: Int) -> Connection? { connections.first { $0.id == id } }

    private func release(_ connection: Connection, from use: SessionPool.Purpose) {
        let (grants, mustClose) = pool.release(connection.id, from: use)
        if mustClose { connection.close() }
        serve(grants)
    }

    private func serve(_ grants: [SessionPool.Grant]) {
        for grant in grants {
            waiters.removeValue(forKey: grant.ticket)?.resume(returning: LoopBound(value: connection(grant.sessionID)))
        }
    }

    /// Removes a waiting request whose task was cancelled.
    private func cancel(_ ticket: UInt64) {
        let (wasWaiting, grants) = pool.cancel(ticket)
        guard wasWaiting else { return }
        refuse([ticket])
        serve(grants)
    }

    private func refuseExpired() {
        let expired = pool.expire(at: poller.now)
        refusedRequests += expired.count
        refuse(expired)
        expiryTimer.arm(for: pool.nextDeadline)
    }

    private func refuse(_ tickets: [UInt64]) {
        for ticket in tickets { waiters.removeValue(forKey: ticket)?.resume(returning: LoopBound(value: nil)) }
    }
}
