import Contract
import Domain

/// The connection of a device to one server, over which it sends requests and listens to a WebSocket.
///
/// Code that answers only on the device has no transport, so it cannot reach the network.
public protocol Transport: Sendable {
    /// Sends a request, and returns the response whatever its status.
    /// - Throws: the reason why there is no response.
    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse

    /// Opens a WebSocket, and returns when it ends or the task is cancelled.
    /// - Parameters:
    ///   - target: path and query.
    ///   - onOpen: called when the server has accepted the connection.
    ///   - onMessage: called for every message, without its content.
    /// - Throws: the reason why the connection ended, unless the server sent a Close frame.
    func listen(
        _ target: String, onOpen: @escaping @Sendable () -> Void, onMessage: @escaping @Sendable () -> Void
    ) async throws(TransportError)
}

/// One request.
public struct TransportRequest: Sendable {
    public var method: Operation.Method
    /// Path and query.
    public var target: String
    /// The access token; nil for a request that needs no session.
    public var token: Secret?
    /// The JSON that is sent; empty for none.
    public var body: [UInt8]

    public init(method: Operation.Method, target: String, token: Secret?, body: [UInt8]) {
        self.method = method
        self.target = target
        self.token = token
        self.body = body
    }
}

/// One response, whatever its status.
public struct TransportResponse: Sendable {
    public var status: Int
    public var body: [UInt8]
    /// The seconds of `Retry-After`; nil without this header, or if it is not a number.
    public var retryAfter: Int?
    /// The server's time to the second; nil without a `Date` header.
    public var date: Timestamp?

    public init(status: Int, body: [UInt8], retryAfter: Int? = nil, date: Timestamp? = nil) {
        self.status = status
        self.body = body
        self.retryAfter = retryAfter
        self.date = date
    }
}

/// A reason why there is no response.
public enum TransportError: Error, Hashable, Sendable {
    /// The host's name cannot be resolved, or nothing answers at the address.
    case unreachable
    /// TLS failed, or the certificate is not valid for the server's name.
    case untrusted
    /// The response did not arrive in time.
    case timedOut
    /// Any other failure: the response ended early or is not valid HTTP, or the request is not valid.
    case garbled
    /// The response is larger than this client accepts.
    case tooLarge
    case cancelled
}

extension TransportError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unreachable: "the server cannot be reached"
        case .untrusted: "the server's certificate is not valid for its name"
        case .timedOut: "the server did not answer in time"
        case .garbled: "the response is not valid HTTP"
        case .tooLarge: "the server's response is too large"
        case .cancelled: "the request was cancelled"
        }
    }
}
