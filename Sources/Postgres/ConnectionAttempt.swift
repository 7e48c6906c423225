import CPostgres
import Glibc
import Reactor

/// Opening a session without blocking the loop: libpq's PQconnectPoll driven by readiness and one deadline.
@safe final class ConnectionAttempt: ReadinessHandler {
    /// Nil once the session is handed over or the attempt is over.
    private var handle: OpaquePointer?
    private let poller: Poller
    private var continuation: CheckedContinuation<Bool, Never>?
    private var watched: Int32 = -1
    private var timer: TimerID?

    init(_ options: ConnectionOptions, _ poller: Poller) throws(PostgresError) {
        let keywords = options.parameters.map(\.keyword)
        let values = options.parameters.map(\.value)
        let handle = unsafe withCStrings(keywords) { keywords in
            unsafe withCStrings(values) { values in unsafe PQconnectStartParams(keywords, values, 0) }
        }
        guard let handle = unsafe handle else { throw .unavailable("out of memory") }
        unsafe self.handle = unsafe handle
        self.poller = poller
        _ = unsafe PQsetNoticeProcessor(handle, { _, _ in }, nil)
    }

    deinit { unsafe PQfinish(handle) }

    /// Opens the session, which is the caller's from then on.
    /// - Throws: `unavailable`, with libpq's reason, when it cannot be opened within `timeout`.
    func open(within timeout: Duration) async throws(PostgresError) -> OpaquePointer {
        let isConnected = await run(timeout)
        guard let handle = unsafe handle else { throw .unavailable("given up") }
        guard isConnected, unsafe PQsetnonblocking(handle, 1) == 0, unsafe PQenterPipelineMode(handle) == 1 else {
            let reason = unsafe String(cString: PQerrorMessage(handle))
            throw .unavailable(reason.isEmpty ? "no answer in time" : Self.firstLine(reason))
        }
        unsafe self.handle = nil
        return unsafe handle
    }

    /// Ends the attempt and its socket at once. A session that nobody authenticates holds up the database's other
    /// sessions: `DROP DATABASE` waits for it, up to PostgreSQL's `authentication_timeout`.
    func giveUp() {
        stopWatching()
        unsafe PQfinish(handle)
        unsafe handle = nil
        finish(false)
    }

    private static func firstLine(_ text: String) -> String {
        String(text.split(whereSeparator: \.isNewline).first ?? "")
    }

    private func run(_ timeout: Duration) async -> Bool {
        await withCheckedContinuation { continuation in
            self.continuation = continuation
            timer = poller.schedule(at: poller.now + timeout) { [weak self] in self?.finish(false) }
            // PQconnectPoll's contract: before the first call, behave as if it had asked to write.
            if unsafe PQstatus(handle) == CONNECTION_BAD { finish(false) } else { wait(for: .writable) }
        }
    }

    func ready(_ events: Readiness) {
        stopWatching()
        switch unsafe PQconnectPoll(handle) {
        case PGRES_POLLING_READING: wait(for: .readable)
        case PGRES_POLLING_WRITING: wait(for: .writable)
        case PGRES_POLLING_OK: finish(true)
        default: finish(false)
        }
    }

    /// libpq may go on with another host, so the socket is asked for anew each time.
    private func wait(for interest: Interest) {
        let socket = unsafe PQsocket(handle)
        do {
            try poller.watch(socket, for: interest, self)
            watched = socket
        } catch {
            finish(false)
        }
    }

    private func stopWatching() {
        if watched >= 0 { poller.unwatch(watched) }
        watched = -1
    }

    private func finish(_ isConnected: Bool) {
        guard let continuation else { return }
        self.continuation = nil
        stopWatching()
        if let timer { poller.cancel(timer) }
        continuation.resume(returning: isConnected)
    }
}

/// Lends a NULL-terminated array of C strings.
private func withCStrings<Result>(
    _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result?
) -> Result? {
    let copies = unsafe strings.map { unsafe strdup($0) }
    defer { unsafe copies.forEach { unsafe free($0) } }
    let pointers = unsafe copies.map { unsafe UnsafePointer($0) } + [nil]
    return unsafe pointers.withUnsafeBufferPointer { buffer in
        unsafe buffer.baseAddress.flatMap { unsafe body($0) }
    }
}
