import Reactor

/// One request and its answer, once all of the answer is handed to the socket or the connection has ended: for logs
/// and metrics.
public struct RequestRecord: Sendable {
    /// Nil when the request was refused before its head was complete.
    public let method: Method?
    /// The route that matched, if any.
    public let route: Route?
    /// What was sent; for a request that got no answer, what its fault stands for.
    public let status: Status
    /// From the first byte of the request to the last step of its answer.
    public let nanoseconds: Int
    public let bytesIn: Int
    public let bytesOut: Int
    public let id: RequestID
    public let trace: TraceContext?
    public let remote: RemoteAddress
    /// Why HTTP itself refused it, or why its answer is missing or not complete.
    public let fault: RequestFault?
}

/// Why a request was refused by HTTP itself, or was not answered to the end.
public enum RequestFault: Error, CustomStringConvertible {
    /// It was answered with the status of this error.
    case refused(HTTPRequestError)
    /// The peer closed or reset the connection first.
    case disconnected
    /// The peer read the answers before this one too slowly.
    case writeTimeout
    /// The deadline of a drain had passed.
    case drainDeadline
    /// There was no memory for what waited to be sent.
    case memoryTaken
    /// The closure that wrote the content threw this error.
    case streamFailed(any Error)

    /// The status of a request to which none was sent.
    var status: Status {
        switch self {
        case .refused(let error): error.status
        case .disconnected, .writeTimeout: .clientClosedRequest
        case .drainDeadline, .memoryTaken: .serviceUnavailable
        case .streamFailed: .internalServerError
        }
    }

    public var description: String {
        switch self {
        case .refused(let error): "\(error)"
        case .disconnected: "disconnected"
        case .writeTimeout: "writeTimeout"
        case .drainDeadline: "drainDeadline"
        case .memoryTaken: "memoryTaken"
        case .streamFailed(let error): "streamFailed: \(type(of: error)): \(error)"
        }
    }
}

/// Hears of connections and requests, on the loop that served them: MUST be quick and MUST NOT block.
public protocol RequestObserver: Sendable {
    /// Called exactly once for each request of which a byte was taken from the socket, however its connection ends, and
    /// for each connection that is refused with 503.
    func finished(_ record: borrowing RequestRecord)
    func connectionOpened()
    func connectionClosed()
    /// A connection was turned away over a limit, or accepting paused because the system has no descriptor left.
    func connectionRefused()
}

extension RequestObserver {
    public func connectionOpened() {}
    public func connectionClosed() {}
    public func connectionRefused() {}
}
