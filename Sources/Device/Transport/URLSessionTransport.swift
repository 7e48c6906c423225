import Contract
import Domain
import Foundation
import FoundationNetworking

/// HTTP by the toolchain's URLSession: one server, one deadline for the whole of an exchange, answers of at most 64 MiB.
///
/// Redirects are not followed and cookies not kept. Plain http is for the local network only.
public final class URLSessionTransport: Transport {
    public let server: ServerAddress
    private let session: URLSession
    private let exchanges = Exchanges()
    private let deadline: Duration

    static let largestAnswer = 64 << 20

    public init(_ server: ServerAddress, deadline: Duration = .seconds(20)) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = Double(deadline.components.seconds) + 1
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        self.server = server
        self.deadline = deadline
        session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
    }

    deinit { session.invalidateAndCancel() }

    public func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        guard server.isLocal || server.isEncrypted else { throw .insecure }
        guard let url = URL(string: server.base + request.target) else { throw .unreachable }
        var message = URLRequest(url: url)
        message.httpMethod = request.method.rawValue
        if let token = request.token {
            message.setValue("Bearer \(token.wireText)", forHTTPHeaderField: "Authorization")
        }
        message.setValue("application/json", forHTTPHeaderField: "Accept")
        if !request.body.isEmpty {
            message.setValue("application/json", forHTTPHeaderField: "Content-Type")
            message.httpBody = Data(request.body)
        }
        let task = session.dataTask(with: message)
        let exchange = exchanges.begin(task)
        let timer = DispatchSource.makeTimerSource()
        timer.schedule(deadline: .now() + .milliseconds(Int(deadline / .milliseconds(1))))
        timer.setEventHandler { exchange.end(task, .timedOut) }
        timer.resume()
        defer { timer.cancel() }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                exchange.begin(continuation)
                task.resume()
            }
        } onCancel: {
            exchange.end(task, .cancelled)
        }
        return try outcome.get()
    }
}

/// The exchanges under way, which URLSession tells of what happens on a queue of its own.
private final class Exchanges: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let lock = NSLock()
    private var byTask: [Int: Exchange] = [:]

    func begin(_ task: URLSessionTask) -> Exchange {
        let exchange = Exchange()
        lock.withLock { byTask[task.taskIdentifier] = exchange }
        return exchange
    }

    func urlSession(
        _: URLSession, task _: URLSessionTask, willPerformHTTPRedirection _: HTTPURLResponse, newRequest _: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) { completionHandler(nil) }

    func urlSession(_: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        lock.withLock { byTask[dataTask.taskIdentifier] }?.take(data, dataTask)
    }

    func urlSession(_: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        lock.withLock { byTask.removeValue(forKey: task.taskIdentifier) }?.complete(task, error)
    }
}

/// What is known of one exchange while it is under way.
private final class Exchange: @unchecked Sendable {
    private let lock = NSLock()
    private var continuation: CheckedContinuation<Result<TransportResponse, TransportError>, Never>?
    private var early: TransportError?
    private var body: [UInt8] = []

    func begin(_ continuation: CheckedContinuation<Result<TransportResponse, TransportError>, Never>) {
        let early = lock.withLock {
            self.continuation = continuation
            return self.early
        }
        if let early { finish(.failure(early)) }
    }

    /// Ends the exchange from outside.
    func end(_ task: URLSessionTask, _ error: TransportError) {
        lock.withLock { early = error }
        finish(.failure(error))
        task.cancel()
    }

    private func finish(_ outcome: Result<TransportResponse, TransportError>) {
        let waiting = lock.withLock {
            defer { continuation = nil }
            return continuation
        }
        waiting?.resume(returning: outcome)
    }

    func take(_ data: Data, _ task: URLSessionTask) {
        let isTooLarge = lock.withLock {
            body.append(contentsOf: data)
            return body.count > URLSessionTransport.largestAnswer
        }
        if isTooLarge { end(task, .tooLarge) }
    }

    func complete(_ task: URLSessionTask, _ error: (any Error)?) {
        if let error { return finish(.failure(TransportError(error))) }
        guard let response = task.response as? HTTPURLResponse else { return finish(.failure(.garbled)) }
        let content = lock.withLock { body }
        // libcurl passes a body on that ended too early.
        let announced = response.value(forHTTPHeaderField: "Content-Length").flatMap { Int($0) }
        if let announced, response.value(forHTTPHeaderField: "Content-Encoding") == nil, announced > content.count {
            return finish(.failure(.garbled))
        }
        finish(
            .success(
                TransportResponse(
                    status: response.statusCode, body: content,
                    retryAfter: response.value(forHTTPHeaderField: "Retry-After").flatMap { Int($0) },
                    date: response.value(forHTTPHeaderField: "Date").flatMap { Timestamp(httpDate: $0) })))
    }
}

extension TransportError {
    fileprivate init(_ error: any Error) {
        switch (error as? URLError)?.code {
        case .timedOut: self = .timedOut
        case .cancelled: self = .cancelled
        case .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .notConnectedToInternet, .secureConnectionFailed:
            self = .unreachable
        case .badServerResponse, .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData,
            .networkConnectionLost:
            self = .garbled
        default: self = .unreachable
        }
    }
}

/// Where a server is: scheme, host and port.
public struct ServerAddress: Hashable, Sendable, CustomStringConvertible {
    /// Without a slash at its end.
    public let base: String
    public let isEncrypted: Bool
    /// Loopback, a private address or a name of the local network.
    public let isLocal: Bool

    /// Reads `http://host:port` or `https://host`; nil for anything else.
    public init?(_ text: String) {
        guard let parts = URLComponents(string: text), let host = parts.host?.lowercased(), !host.isEmpty,
            parts.scheme == "http" || parts.scheme == "https", parts.user == nil, parts.query == nil,
            parts.fragment == nil, parts.path.isEmpty || parts.path == "/"
        else { return nil }
        let port = parts.port.map { ":\($0)" } ?? ""
        base = "\(parts.scheme ?? "https")://\(host)\(port)"
        isEncrypted = parts.scheme == "https"
        isLocal = Self.isLocal(host)
    }

    private static func isLocal(_ host: String) -> Bool {
        if host == "localhost" || host == "[::1]" || host == "::1" || host.hasSuffix(".local") { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        guard parts.count == 4, let first = parts[0], let second = parts[1], !parts.contains(nil) else { return false }
        switch (first, second) {
        case (127, _), (10, _), (192, 168), (169, 254): return true
        case (172, 16...31): return true
        default: return false
        }
    }

    public var description: String { base }
}

extension Timestamp {
    /// Reads the one form of a `Date` field that servers send today: `Sun, 06 Nov 1994 08:49:37 GMT`.
    init?(httpDate text: String) {
        let words = text.split(separator: " ")
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard words.count == 6, words[5] == "GMT", let day = Int(words[1]), let year = Int(words[3]),
            let month = months.firstIndex(of: String(words[2])),
            let date = CivilDate(year: year, month: month + 1, day: day), let time = TimeOfDay(words[4])
        else { return nil }
        self.init(seconds: date.daysSinceEpoch * 86_400 + Int64(time.secondsSinceMidnight))
    }
}
