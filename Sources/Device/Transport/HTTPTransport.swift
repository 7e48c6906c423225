import Contract
import Domain
import HTTPClient
import Reactor
import Synchronization

/// Sends requests to one server over HTTP/1.1 or HTTP/2, with TLS if the address is `https`.
///
/// Connections are kept for later requests. It follows no redirects, caches nothing and requests no content encoding.
/// It runs on an event loop with its own thread.
public final class HTTPTransport: Transport {
    /// The maximum size of a response in bytes.
    static let maxResponseBodyBytes = 64 << 20

    public let server: ServerAddress
    private let timeout: Duration
    private let authoritiesPath: String?
    private let loop: EventLoop
    private let client = Mutex<LoopBound<HTTPClient>?>(nil)

    /// - Parameters:
    ///   - timeout: the maximum duration of a request, from its start to the response's last byte.
    ///   - authorities: the path of a PEM file with trusted certificates; nil for the system's.
    /// - Throws: if the kernel refuses a descriptor or a thread.
    public init(
        _ server: ServerAddress, timeout: Duration = .seconds(20), authorities: String? = nil
    ) throws(SystemError) {
        (self.server, self.timeout, self.authoritiesPath) = (server, timeout, authorities)
        loop = try EventLoop(name: "nagz-device")
        try loop.start()
    }

    deinit {
        let client = client.withLock(\.self)
        loop.post { loop in
            client?.value.close()
            loop.stop()
        }
    }

    public func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        let request = try httpRequest(for: request)
        return try await runOnLoop { transport, poller async throws(HTTPClientError) in
            TransportResponse(try await transport.openClient(poller).send(request))
        }
    }

    public func listen(
        _ target: String, onOpen: @escaping @Sendable () -> Void, onMessage: @escaping @Sendable () -> Void
    ) async throws(TransportError) {
        let request = HTTPClientRequest("GET", "\(server)\(target)")
        _ = try await runOnLoop { transport, poller async throws(HTTPClientError) in
            let socket = WebSocketClient(poller, networks: .unrestricted, authoritiesPath: transport.authoritiesPath)
            return try await socket.receiveMessages(from: request, onOpen: onOpen) { _ in onMessage() }
        }
    }

    /// Runs `body` on the loop. The body is cancelled with the calling task.
    private func runOnLoop<Value: Sendable>(
        _ body: @escaping @Sendable (HTTPTransport, Poller) async throws(HTTPClientError) -> Value
    ) async throws(TransportError) -> Value {
        let outcome = await loop.runCancellableTask { poller async -> Result<Value, TransportError> in
            do throws(HTTPClientError) { return .success(try await body(self, poller)) } catch {
                return .failure(TransportError(error))
            }
        }
        return try outcome.get()
    }

    /// Returns the client, and creates it at the first call. Call it on the loop only.
    private func openClient(_ poller: Poller) -> HTTPClient {
        if let client = client.withLock(\.self) { return client.value }
        let newClient = LoopBound(
            value: HTTPClient(poller, networks: .unrestricted, authoritiesPath: authoritiesPath))
        client.withLock { $0 = newClient }
        return newClient.value
    }

    private func httpRequest(for request: TransportRequest) throws(TransportError) -> HTTPClientRequest {
        var headers = [(name: "Accept", value: "application/json"), (name: "Prefer", value: "handling=strict")]
        if let token = request.token?.wireText {
            // The token comes from a file, and must not be able to add a header field.
            guard token.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else { throw .garbled }
            headers.append((name: "Authorization", value: "Bearer \(token)"))
        }
        let hasBody = !request.body.isEmpty || request.method != .get
        if hasBody { headers.append((name: "Content-Type", value: "application/json")) }
        var limits = HTTPClientRequest.Limits()
        limits.maxResponseBodyBytes = Self.maxResponseBodyBytes
        limits.totalTimeout = timeout
        return HTTPClientRequest(
            request.method.rawValue, "\(server)\(request.target)", headers: headers,
            body: hasBody ? request.body : nil, limits: limits)
    }
}

extension TransportResponse {
    fileprivate init(_ response: HTTPClientResponse) {
        let seconds = response.header("retry-after").flatMap { text in
            (1...15).contains(text.utf8.count) && text.utf8.allSatisfy { (48...57).contains($0) } ? Int(text) : nil
        }
        self.init(
            status: response.status, body: response.body, retryAfter: seconds,
            date: response.header("date").flatMap { Timestamp(httpDate: $0) })
    }
}

extension TransportError {
    fileprivate init(_ error: HTTPClientError) {
        self =
            switch error {
            case .unresolvable, .unreachable, .forbiddenAddress: .unreachable
            case .untrusted: .untrusted
            case .timedOut: .timedOut
            case .tooLarge: .tooLarge
            case .cancelled: .cancelled
            case .malformedRequest, .interrupted, .loginDenied, .failed: .garbled
            }
    }
}
