import Domain
import HTTP

/// The scope of a task: the request that logs name, and the trace of the calls that the task makes.
struct RequestScope: Sendable {
    /// The scope of the running task: that of a request, or of a delivery that is being sent. Nil for other work, and
    /// for statements that several requests share.
    @TaskLocal static var current: RequestScope?

    /// The request's ID; nil for work that no request asked for.
    let request: HTTP.RequestID?
    let trace: TraceContext

    init(request: HTTP.RequestID?, trace: TraceContext) { (self.request, self.trace) = (request, trace) }

    /// Returns the scope of the same request under the trace that its client has named, which is sampled.
    func traced(by id: TraceID) -> RequestScope {
        RequestScope(request: request, trace: TraceContext(named: id, isSampled: true))
    }
}

extension TraceContext {
    /// Creates the context of a trace of which no span is known.
    init(named id: TraceID, isSampled: Bool) {
        self.init(traceHigh: id.high, traceLow: id.low, span: 0, parentSpan: nil, flags: isSampled ? 1 : 0)
    }
}
