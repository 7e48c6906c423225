import CPostgres
import Reactor
import SQL

/// One PostgreSQL session on its loop's epoll: libpq, non-blocking and in pipeline mode.
///
/// Statements are sent in *batches*, each followed by a synchronisation point. Several batches may be in flight; their
/// results arrive in order. Outside an explicit `BEGIN` a batch is one implicit transaction: its statements commit
/// together or not at all, and their results are returned only after the commit.
@safe final class Connection: ReadinessHandler {
    /// The number that the owner, a pool or a listener, gave the session.
    let id: Int
    private let handle: OpaquePointer
    private let socket: Int32
    private let poller: Poller
    /// The function that is called once, when the session must not be used for new requests.
    private let onRetire: (Connection) -> Void
    /// The function that is called once, when the session is closed and the batches in flight have failed.
    private let onClose: (Connection) -> Void

    private var batchesInFlight: [PipelineBatch] = []
    /// The names of the statements that the session is known to have prepared.
    private var preparedNames: [SQL.StatementKey: String] = [:]
    /// The number in the name of the next statement to prepare. Unnamed statements are counted too.
    private var nextStatementNumber = 0
    private lazy var watchdog = DeadlineTimer(poller) { [weak self] in self?.closeIfOverdue() }
    private var isReadScheduled = false
    private(set) var isOpen = true
    private var isRetired = false
    /// The function that is called with the payload of each notification of a channel that the session listens on.
    var onNotification: ((String) -> Void)?
    /// The longest time for one batch, independent of the database's own timeouts, so that a frozen host cannot hold
    /// requests.
    private let batchTimeout: Duration
    private let slowStatements: SlowStatements?
    /// The time at which the last batch ended. A batch that was sent earlier runs only from that time on.
    private var lastBatchEnd = MonotonicTime(nanoseconds: 0)

    init(
        adopting handle: OpaquePointer, id: Int, poller: Poller, batchTimeout: Duration,
        slowStatements: SlowStatements? = nil, onRetire: @escaping (Connection) -> Void,
        onClose: @escaping (Connection) -> Void
    ) throws(SystemError) {
        self.id = id
        unsafe self.handle = unsafe handle
        self.poller = poller
        self.batchTimeout = batchTimeout
        self.slowStatements = slowStatements
        self.onRetire = onRetire
        self.onClose = onClose
        socket = unsafe PQsocket(handle)
        try poller.watch(socket, for: .readable, self)
    }

    deinit { unsafe PQfinish(handle) }

    // MARK: Sending

    /// Sends the statements and a synchronisation point, and returns the rows of each statement.
    /// - Throws: `refused` for the first statement that fails, `connectionLost`, or `unavailable` if nothing was sent.
    func pipeline(_ statements: [SQL]) async throws(PostgresError) -> [Rows] {
        poller.assertIsolated()
        guard isOpen else { throw .unavailable("the connection is closed") }
        let outcome = await withCheckedContinuation { continuation in
            send(statements, continuation)
        }.value
        if let slowStatements, outcome.duration >= slowStatements.threshold {
            let rowCount = try? outcome.result.get().reduce(0) { $0 + $1.count }
            slowStatements.report(SlowBatch(statements: statements, duration: outcome.duration, rowCount: rowCount))
        }
        return try outcome.result.get()
    }

    /// Runs a text of several statements without parameters and discards their results: for migrations. It has no
    /// timeout.
    /// - Throws: `refused` for the first statement that fails, `connectionLost`, or `unavailable` if the session is
    ///   closed or has a batch in flight.
    func run(script: String) async throws(PostgresError) {
        guard isOpen, batchesInFlight.isEmpty, unsafe PQexitPipelineMode(handle) == 1 else {
            throw .unavailable("the connection is not idle")
        }
        let outcome = await withCheckedContinuation { continuation in
            let batch = PipelineBatch(continuation, sentAt: poller.now, deadline: .distantFuture)
            batch.isScript = true
            guard isOpen else { return finish(batch, .unavailable("the connection is closed")) }
            batchesInFlight.append(batch)
            if unsafe PQsendQuery(handle, script) == 1 { flush() } else { close() }
        }
        _ = try outcome.value.result.get()
    }

    private func send(_ statements: [SQL], _ continuation: PipelineBatch.Continuation) {
        let batch = PipelineBatch(continuation, sentAt: poller.now, deadline: poller.now + batchTimeout)
        // The session may have been closed since the check.
        guard isOpen else { return finish(batch, .unavailable("the connection is closed")) }
        batchesInFlight.append(batch)
        for statement in statements {
            guard queue(statement, in: batch) else { return close() }
        }
        guard unsafe PQpipelineSync(handle) == 1 else { return close() }
        flush()
        watchdog.arm(for: batchesInFlight.first?.deadline)
    }

    /// Queues the statement in libpq. Returns false if libpq does not accept it.
    private func queue(_ statement: SQL, in batch: PipelineBatch) -> Bool {
        let parameters = Parameters(statement.values)
        let statementKey = statement.statementKey
        let name: String
        if let statementKey, let preparedName = preparedNames[statementKey] ?? batch.namesToPrepare[statementKey] {
            name = preparedName
        } else {
            // Statements with runtime text are unnamed, because they are not reused. A name that another batch in
            // flight prepares is not used, because that batch may fail before it prepares the statement.
            name = statementKey == nil ? "" : "s\(nextStatementNumber)"
            nextStatementNumber += 1
            if let statementKey { batch.namesToPrepare[statementKey] = name }
            batch.steps.append(.prepare(statementKey))
            let types = statement.values.map(\.type.oid)
            guard unsafe PQsendPrepare(handle, name, statement.text, Int32(types.count), types) == 1
            else { return false }
        }
        batch.steps.append(.execute)
        let status = unsafe parameters.withArrays { count, values, lengths, formats in
            unsafe PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1)
        }
        return status == 1
    }

    private func flush() {
        switch unsafe PQflush(handle) {
        case 0: poller.changeInterest(of: socket, to: .readable)
        case 1: poller.changeInterest(of: socket, to: [.readable, .writable])
        default: close()
        }
    }

    // MARK: Receiving

    func handleReadiness(_ events: Readiness) {
        if events.contains(.writable) { flush() }
        // Input is read even if the socket is only writable: PQflush reads too when it cannot send everything.
        readInput()
    }

    private func readInput() {
        guard isOpen else { return }
        guard unsafe PQconsumeInput(handle) == 1 else { return close() }
        takeResults()
        guard isOpen else { return }
        if onNotification != nil { takeNotifications() }
        guard isOpen else { return }
        if unsafe PQstatus(handle) != CONNECTION_OK { return close() }
        readDecrypted()
    }

    /// Reads bytes that TLS has already decrypted, because epoll does not report them. It reads once per turn, so that
    /// a large result does not delay others on the loop. libpq 15.20 reads all of them itself; older versions do not.
    private func readDecrypted() {
        guard !isReadScheduled, unsafe CPostgresDecryptedBytes(handle) > 0 else { return }
        isReadScheduled = true
        poller.runAtEndOfTurn { [weak self] in
            guard let self else { return }
            isReadScheduled = false
            readInput()
        }
    }

    /// Takes results that have arrived, one batch per turn, so that one batch's rows can be freed before the next
    /// arrives.
    private func takeResults() {
        while isOpen, let batch = batchesInFlight.first, unsafe PQisBusy(handle) == 0 {
            if let result = unsafe PQgetResult(handle) {
                unsafe takeResult(result, for: batch)
            } else if batch.isScript {
                batchesInFlight.removeFirst()
                if unsafe PQenterPipelineMode(handle) != 1 { retire() }
                finish(batch)
            }
            if let next = batchesInFlight.first, next !== batch {
                return poller.runAtEndOfTurn { [weak self] in self?.takeResults() }
            }
        }
    }

    private func takeNotifications() {
        while isOpen, let notification = unsafe PQnotifies(handle) {
            let payload = unsafe String(cString: notification.pointee.extra)
            unsafe PQfreemem(notification)
            onNotification?(payload)
        }
    }

    private func takeResult(_ result: OpaquePointer, for batch: PipelineBatch) {
        switch unsafe PQresultStatus(result) {
        case PGRES_PIPELINE_SYNC:
            unsafe PQclear(result)
            batchesInFlight.removeFirst()
            finish(batch)
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
            switch batch.takeNextStep() {
            case .execute: batch.rowsOfStatements.append(unsafe Rows(adopting: result))
            case .prepare(let statementKey):
                unsafe PQclear(result)
                if let statementKey { preparedNames[statementKey] = batch.namesToPrepare[statementKey] }
            // The result of a script statement is discarded.
            case nil: unsafe PQclear(result)
            }
        case PGRES_PIPELINE_ABORTED:
            _ = batch.takeNextStep()
            unsafe PQclear(result)
        case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
            // libpq stays in this state until the copy ends, and copies are not supported here.
            unsafe PQclear(result)
            batch.error = .refused(.copyOverConnection)
            close()
        default:
            let refusal = unsafe Self.refusal(of: result)
            unsafe PQclear(result)
            _ = batch.takeNextStep()
            // 26000: the prepared statement does not exist; 0A000: its result type has changed. A new session has
            // neither error.
            if ["26000", "0A000"].contains(refusal.sqlState) { retire() }
            if batch.error == nil { batch.error = .refused(refusal) }
        }
    }

    private func finish(_ batch: PipelineBatch, _ fault: PostgresError? = nil) {
        batch.finish(fault, after: poller.now.elapsed(since: max(batch.sentAt, lastBatchEnd)))
        lastBatchEnd = poller.now
    }

    /// Ends the session for new requests. It is closed when the last request that uses it has ended.
    private func retire() {
        guard !isRetired else { return }
        isRetired = true
        onRetire(self)
    }

    private static func refusal(of result: OpaquePointer) -> PostgresError.Refusal {
        func field(_ code: Int32) -> String? {
            unsafe PQresultErrorField(result, code).map { unsafe String(cString: $0) }
        }
        return PostgresError.Refusal(
            sqlState: field(Int32(UInt8(ascii: "C"))) ?? "?????", constraint: field(Int32(UInt8(ascii: "n"))),
            table: field(Int32(UInt8(ascii: "t"))), message: field(Int32(UInt8(ascii: "M"))) ?? "")
    }

    // MARK: Ending

    /// Closes the session; batches in flight fail with `connectionLost`.
    func close() {
        guard isOpen else { return }
        isOpen = false
        poller.unwatch(socket)
        watchdog.cancel()
        let lostBatches = batchesInFlight
        batchesInFlight.removeAll()
        for batch in lostBatches {
            if batch.error == nil { batch.error = .connectionLost }
            finish(batch)
        }
        onClose(self)
    }

    private func closeIfOverdue() {
        guard let oldest = batchesInFlight.first, !oldest.isScript else { return }
        if oldest.deadline <= poller.now { close() } else { watchdog.arm(for: oldest.deadline) }
    }
}

/// Statements sent together, and their results so far.
private final class PipelineBatch {
    enum Step {
        /// The statement to prepare; nil for the unnamed statement.
        case prepare(SQL.StatementKey?)
        case execute
    }
    struct Outcome {
        let result: Result<[Rows], PostgresError>
        /// The time since the batch was sent, or since the batch before it ended, whichever is shorter.
        let duration: Duration
    }
    typealias Continuation = CheckedContinuation<LoopBound<Outcome>, Never>

    let sentAt: MonotonicTime
    let deadline: MonotonicTime
    var steps: [Step] = []
    /// The names of the statements that this batch prepares.
    var namesToPrepare: [SQL.StatementKey: String] = [:]
    var rowsOfStatements: [Rows] = []
    var error: PostgresError?
    var isScript = false
    private var nextStepIndex = 0
    private let continuation: Continuation

    init(_ continuation: Continuation, sentAt: MonotonicTime, deadline: MonotonicTime) {
        self.continuation = continuation
        self.sentAt = sentAt
        self.deadline = deadline
    }

    /// Returns the step that the next result belongs to, and advances to the one after it.
    func takeNextStep() -> Step? {
        guard nextStepIndex < steps.count else { return nil }
        defer { nextStepIndex += 1 }
        return steps[nextStepIndex]
    }

    /// Resumes the waiting task with the result. Called exactly once.
    func finish(_ fault: PostgresError?, after duration: Duration) {
        let result: Result<[Rows], PostgresError> = (fault ?? error).map { .failure($0) } ?? .success(rowsOfStatements)
        continuation.resume(returning: LoopBound(value: Outcome(result: result, duration: duration)))
    }
}
