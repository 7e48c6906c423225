import Contract
import Domain

/// What carries a request to a server and its answer back.
///
/// What answers on the device alone holds no such value, so it cannot reach anybody.
public protocol Transport: Sendable {
    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse
}

/// One request, ready to go.
public struct TransportRequest: Sendable {
    public var method: Operation.Method
    /// Path and query.
    public var target: String
    public var token: Secret?
    public var body: [UInt8]

    public init(method: Operation.Method, target: String, token: Secret?, body: [UInt8]) {
        self.method = method
        self.target = target
        self.token = token
        self.body = body
    }
}

/// One answer, whatever its status.
public struct TransportResponse: Sendable {
    public var status: Int
    public var body: [UInt8]
    /// Seconds after which a retry can help.
    public var retryAfter: Int?
    /// The server's clock, to the second, where it told.
    public var date: Timestamp?

    public init(status: Int, body: [UInt8], retryAfter: Int? = nil, date: Timestamp? = nil) {
        self.status = status
        self.body = body
        self.retryAfter = retryAfter
        self.date = date
    }
}

/// Why there is no answer.
public enum TransportError: Error, Hashable, Sendable {
    /// Nobody answers at the address.
    case unreachable
    /// The answer did not come in time.
    case timedOut
    /// What came is no HTTP, or ended in the middle.
    case garbled
    /// The answer is larger than this client reads.
    case tooLarge
    /// A token must not travel in the clear beyond the local network.
    case insecure
    case cancelled
}

extension TransportError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unreachable: "the server cannot be reached"
        case .timedOut: "the server did not answer in time"
        case .garbled: "what answers there does not speak HTTP as it should"
        case .tooLarge: "the server's answer is too large"
        case .insecure: "a server beyond the local network needs https"
        case .cancelled: "the request was cancelled"
        }
    }
}
