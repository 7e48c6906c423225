import Contract
import Domain
import HTTP
import HTTPClient
import JSON
import Reactor

/// One request or outgoing call of a sampled trace. It names neither people nor what they wrote: no path but a route's
/// template, no query, no address.
struct TraceSpan: Sendable {
    enum Subject: Sendable {
        /// A request that this server answered.
        case request(HTTP.Method?, Route?, Status)
        /// An outgoing call to the service that `peer` names, with the status of its response, or its error.
        case call(method: String, peer: String, Result<Int, HTTPClientError>)
    }

    private let trace: TraceContext
    private let subject: Subject
    private let start: Timestamp
    private let durationNanoseconds: Int

    init(_ trace: TraceContext, _ subject: Subject, start: Timestamp, durationNanoseconds: Int) {
        (self.trace, self.subject, self.start, self.durationNanoseconds) = (trace, subject, start, durationNanoseconds)
    }

    /// Writes the span as OTLP's JSON has it: ids in hexadecimal digits, 64-bit numbers as strings.
    func write(to json: inout JSONWriter) {
        let begin = start.microseconds * 1_000
        json.object { json in
            json.field("traceId", trace.traceID)
            json.field("spanId", trace.spanID)
            json.fieldIfPresent("parentSpanId", trace.parentSpanID)
            json.field("flags", Int(trace.flags))
            json.field("startTimeUnixNano", "\(begin)")
            json.field("endTimeUnixNano", "\(begin + Int64(durationNanoseconds))")
            switch subject {
            case .request(let method, let route, let status):
                let method = method?.description ?? "_OTHER"
                json.field("kind", 2)
                json.field("name", route.map { "\(method) \($0.template)" } ?? method)
                let route = route.map { [Attribute("http.route", .text($0.template))] } ?? []
                writeAttributes(method, Int(status.rawValue), isFailed: status.rawValue >= 500, route, to: &json)
            case .call(let method, let peer, let outcome):
                json.field("kind", 3)
                json.field("name", "\(method) \(peer)")
                var attributes = [Attribute("peer.service", .text(peer))]
                if case .failure(let error) = outcome { attributes.append(Attribute("error.type", .text("\(error)"))) }
                let status = try? outcome.get()
                writeAttributes(method, status, isFailed: status.map { $0 >= 400 } ?? true, attributes, to: &json)
            }
        }
    }

    /// Writes the span's attributes, and its status.
    private func writeAttributes(
        _ method: String, _ status: Int?, isFailed: Bool, _ others: [Attribute], to json: inout JSONWriter
    ) {
        var attributes = [Attribute("http.request.method", .text(method))] + others
        if let status { attributes.append(Attribute("http.response.status_code", .number(status))) }
        json.key("attributes")
        json.array { json in for attribute in attributes { attribute.write(to: &json) } }
        json.key("status")
        json.object { json in if isFailed { json.field("code", 2) } }
    }

    /// A name with a value, as OTLP's JSON has it.
    struct Attribute {
        enum Value {
            case text(String)
            case number(Int)
        }

        private let name: String
        private let value: Value

        init(_ name: String, _ value: Value) { (self.name, self.value) = (name, value) }

        func write(to json: inout JSONWriter) {
            json.object { json in
                json.field("key", name)
                json.key("value")
                json.object { json in
                    switch value {
                    case .text(let text): json.field("stringValue", text)
                    case .number(let number): json.field("intValue", "\(number)")
                    }
                }
            }
        }
    }
}

/// The spans that wait to be exported. When too many wait, further ones are dropped and counted.
final class SpanQueue: Sendable {
    /// The maximum number of spans that wait.
    static let limit = 4_096

    /// The number of spans that the collector has accepted.
    let exported = Counter()
    /// The number of spans that were dropped because too many waited, or because the collector did not accept them.
    let dropped = Counter()
    private let waiting = Locked([TraceSpan]())

    func add(_ span: TraceSpan) {
        let isAdded = waiting.withLock { waiting in
            guard waiting.count < Self.limit else { return false }
            waiting.append(span)
            return true
        }
        if !isAdded { dropped.add() }
    }

    /// Removes and returns the oldest spans, at most `count`.
    func take(_ count: Int) -> [TraceSpan] {
        waiting.withLock { waiting in
            defer { waiting.removeFirst(min(count, waiting.count)) }
            return Array(waiting.prefix(count))
        }
    }
}
