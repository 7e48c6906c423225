import Domain
import HTTP
import HTTPClient
import Reactor

/// Gives every outgoing call a span of its own, in the trace of the request or job that makes the call.
final class CallTracer: Sendable {
    private let random: any Randomness
    private let clock: any WallClock
    private let spans: SpanQueue?

    /// - Parameter spans: the queue for the spans of sampled traces; nil where none are exported.
    init(_ random: any Randomness, _ clock: any WallClock, exportingTo spans: SpanQueue? = nil) {
        (self.random, self.clock, self.spans) = (random, clock, spans)
    }

    /// Returns the scope of work that no request asked for.
    /// - Parameter trace: the trace of the act that caused the work; nil begins a new trace.
    func scope(of trace: TraceID?) -> RequestScope {
        let id = trace ?? random.identifier(at: clock.now())
        return RequestScope(request: nil, trace: TraceContext(named: id, isSampled: spans != nil))
    }

    /// Returns the tracer of an HTTP client.
    /// - Parameter peer: the name of the called service, for the names of spans.
    func tracer(of peer: String) -> RequestTracer {
        { [self] method in
            let scope = RequestScope.current ?? scope(of: nil)
            let trace = scope.trace.child(makeSpanID())
            let spans = trace.isSampled ? spans : nil
            let (startTime, startedAt) = (clock.now(), MonotonicTime.now())
            return RequestSpan(traceparent: trace.traceparent) { outcome in
                guard let spans else { return }
                let time = MonotonicTime.now().nanoseconds(since: startedAt)
                spans.add(
                    TraceSpan(
                        trace, .call(method: method, peer: peer, outcome), start: startTime,
                        durationNanoseconds: time))
            }
        }
    }

    /// Returns a random span ID, which is never zero.
    private func makeSpanID() -> UInt64 { max(1, random.bytes(8).reduce(0) { $0 << 8 | UInt64($1) }) }
}
