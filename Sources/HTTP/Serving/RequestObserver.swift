import Reactor

/// One request and its answer, once the answer is handed to the socket: for logs and metrics.
public struct RequestRecord: Sendable {
    /// Nil when the request was refused before its head was complete.
    public let method: Method?
    /// The route that matched, if any.
    public let route: Route?
    public let status: Status
    /// From the first byte of the request to the last step of its answer.
    public let nanoseconds: Int
    public let bytesIn: Int
    public let bytesOut: Int
    public let id: RequestID
    public let trace: TraceContext?
    public let remote: RemoteAddress
    /// Why it was refused, when HTTP itself did.
    public let fault: HTTPRequestError?
}

/// Hears of connections and requests, on the loop that served them: MUST be quick and MUST NOT block.
public protocol RequestObserver: Sendable {
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
