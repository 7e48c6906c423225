import CCurl
import Reactor

/// Sends requests over HTTP/1.1 and HTTP/2, and mails over SMTP, with libcurl. One event loop serves libcurl's sockets
/// and timers.
///
/// The client is used on that loop only. Connections are reused and shared. TLS certificates are always verified.
/// Redirects are not followed: they are returned like other responses. Threads of libcurl resolve names.
@safe public final class HTTPClient {
    private static let isLibraryReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
    /// The limits on open connections to all hosts, on open connections to one host, and on idle connections. The limit
    /// for one host is twice the maximum number of notifications that the server sends at once over one channel, so
    /// that two channels with the same host do not wait for each other.
    private static let connectionLimits = (total: 256, perHost: 128, idle: 64)

    private let poller: Poller
    private let networks: NetworkGuard
    private let authoritiesPath: String?
    private let usesProxy: Bool
    private let tracer: RequestTracer?
    private var multi: UnsafeMutableRawPointer?
    private var transfers: [Int: Transfer] = [:]
    /// The transfers that opened a connection. libcurl closes the connection when the transfer's handle is removed.
    private var connectOnlyTransfers: [Transfer] = []
    private var sockets: [curl_socket_t: SocketWatch] = [:]
    private var timer: TimerID?
    private var isClosed = false

    /// - Parameters:
    ///   - networks: the addresses that the client may connect to.
    ///   - authoritiesPath: the path of a PEM file with trusted certificates; nil for the system's.
    ///   - usesProxy: whether requests go through the proxy that the environment names. `networks` then applies to the
    ///     proxy.
    ///   - tracer: begins the span of each request; if it is nil, no `traceparent` is sent.
    public init(
        _ poller: Poller, networks: NetworkGuard, authoritiesPath: String? = nil, usesProxy: Bool = false,
        tracer: RequestTracer? = nil
    ) {
        (self.poller, self.networks, self.authoritiesPath, self.tracer) = (poller, networks, authoritiesPath, tracer)
        self.usesProxy = usesProxy
    }

    deinit {
        transfers.removeAll()
        connectOnlyTransfers.removeAll()
        unsafe Self.release(multi)
    }

    /// Ends all requests, which throw `cancelled`, and closes all connections. Later requests throw `cancelled`.
    public func close() {
        isClosed = true
        endAll(with: .cancelled)
    }

    /// The number of requests and mails in progress.
    public var inFlight: Int { transfers.count }

    /// Sends a request and waits for the complete response, whatever its status. If the task is cancelled, the request
    /// ends at once; the server may or may not have received it.
    public func send(_ request: HTTPClientRequest) async throws(HTTPClientError) -> HTTPClientResponse {
        try await send(request, receiving: nil)
    }

    /// Sends a request, and passes on the response's content as it arrives instead of storing it.
    /// - Parameter receive: gets the response so far, without content, and the next bytes. When it returns false the
    ///   request ends at once and throws `cancelled`. It MUST NOT use this client.
    public func send(
        _ request: HTTPClientRequest, receive: @escaping (HTTPClientResponse, [UInt8]) -> Bool
    ) async throws(HTTPClientError) -> HTTPClientResponse {
        try await send(request, receiving: receive)
    }

    private func send(
        _ request: HTTPClientRequest, receiving receive: ((HTTPClientResponse, [UInt8]) -> Bool)?
    ) async throws(HTTPClientError) -> HTTPClientResponse {
        guard !isClosed, !Task.isCancelled else { throw .cancelled }
        var request = request
        let span = tracer?(request.method)
        if let span { request.headers.append(("traceparent", span.traceparent)) }
        do throws(HTTPClientError) {
            let transfer = try Transfer(request, networks, authoritiesPath: authoritiesPath, usesProxy: usesProxy)
            transfer.receive = receive
            let response = try await run(transfer)
            span?.end(.success(response.status))
            return response
        } catch {
            span?.end(.failure(error))
            throw error
        }
    }

    /// Sends a mail to a relay.
    /// - Returns: the code of the relay's last reply: 250 if it has accepted the mail.
    public func send(_ mail: Mail, to relay: MailRelay) async throws(HTTPClientError) -> Int {
        guard !isClosed, !Task.isCancelled else { throw .cancelled }
        return try await run(try Transfer(mail, to: relay, networks, authoritiesPath: authoritiesPath)).status
    }

    /// Connects to a relay and signs in, with TLS as for a mail, but sends no mail. The connection stays open until the
    /// client closes.
    public func checkLogin(at relay: MailRelay) async throws(HTTPClientError) {
        guard !isClosed, !Task.isCancelled else { throw .cancelled }
        _ = try await run(try Transfer(nil, to: relay, networks, authoritiesPath: authoritiesPath))
    }

    /// Opens a connection to the URL's host, with TLS for `https`. It stays open until the client closes.
    ///
    /// The client MUST NOT be used for requests as well: when libcurl looks for a connection to reuse, it treats one on
    /// which bytes have arrived as broken.
    func connect(_ request: HTTPClientRequest) async throws(HTTPClientError) -> Transfer {
        guard !isClosed, !Task.isCancelled else { throw .cancelled }
        let transfer = try Transfer(request, networks, authoritiesPath: authoritiesPath, isConnectOnly: true)
        _ = try await run(transfer)
        return transfer
    }

    private func run(_ transfer: Transfer) async throws(HTTPClientError) -> HTTPClientResponse {
        let outcome = await poller.waitUnlessCancelled { continuation in
            begin(transfer, continuation)
        } onCancel: { [self] in
            end(transfer, .failure(.cancelled))
        }
        return try outcome.get()
    }

    // MARK: Transfers

    private func begin(_ transfer: Transfer, _ continuation: CheckedContinuation<Transfer.Outcome, Never>) {
        transfer.continuation = continuation
        guard !isClosed else { return transfer.finish(.failure(.cancelled)) }
        guard let multi = unsafe openMulti() else {
            return transfer.finish(.failure(.failed(code: CURLE_FAILED_INIT.rawValue)))
        }
        transfers[transfer.number] = transfer
        let code = unsafe curl_multi_add_handle(multi, transfer.handle)
        guard code == CURLM_OK else {
            transfers[transfer.number] = nil
            return transfer.finish(.failure(.failed(code: UInt32(bitPattern: code.rawValue))))
        }
    }

    /// Removes the transfer and resumes its caller, unless that has been done.
    private func end(_ transfer: Transfer, _ outcome: Transfer.Outcome) {
        guard transfers.removeValue(forKey: transfer.number) != nil else { return }
        if transfer.isConnectOnly, case .success = outcome {
            connectOnlyTransfers.append(transfer)
        } else {
            _ = unsafe curl_multi_remove_handle(multi, transfer.handle)
        }
        transfer.finish(outcome)
    }

    private func endFinishedTransfers() {
        var code = CURLE_OK
        while let handle = unsafe CCurlNextEnded(multi, &code) {
            let number = Int(bitPattern: handle)
            guard let transfer = transfers[number] else { continue }
            end(transfer, transfer.outcome(for: code))
        }
    }

    /// Ends all transfers with the error, and closes all connections.
    private func endAll(with error: HTTPClientError) {
        for transfer in Array(transfers.values) { end(transfer, .failure(error)) }
        for descriptor in sockets.keys { poller.unwatch(descriptor) }
        sockets = [:]
        for transfer in connectOnlyTransfers { _ = unsafe curl_multi_remove_handle(multi, transfer.handle) }
        connectOnlyTransfers = []
        if let timer { poller.cancel(timer) }
        timer = nil
        unsafe Self.release(multi)
        unsafe multi = nil
    }

    // MARK: libcurl's multi handle

    private func openMulti() -> UnsafeMutableRawPointer? {
        if unsafe multi == nil, Self.isLibraryReady, let newMulti = unsafe curl_multi_init() {
            unsafe multi = unsafe newMulti
            _ = unsafe CCurlSetLimit(newMulti, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
            _ = unsafe CCurlSetLimit(newMulti, CURLMOPT_MAX_TOTAL_CONNECTIONS, Self.connectionLimits.total)
            _ = unsafe CCurlSetLimit(newMulti, CURLMOPT_MAX_HOST_CONNECTIONS, Self.connectionLimits.perHost)
            _ = unsafe CCurlSetLimit(newMulti, CURLMOPT_MAXCONNECTS, Self.connectionLimits.idle)
            let context = unsafe Unmanaged.passUnretained(self).toOpaque()
            _ = unsafe CCurlSetWaiting(newMulti, updateSocket, updateTimer, context)
        }
        return unsafe multi
    }

    /// Closes the connections. The caller MUST first unwatch the sockets and cancel the timer.
    private static func release(_ multi: UnsafeMutableRawPointer?) {
        guard let multi = unsafe multi else { return }
        _ = unsafe CCurlSetWaiting(multi, nil, nil, nil)
        _ = unsafe curl_multi_cleanup(multi)
    }

    /// Calls libcurl for a socket that is ready, or, with -1 for the socket, for its timer.
    fileprivate func performAction(on socket: curl_socket_t, _ events: Int32) {
        guard let multi = unsafe multi else { return }
        var running: Int32 = 0
        let code = unsafe curl_multi_socket_action(multi, socket, events, &running)
        guard code == CURLM_OK else { return endAll(with: .failed(code: UInt32(bitPattern: code.rawValue))) }
        endFinishedTransfers()
    }

    /// Watches a socket, or changes the events that it is watched for.
    /// - Returns: whether the socket is watched.
    fileprivate func watch(_ socket: curl_socket_t, _ interest: Interest) -> Bool {
        if sockets[socket] != nil {
            poller.changeInterest(of: socket, to: interest)
            return true
        }
        let watch = SocketWatch(socket, self)
        do { try poller.watch(socket, for: interest, watch) } catch { return false }
        sockets[socket] = watch
        return true
    }

    fileprivate func unwatch(_ socket: curl_socket_t) {
        guard sockets.removeValue(forKey: socket) != nil else { return }
        poller.unwatch(socket)
    }

    /// Replaces the timer.
    /// - Parameter milliseconds: -1 for no timer.
    fileprivate func setTimer(_ milliseconds: Int) {
        if let timer { poller.cancel(timer) }
        timer = nil
        guard milliseconds >= 0 else { return }
        timer = poller.schedule(at: .now() + .milliseconds(milliseconds)) { [weak self] in
            guard let self else { return }
            timer = nil
            performAction(on: -1, 0)
        }
    }
}

/// Passes the readiness of a socket to the client.
private final class SocketWatch: ReadinessHandler {
    private let socket: curl_socket_t
    private weak var client: HTTPClient?

    init(_ socket: curl_socket_t, _ client: HTTPClient) { (self.socket, self.client) = (socket, client) }

    func handleReadiness(_ events: Readiness) {
        var bits: Int32 = 0
        if !events.isDisjoint(with: [.readable, .peerClosed, .hangUp]) { bits |= CURL_CSELECT_IN }
        if events.contains(.writable) { bits |= CURL_CSELECT_OUT }
        if events.contains(.error) { bits |= CURL_CSELECT_ERR }
        client?.performAction(on: socket, bits)
    }
}

// MARK: libcurl's callbacks

private func updateSocket(
    _ easy: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _ interest: Int32, _ context: UnsafeMutableRawPointer?,
    _ unused: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context = unsafe context else { return 0 }
    let client = unsafe Unmanaged<HTTPClient>.fromOpaque(context).takeUnretainedValue()
    switch interest {
    case CURL_POLL_IN: return client.watch(socket, .readable) ? 0 : -1
    case CURL_POLL_OUT: return client.watch(socket, .writable) ? 0 : -1
    case CURL_POLL_INOUT: return client.watch(socket, [.readable, .writable]) ? 0 : -1
    default:
        client.unwatch(socket)
        return 0
    }
}

private func updateTimer(
    _ multi: UnsafeMutableRawPointer?, _ milliseconds: Int, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context = unsafe context else { return 0 }
    unsafe Unmanaged<HTTPClient>.fromOpaque(context).takeUnretainedValue().setTimer(milliseconds)
    return 0
}
