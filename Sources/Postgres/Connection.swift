import CPostgres
import Reactor
import SQL

/// One session with PostgreSQL on its loop's epoll: libpq, non-blocking and in pipeline mode.
///
/// Work is sent as *exchanges*: some statements followed by a synchronisation point. Several exchanges may be under way;
/// their results come back in order. Outside an explicit `BEGIN` an exchange is one implicit transaction: its
/// statements commit together or not at all, and its results are handed over only after that commit.
@safe final class Connection: ReadinessHandler {
    private let handle: OpaquePointer
    private let socket: Int32
    private let poller: Poller
    /// Called once, when the session is gone; exchanges under way have failed by then.
    private let onClose: (Connection) -> Void

    private var underway: [Exchange] = []
    /// The statements that the session has prepared for certain, and what it calls them.
    private var preparedNames: [SQL.Shape: String] = [:]
    private var statementCount = 0
    private var watchdog: TimerID?
    private(set) var isOpen = true
    /// Held by a transaction: nobody else may use it.
    var isLeased = false
    /// Requests it was given to that have not given it back.
    var holders = 0
    /// Those among them that may wait for locks.
    var lockHolders = 0

    /// No exchange may take longer than this, whatever the database's own timeouts say: a frozen host must not hold
    /// requests for ever.
    private let patience: Duration

    init(
        adopting handle: OpaquePointer, poller: Poller, patience: Duration, onClose: @escaping (Connection) -> Void
    ) throws(SystemError) {
        unsafe self.handle = unsafe handle
        self.poller = poller
        self.patience = patience
        self.onClose = onClose
        socket = unsafe PQsocket(handle)
        try poller.watch(socket, for: .readable, self)
    }

    deinit { unsafe PQfinish(handle) }

    // MARK: Sending

    /// Sends the statements and a synchronisation point, and returns the rows of each.
    /// - Throws: the first statement's refusal, `connectionLost`, or `unavailable` when nothing was sent.
    func exchange(_ statements: [SQL]) async throws(PostgresError) -> [Rows] {
        poller.assertIsolated()
        guard isOpen else { throw .unavailable("the connection is closed") }
        let result = await withCheckedContinuation { continuation in
            send(statements, continuation)
        }
        return try result.value.get()
    }

    /// Runs several statements in one text, without parameters, and drops what they return: for migrations.
    /// - Precondition: nothing is under way.
    func run(script: String) async throws(PostgresError) {
        guard isOpen, underway.isEmpty, unsafe PQexitPipelineMode(handle) == 1 else {
            throw .unavailable("the connection is not at rest")
        }
        let result = await withCheckedContinuation { continuation in
            let exchange = Exchange(continuation, deadline: .distantFuture)
            exchange.isScript = true
            guard isOpen else { return exchange.finish(.unavailable("the connection is closed")) }
            underway.append(exchange)
            if unsafe PQsendQuery(handle, script) == 1 { flush() } else { close() }
        }
        _ = try result.value.get()
    }

    private func send(_ statements: [SQL], _ continuation: Exchange.Continuation) {
        let exchange = Exchange(continuation, deadline: poller.now + patience)
        // The loop may have turned since we looked.
        guard isOpen else { return exchange.finish(.unavailable("the connection is closed")) }
        underway.append(exchange)
        for statement in statements {
            guard queue(statement, in: exchange) else { return close() }
        }
        guard unsafe PQpipelineSync(handle) == 1 else { return close() }
        flush()
        armWatchdog()
    }

    private func queue(_ statement: SQL, in exchange: Exchange) -> Bool {
        let parameters = Parameters(statement.values)
        let shape = statement.shape
        let name: String
        if let shape, let known = preparedNames[shape] ?? exchange.preparing[shape] {
            name = known
        } else {
            // Runtime text is not worth remembering: it gets the unnamed statement. A name that another exchange is
            // about to give is not used here: that exchange may be refused before it gets that far.
            name = shape == nil ? "" : "s\(statementCount)"
            statementCount += 1
            if let shape { exchange.preparing[shape] = name }
            exchange.steps.append(.prepare(shape))
            let types = statement.values.map(\.type.oid)
            guard unsafe PQsendPrepare(handle, name, statement.text, Int32(types.count), types) == 1
            else { return false }
        }
        exchange.steps.append(.execute)
        let sent = unsafe parameters.withArrays { count, values, lengths, formats in
            unsafe PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1)
        }
        return sent == 1
    }

    private func flush() {
        switch unsafe PQflush(handle) {
        case 0: poller.change(socket, to: .readable)
        case 1: poller.change(socket, to: [.readable, .writable])
        default: close()
        }
    }

    // MARK: Receiving

    func ready(_ events: Readiness) {
        if events.contains(.writable) { flush() }
        guard isOpen, !events.isDisjoint(with: [.readable, .peerClosed, .hangUp, .error]) else { return }
        guard unsafe PQconsumeInput(handle) == 1 else { return close() }
        receive()
        if isOpen, unsafe PQstatus(handle) != CONNECTION_OK { close() }
    }

    /// Takes what has arrived, one exchange a turn: its rows are used up before the next one's take as much memory.
    private func receive() {
        while isOpen, let exchange = underway.first, unsafe PQisBusy(handle) == 0 {
            if let result = unsafe PQgetResult(handle) {
                unsafe take(result, for: exchange)
            } else if exchange.isScript {
                underway.removeFirst()
                if unsafe PQenterPipelineMode(handle) != 1 { mustClose = true }
                exchange.finish()
            }
            if let next = underway.first, next !== exchange {
                return poller.atEndOfTurn { [weak self] in self?.receive() }
            }
        }
    }

    private func take(_ result: OpaquePointer, for exchange: Exchange) {
        switch unsafe PQresultStatus(result) {
        case PGRES_PIPELINE_SYNC:
            unsafe PQclear(result)
            underway.removeFirst()
            exchange.finish()
            armWatchdog()
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
            switch exchange.nextStep() {
            case .execute: exchange.rows.append(unsafe Rows(adopting: result))
            case .prepare(let shape):
                unsafe PQclear(result)
                if let shape { preparedNames[shape] = exchange.preparing[shape] }
            // What a script returns is dropped.
            case nil: unsafe PQclear(result)
            }
        case PGRES_PIPELINE_ABORTED:
            _ = exchange.nextStep()
            unsafe PQclear(result)
        case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
            // libpq reports this state until the copy is carried out, which nothing here does.
            unsafe PQclear(result)
            exchange.error = .refused(.copyOverConnection)
            close()
        default:
            let refusal = unsafe Self.refusal(of: result)
            unsafe PQclear(result)
            _ = exchange.nextStep()
            // 26000: no such prepared statement; 0A000: its result shape has changed. A new session knows neither.
            if ["26000", "0A000"].contains(refusal.sqlState) { mustClose = true }
            if exchange.error == nil { exchange.error = .refused(refusal) }
        }
    }

    /// The session's prepared statements and ours have come apart: it is closed when the last who holds it lets go.
    private(set) var mustClose = false

    private static func refusal(of result: OpaquePointer) -> PostgresError.Refusal {
        func field(_ code: Int32) -> String? {
            unsafe PQresultErrorField(result, code).map { unsafe String(cString: $0) }
        }
        return PostgresError.Refusal(
            sqlState: field(Int32(UInt8(ascii: "C"))) ?? "?????", constraint: field(Int32(UInt8(ascii: "n"))),
            table: field(Int32(UInt8(ascii: "t"))), message: field(Int32(UInt8(ascii: "M"))) ?? "")
    }

    // MARK: Ending

    /// Ends the session; whatever is under way fails as lost.
    func close() {
        guard isOpen else { return }
        isOpen = false
        poller.unwatch(socket)
        if let watchdog { poller.cancel(watchdog) }
        watchdog = nil
        let lost = underway
        underway.removeAll()
        for exchange in lost {
            if exchange.error == nil { exchange.error = .connectionLost }
            exchange.finish()
        }
        onClose(self)
    }

    private func armWatchdog() {
        if let watchdog, underway.isEmpty {
            poller.cancel(watchdog)
            self.watchdog = nil
        }
        guard watchdog == nil, let oldest = underway.first else { return }
        watchdog = poller.schedule(at: oldest.deadline) { [weak self] in
            guard let self else { return }
            watchdog = nil
            if let oldest = underway.first, oldest.deadline <= poller.now { close() } else { armWatchdog() }
        }
    }
}

/// Some statements sent together, and what has come back for them.
private final class Exchange {
    enum Step {
        /// Nil is the unnamed statement.
        case prepare(SQL.Shape?)
        case execute
    }
    typealias Continuation = CheckedContinuation<Confined<Result<[Rows], PostgresError>>, Never>

    let deadline: MonotonicTime
    var steps: [Step] = []
    /// The names it gives to statements that the session has not prepared yet.
    var preparing: [SQL.Shape: String] = [:]
    var rows: [Rows] = []
    var error: PostgresError?
    var isScript = false
    private var stepsTaken = 0
    private let continuation: Continuation

    init(_ continuation: Continuation, deadline: MonotonicTime) {
        self.continuation = continuation
        self.deadline = deadline
    }

    /// The step that the next result belongs to.
    func nextStep() -> Step? {
        guard stepsTaken < steps.count else { return nil }
        defer { stepsTaken += 1 }
        return steps[stepsTaken]
    }

    /// Hands the outcome to the waiting task. Called exactly once.
    func finish(_ fault: PostgresError? = nil) {
        let error = fault ?? error
        continuation.resume(returning: Confined(value: error.map { .failure($0) } ?? .success(rows)))
    }
}
