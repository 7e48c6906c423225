/// A function that begins the span of a request. It is called in the task that sends the request, before it is sent.
public typealias RequestTracer = @Sendable (_ method: String) -> RequestSpan

/// The span of one outgoing request in a trace (W3C Trace Context).
public struct RequestSpan: Sendable {
    /// The value of the request's header `traceparent`.
    let traceparent: String
    /// The function that ends the span. It is called once, with the response's status or the failure.
    let end: @Sendable (Result<Int, HTTPClientError>) -> Void

    public init(traceparent: String, end: @escaping @Sendable (Result<Int, HTTPClientError>) -> Void) {
        (self.traceparent, self.end) = (traceparent, end)
    }
}
