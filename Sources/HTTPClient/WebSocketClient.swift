import Reactor
import WebSocketProtocol

/// A WebSocket to a server (RFC 6455), with TLS where the URL says `https`: reads the server's messages.
///
/// Used on one loop, for one connection. It answers the server's pings, asks with pings of its own whether a silent server
/// is still there, and offers no extensions. Certificates, redirects and proxies are as with `HTTPClient`.
public final class WebSocketClient {
    public struct Limits: Sendable {
        /// Bytes of the response that opens the socket.
        public var head = 16 << 10
        /// Bytes of a message.
        public var message = 256 << 10
        /// The time from the start to an open connection, with resolution and TLS.
        public var connecting = Duration.seconds(15)
        /// A ping is sent after this time without a byte from the server, and the socket given up after the same time again.
        public var silence = Duration.seconds(30)

        public init() {}
    }

    private enum Phase {
        case opening(head: [UInt8])
        case open
    }

    private let poller: Poller
    private let client: HTTPClient
    private let limits: Limits
    private let key: WebSocketKey
    private var random: any RandomNumberGenerator
    private var received: ([UInt8]) -> Void = { _ in }
    private var opened: () -> Void = {}
    private var connection: Transfer?
    private var continuation: CheckedContinuation<Result<WebSocketCloseCode?, HTTPClientError>, Never>?
    private var phase = Phase.opening(head: [])
    private var parser: WebSocketParser
    private var outgoing: [UInt8] = []
    private var lastHeard = MonotonicTime.now()
    private var isPingSent = false
    private var timer: TimerID?

    /// - Parameters:
    ///   - networks: which addresses it may connect to.
    ///   - authorities: a file of certificates in PEM form that are trusted; nil for the system's.
    ///   - random: for the key and the masks, which nobody may guess.
    public init(
        _ poller: Poller, networks: NetworkGuard, authorities: String? = nil, limits: Limits = Limits(),
        random: any RandomNumberGenerator = SystemRandomNumberGenerator()
    ) {
        var random = random
        key = WebSocketKey(using: &random)
        (self.poller, self.limits, self.random) = (poller, limits, random)
        client = HTTPClient(poller, networks: networks, authorities: authorities)
        parser = WebSocketParser(from: .server, limit: limits.message)
    }

    /// Opens the socket and stays until it ends, or until the task is cancelled. Called once.
    /// - Parameters:
    ///   - opened: called when the server has accepted.
    ///   - received: called with each message.
    /// - Returns: the code with which the server closed; nil if it gave none.
    /// - Throws: also when the server refuses (`interrupted`), is silent for too long (`timedOut`), or breaks the protocol
    ///   (`interrupted`).
    public func receive(
        from request: HTTPClientRequest, opened: @escaping () -> Void, _ received: @escaping ([UInt8]) -> Void
    ) async throws(HTTPClientError) -> WebSocketCloseCode? {
        defer { end(.failure(.cancelled)) }
        var request = request
        request.limits.whole = limits.connecting
        guard let target = request.target else { throw .malformedRequest }
        let connection = try await client.connect(request)
        guard let socket = connection.socket else { throw .interrupted }
        (self.connection, self.opened, self.received) = (connection, opened, received)
        do { try poller.watch(socket, for: .readable, SocketEvents(self)) } catch { throw .interrupted }
        outgoing = Self.opening(request, target, key)
        lastHeard = .now()
        let outcome = await poller.waitUnlessCancelled { continuation in
            self.continuation = continuation
            send()
            awaitSilence()
        } onCancel: { [self] in
            end(.failure(.cancelled))
        }
        return try outcome.get()
    }

    private static func opening(_ request: HTTPClientRequest, _ target: HTTPClientRequest.Target, _ key: WebSocketKey)
        -> [UInt8]
    {
        let fields =
            [
                ("Host", target.authority), ("Connection", "Upgrade"), ("Upgrade", "websocket"),
                ("Sec-WebSocket-Version", "13"), ("Sec-WebSocket-Key", key.text),
            ] + request.headers
        let lines = fields.map { "\($0.0): \($0.1)\r\n" }.joined()
        return Array("GET \(target.path) HTTP/1.1\r\n\(lines)\r\n".utf8)
    }

    private func end(_ outcome: Result<WebSocketCloseCode?, HTTPClientError>) {
        if let timer { poller.cancel(timer) }
        timer = nil
        if let socket = connection?.socket { poller.unwatch(socket) }
        connection = nil
        client.close()
        (opened, received) = ({}, { _ in })
        continuation?.resume(returning: outcome)
        continuation = nil
    }

    // MARK: Silence

    private var silenceEnd: MonotonicTime { lastHeard + limits.silence * (isPingSent ? 2 : 1) }

    private func awaitSilence() {
        timer = poller.schedule(at: silenceEnd) { [weak self] in self?.checkSilence() }
    }

    private func checkSilence() {
        guard silenceEnd <= .now() else { return awaitSilence() }
        guard case .open = phase, !isPingSent else { return end(.failure(.timedOut)) }
        isPingSent = true
        write(.ping)
        if continuation != nil { awaitSilence() }
    }

    // MARK: Bytes

    fileprivate func isReady(_ events: Readiness) {
        if events.contains(.writable) { send() }
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        // TLS may hold more bytes than the socket tells of: until nothing is left.
        while let connection {
            switch connection.receive(into: &buffer) {
            case .done(let count):
                (lastHeard, isPingSent) = (.now(), false)
                take(Array(buffer[..<count]))
            case .mustWait: return
            case .ended: return end(.failure(.interrupted))
            }
        }
    }

    private func send() {
        while let connection, !outgoing.isEmpty {
            switch connection.send(outgoing) {
            case .done(let count): outgoing.removeFirst(min(count, outgoing.count))
            case .mustWait:
                if let socket = connection.socket { poller.change(socket, to: [.readable, .writable]) }
                return
            case .ended: return end(.failure(.interrupted))
            }
        }
        if let socket = connection?.socket { poller.change(socket, to: .readable) }
    }

    private func write(_ opcode: WebSocketOpcode, _ payload: [UInt8] = []) {
        // A server that reads nothing of what it asks for is given up.
        guard outgoing.count < limits.head else { return end(.failure(.interrupted)) }
        outgoing += WebSocketWriter.frame(opcode, payload, mask: UInt32(truncatingIfNeeded: random.next()))
        send()
    }

    private func take(_ bytes: [UInt8]) {
        guard case .opening(let head) = phase else { return read(bytes) }
        let whole = head + bytes
        guard let blank = whole.firstRange(of: Array("\r\n\r\n".utf8)) else {
            phase = .opening(head: whole)
            return whole.count > limits.head ? end(.failure(.tooLarge)) : ()
        }
        let text = String(decoding: whole[..<blank.lowerBound], as: UTF8.self)
        guard SwitchedProtocols.isAcceptance(text, of: key) else { return end(.failure(.interrupted)) }
        phase = .open
        opened()
        read(Array(whole[blank.upperBound...]))
    }

    private func read(_ bytes: [UInt8]) {
        var position = 0
        while position < bytes.count, connection != nil {
            do throws(WebSocketError) {
                switch try parser.advance(bytes.span, at: &position) {
                case .message(let message): received(message.bytes)
                case .ping(let payload): write(.pong, payload)
                case .close(let code):
                    // The answer is sent if it can be at once: the server closes in any case.
                    write(.close)
                    return end(.success(code))
                case .fragment, .pong, .needsMoreData: break
                }
            } catch {
                return end(.failure(.interrupted))
            }
        }
    }
}

/// Tells the client that its socket is ready.
private final class SocketEvents: ReadinessHandler {
    private weak var client: WebSocketClient?

    init(_ client: WebSocketClient) { self.client = client }

    func ready(_ events: Readiness) { client?.isReady(events) }
}

/// The response that opens a WebSocket.
enum SwitchedProtocols {
    /// Whether a head, without its blank line, is a 101 that proves that the server read the key (RFC 6455 §4.1).
    static func isAcceptance(_ head: String, of key: WebSocketKey) -> Bool {
        let lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)
        guard lines.first?.hasPrefix("HTTP/1.1 101") == true else { return false }
        var values: [String: [String]] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { return false }
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            let end = value.lastIndex { $0 != " " && $0 != "\t" }
            values[line[..<colon].lowercased(), default: []].append(end.map { String(value[...$0]) } ?? "")
        }
        return values["upgrade"]?.map { $0.lowercased() } == ["websocket"]
            && values["connection"]?.map { $0.lowercased() } == ["upgrade"]
            && values["sec-websocket-accept"] == [key.proof]
            && values["sec-websocket-extensions"] == nil && values["sec-websocket-protocol"] == nil
    }
}
