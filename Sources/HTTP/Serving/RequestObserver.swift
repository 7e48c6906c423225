import Reactor

/// One request and its response, for logs and metrics. Made when all of the response is queued, or else when the
/// connection ends.
public struct RequestRecord: Sendable {
    /// The method; nil if the request was refused, or its connection ended, before its head was complete.
    public let method: Method?
    /// The matching route, if any.
    public let route: Route?
    /// The status sent; for a request without a response, the status of its fault.
    public let status: Status
    /// The time from the first byte of the request until this record was made.
    public let durationNanoseconds: Int
    public let bytesIn: Int
    /// The number of bytes of the response, with its head; of an incomplete response only those that were sent.
    public let bytesOut: Int
    public let id: RequestID
    /// The trace; nil if HTTP itself refused the request, or the connection ended before a handler was called.
    public let trace: TraceContext?
    /// The reason why the request was refused, or its response is missing or incomplete; nil for a complete
    /// response.
    public let fault: RequestFault?
}

/// A reason why HTTP itself refused a request, or its response is missing or incomplete.
public enum RequestFault: Error, CustomStringConvertible {
    /// It was refused with the status of this error.
    case refused(HTTPRequestError)
    /// The client closed or reset the connection first.
    case disconnected
    /// The client read responses too slowly.
    case writeTimeout
    /// The deadline of a drain passed.
    case drainDeadline
    /// There was not enough memory for unsent bytes, or for input that followed a request for an upgrade.
    case memoryTaken
    /// The closure that writes the content threw this error.
    case streamFailed(any Error)

    /// The status recorded for a request to which none was sent.
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

/// Observes connections and requests, on the loop that serves them. Methods MUST return fast and MUST NOT block.
public protocol RequestObserver: Sendable {
    /// Records a request. Called exactly once for each request of which a byte was parsed, however its connection ends,
    /// and for each connection that is refused with 503.
    func requestFinished(_ record: borrowing RequestRecord)
    /// A connection within the limits was accepted.
    func connectionOpened()
    /// A connection within the limits was closed, or the new owner of its socket released the slot.
    func connectionClosed()
    /// A connection was refused over a limit, or accepting paused because no descriptor is free.
    func connectionRefused()
}

extension RequestObserver {
    public func connectionOpened() {}
    public func connectionClosed() {}
    public func connectionRefused() {}
}
