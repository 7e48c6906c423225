import CPostgres
import Glibc
import Reactor

/// Opens a session without blocking the loop: resolves host names on other threads, then drives libpq's PQconnectPoll
/// by readiness, within one deadline.
@safe final class ConnectionAttempt: ReadinessHandler {
    private let options: ConnectionOptions
    private let resolver: HostResolver
    private let poller: Poller
    /// The handle; nil before the names are resolved, after the session is returned, and after `cancel`.
    private var handle: OpaquePointer?
    private var lookup: Lookup?
    /// The reason that `open` gives if there is no handle; nil if none is known.
    private var failureReason: String?
    private var continuation: CheckedContinuation<Bool, Never>?
    private var watchedSocket: Int32 = -1
    /// The timer that ends the attempt.
    private var timeoutTimer: TimerID?
    private var hasEnded = false

    /// The name resolution in progress.
    private struct Lookup {
        let hosts: HostList
        let parameters: [(keyword: String, value: String)]
        /// The names whose resolution has not ended.
        var pendingNames: Set<String>
        var addresses: [String: [String]] = [:]
        /// The timer that continues the attempt with the names resolved so far.
        var halfTimeTimer: TimerID?
    }

    init(_ options: ConnectionOptions, _ resolver: HostResolver, _ poller: Poller) {
        self.options = options
        self.resolver = resolver
        self.poller = poller
    }

    deinit { unsafe PQfinish(handle) }

    /// Opens the session; the caller owns it.
    /// - Throws: `unavailable` with the reason of the resolver or libpq if the session cannot be opened within
    ///   `timeout`.
    func open(within timeout: Duration) async throws(PostgresError) -> OpaquePointer {
        let isConnected = await run(timeout)
        guard let handle = unsafe handle else { throw .unavailable(failureReason ?? "given up") }
        guard isConnected, unsafe PQsetnonblocking(handle, 1) == 0, unsafe PQenterPipelineMode(handle) == 1 else {
            let reason = unsafe String(cString: PQerrorMessage(handle))
            throw .unavailable(reason.isEmpty ? "no answer in time" : Self.firstLine(reason))
        }
        unsafe self.handle = nil
        return unsafe handle
    }

    /// Ends the attempt and closes its socket. PostgreSQL keeps a session that never authenticates until its
    /// `authentication_timeout`, and `DROP DATABASE` would wait for it.
    func cancel() {
        hasEnded = true
        stopWatching()
        unsafe PQfinish(handle)
        unsafe handle = nil
        finish(isConnected: false)
    }

    private static func firstLine(_ text: String) -> String {
        String(text.split(whereSeparator: \.isNewline).first ?? "")
    }

    /// Returns whether libpq has connected within the timeout.
    private func run(_ timeout: Duration) async -> Bool {
        await withCheckedContinuation { continuation in
            // The attempt may have been cancelled before this task ran.
            guard !hasEnded else { return continuation.resume(returning: false) }
            self.continuation = continuation
            timeoutTimer = poller.schedule(at: poller.now + timeout) { [weak self] in self?.failOnTimeout() }
            resolveNames(timeout)
        }
    }

    private func failOnTimeout() {
        if let lookup {
            let names = lookup.hosts.namesToResolve.filter(lookup.pendingNames.contains).joined(separator: ", ")
            failureReason = "the host name \(names) was not resolved in time"
        }
        finish(isConnected: false)
    }

    // MARK: Names

    private func resolveNames(_ timeout: Duration) {
        let parameters = HostList.addingHostDefaults(to: options.parameters)
        guard let hosts = HostList(parameters), !hosts.namesToResolve.isEmpty else {
            return connect(options.parameters)
        }
        var lookup = Lookup(hosts: hosts, parameters: parameters, pendingNames: Set(hosts.namesToResolve))
        // If a name is not resolved, half of the time is left for the other hosts.
        lookup.halfTimeTimer = poller.schedule(at: poller.now + timeout / 2) { [weak self] in
            self?.connectToKnownHosts()
        }
        self.lookup = lookup
        for name in hosts.namesToResolve {
            poller.spawn { [weak self, resolver] in
                let answer = await resolver.addresses(of: name)
                self?.handleLookupAnswer(name, answer)
            }
        }
    }

    private func handleLookupAnswer(_ name: String, _ answer: HostResolver.Answer) {
        guard lookup?.pendingNames.remove(name) != nil else { return }
        switch answer {
        case .success(let addresses): lookup?.addresses[name] = addresses
        case .failure(let error): failureReason = failureReason ?? error.unavailabilityReason
        }
        guard let lookup, lookup.pendingNames.isEmpty else { return }
        if lookup.hosts.isUsable(with: lookup.addresses) { connectToKnownHosts() } else { finish(isConnected: false) }
    }

    /// Connects to the hosts resolved so far, if there are any.
    private func connectToKnownHosts() {
        guard let lookup, lookup.hosts.isUsable(with: lookup.addresses) else { return }
        endLookup()
        connect(lookup.hosts.applied(to: lookup.parameters, addresses: lookup.addresses))
    }

    private func endLookup() {
        if let timer = lookup?.halfTimeTimer { poller.cancel(timer) }
        lookup = nil
    }

    // MARK: Session

    private func connect(_ parameters: [(keyword: String, value: String)]) {
        let keywords = parameters.map(\.keyword)
        let values = parameters.map(\.value)
        unsafe handle = unsafe withCStrings(keywords) { keywords in
            unsafe withCStrings(values) { values in unsafe PQconnectStartParams(keywords, values, 0) }
        }
        guard let handle = unsafe handle else {
            failureReason = "out of memory"
            return finish(isConnected: false)
        }
        _ = unsafe PQsetNoticeProcessor(handle, { _, _ in }, nil)
        // PQconnectPoll requires waiting for writability before the first call.
        if unsafe PQstatus(handle) == CONNECTION_BAD { finish(isConnected: false) } else { wait(for: .writable) }
    }

    func handleReadiness(_ events: Readiness) {
        stopWatching()
        switch unsafe PQconnectPoll(handle) {
        case PGRES_POLLING_READING: wait(for: .readable)
        case PGRES_POLLING_WRITING: wait(for: .writable)
        case PGRES_POLLING_OK: finish(isConnected: true)
        default: finish(isConnected: false)
        }
    }

    /// Waits for the current socket: libpq may have changed it to try another host.
    private func wait(for interest: Interest) {
        let socket = unsafe PQsocket(handle)
        do {
            try poller.watch(socket, for: interest, self)
            watchedSocket = socket
        } catch {
            finish(isConnected: false)
        }
    }

    private func stopWatching() {
        if watchedSocket >= 0 { poller.unwatch(watchedSocket) }
        watchedSocket = -1
    }

    private func finish(isConnected: Bool) {
        guard let continuation else { return }
        self.continuation = nil
        hasEnded = true
        stopWatching()
        endLookup()
        if let timeoutTimer { poller.cancel(timeoutTimer) }
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
