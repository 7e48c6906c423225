import Reactor
import WebSocketProtocol

/// A client that reads the messages of a WebSocket server (RFC 6455), with TLS for `https`.
///
/// It is used on one loop, for one connection. It answers the server's pings, sends pings to a silent server, and
/// offers no extensions. TLS certificates are always verified. Redirects are not followed, and no proxy is used.
public final class WebSocketClient {
    /// The limits of size and time of one connection.
    public struct Limits: Sendable {
        /// The largest size, in bytes, of the response that opens the socket, and of the frames that wait to be sent.
        public var maxBufferedBytes = 16 << 10
        /// The largest size of a message, in bytes.
        public var maxMessageBytes = 256 << 10
        /// The longest time from the start to an open connection, with resolution and TLS.
        public var connectTimeout = Duration.seconds(15)
        /// The time without a byte from the server after which a ping is sent. After the same time again the socket is
        /// closed.
        public var silenceTimeout = Duration.seconds(30)

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
    private var onMessage: ([UInt8]) -> Void = { _ in }
    private var onOpen: () -> Void = {}
    private var connection: Transfer?
    private var continuation: CheckedContinuation<Result<WebSocketCloseCode?, HTTPClientError>, Never>?
    private var phase = Phase.opening(head: [])
    private var parser: WebSocketParser
    private var unsentBytes: [UInt8] = []
    private var lastReceivedAt = MonotonicTime.now()
    private var isPingSent = false
    private var timer: TimerID?

    /// - Parameters:
    ///   - networks: the addresses that the client may connect to.
    ///   - authoritiesPath: the path of a PEM file with trusted certificates; nil for the system's.
    ///   - random: makes the key and the masks, which MUST be unpredictable.
    public init(
        _ poller: Poller, networks: NetworkGuard, authoritiesPath: String? = nil, limits: Limits = Limits(),
        random: any RandomNumberGenerator = SystemRandomNumberGenerator()
    ) {
        var random = random
        key = WebSocketKey(using: &random)
        (self.poller, self.limits, self.random) = (poller, limits, random)
        client = HTTPClient(poller, networks: networks, authoritiesPath: authoritiesPath)
        parser = WebSocketParser(from: .server, messageLimit: limits.maxMessageBytes)
    }

    /// Opens the socket, and returns when the server closes it. This method MUST be called at most once.
    /// - Parameters:
    ///   - onOpen: called when the server has accepted.
    ///   - onMessage: called with each message.
    /// - Returns: the code with which the server closed; nil if it gave none.
    /// - Throws: `cancelled` if the task is cancelled, `interrupted` also if the server refuses, breaks the protocol or
    ///   sends too large a message, and `timedOut` also if the server is silent for too long.
    public func receiveMessages(
        from request: HTTPClientRequest, onOpen: @escaping () -> Void, _ onMessage: @escaping ([UInt8]) -> Void
    ) async throws(HTTPClientError) -> WebSocketCloseCode? {
        defer { end(.failure(.cancelled)) }
        var request = request
        request.limits.totalTimeout = limits.connectTimeout
        guard let target = request.target else { throw .malformedRequest }
        let connection = try await client.connect(request)
        guard let socket = connection.socket else { throw .interrupted }
        (self.connection, self.onOpen, self.onMessage) = (connection, onOpen, onMessage)
        do { try poller.watch(socket, for: .readable, SocketWatch(self)) } catch { throw .interrupted }
        unsentBytes = Self.handshakeRequest(request, target, key)
        lastReceivedAt = .now()
        let outcome = await poller.waitUnlessCancelled { continuation in
            self.continuation = continuation
            send()
            scheduleSilenceCheck()
        } onCancel: { [self] in
            end(.failure(.cancelled))
        }
        return try outcome.get()
    }

    private static func handshakeRequest(
        _ request: HTTPClientRequest, _ target: HTTPClientRequest.Target, _ key: WebSocketKey
    ) -> [UInt8] {
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
        (onOpen, onMessage) = ({}, { _ in })
        continuation?.resume(returning: outcome)
        continuation = nil
    }

    // MARK: Silence

    private var silenceDeadline: MonotonicTime { lastReceivedAt + limits.silenceTimeout * (isPingSent ? 2 : 1) }

    private func scheduleSilenceCheck() {
        timer = poller.schedule(at: silenceDeadline) { [weak self] in self?.checkSilence() }
    }

    private func checkSilence() {
        guard silenceDeadline <= .now() else { return scheduleSilenceCheck() }
        guard case .open = phase, !isPingSent else { return end(.failure(.timedOut)) }
        isPingSent = true
        write(.ping)
        if continuation != nil { scheduleSilenceCheck() }
    }

    // MARK: Bytes

    fileprivate func handleReadiness(_ events: Readiness) {
        if events.contains(.writable) { send() }
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        // TLS may hold bytes that the socket does not report: read until none is left.
        while let connection {
            switch connection.receive(into: &buffer) {
            case .done(let count):
                (lastReceivedAt, isPingSent) = (.now(), false)
                process(Array(buffer[..<count]))
            case .mustWait: return
            case .ended: return end(.failure(.interrupted))
            }
        }
    }

    private func send() {
        while let connection, !unsentBytes.isEmpty {
            switch connection.send(unsentBytes) {
            case .done(let count): unsentBytes.removeFirst(min(count, unsentBytes.count))
            case .mustWait:
                if let socket = connection.socket { poller.changeInterest(of: socket, to: [.readable, .writable]) }
                return
            case .ended: return end(.failure(.interrupted))
            }
        }
        if let socket = connection?.socket { poller.changeInterest(of: socket, to: .readable) }
    }

    private func write(_ opcode: WebSocketOpcode, _ payload: [UInt8] = []) {
        // If the server does not read the frames that it gets, such as pongs, the connection is closed.
        guard unsentBytes.count < limits.maxBufferedBytes else { return end(.failure(.interrupted)) }
        unsentBytes += WebSocketWriter.frame(opcode, payload, mask: UInt32(truncatingIfNeeded: random.next()))
        send()
    }

    /// Handles received bytes: first those of the response that opens the socket, then those of frames.
    private func process(_ bytes: [UInt8]) {
        guard case .opening(let head) = phase else { return readFrames(bytes) }
        let input = head + bytes
        guard let blankLine = input.firstRange(of: Array("\r\n\r\n".utf8)) else {
            phase = .opening(head: input)
            return input.count > limits.maxBufferedBytes ? end(.failure(.tooLarge)) : ()
        }
        let text = String(decoding: input[..<blankLine.lowerBound], as: UTF8.self)
        guard HandshakeResponse.isAcceptance(text, of: key) else { return end(.failure(.interrupted)) }
        phase = .open
        onOpen()
        readFrames(Array(input[blankLine.upperBound...]))
    }

    private func readFrames(_ bytes: [UInt8]) {
        var position = 0
        while position < bytes.count, connection != nil {
            do throws(WebSocketError) {
                switch try parser.advance(bytes.span, at: &position) {
                case .message(let message): onMessage(message.bytes)
                case .ping(let payload): write(.pong, payload)
                case .close(let code):
                    // The Close frame is sent only if that is possible at once: the server closes in any case.
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

/// Passes the readiness of the socket to the client.
private final class SocketWatch: ReadinessHandler {
    private weak var client: WebSocketClient?

    init(_ client: WebSocketClient) { self.client = client }

    func handleReadiness(_ events: Readiness) { client?.handleReadiness(events) }
}

/// The response that opens a WebSocket.
enum HandshakeResponse {
    /// Returns whether a response head, without its blank line, has the status 101, proves that the server has read the
    /// key, and selects no extension and no subprotocol (RFC 6455 §4.1).
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
            && values["sec-websocket-accept"] == [key.acceptValue]
            && values["sec-websocket-extensions"] == nil && values["sec-websocket-protocol"] == nil
    }
}
