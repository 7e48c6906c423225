import Contract
import Domain
import HTTP
import JSON

/// Observes every connection and request: counts them, queues the spans of sampled traces, and writes a log line for
/// each request if the log's level admits it.
struct RequestMonitor: RequestObserver {
    let telemetry: Telemetry
    let log: Log
    let clock: any WallClock

    func requestFinished(_ record: borrowing RequestRecord) {
        telemetry.requests.count(record)
        if let spans = telemetry.spans, let trace = record.trace, trace.isSampled {
            let start = clock.now() - Timestamp.Span(microseconds: Int64(record.durationNanoseconds / 1_000))
            spans.add(
                TraceSpan(
                    trace, .request(record.method, record.route, record.status), start: start,
                    durationNanoseconds: record.durationNanoseconds))
        }
        var level = Log.Level.info
        if case .streamFailed = record.fault { level = .error }
        guard log.isOn(level) else { return }
        let milliseconds = Double(record.durationNanoseconds / 1_000) / 1_000
        // Copied, because a closure cannot capture a borrowed value. Of the values that the client sends, only the
        // trace id is logged.
        let (method, template, status) = (
            record.method?.description, record.route?.template, Int(record.status.rawValue)
        )
        let (bytesIn, bytesOut, id) = (record.bytesIn, record.bytesOut, record.id.description)
        let (trace, fault) = (record.trace?.traceID, record.fault?.description)
        log.write(level, "request") { json in
            json.field("method", method)
            json.field("route", template)
            json.field("status", status)
            json.field("ms", milliseconds)
            json.field("bytes_in", bytesIn)
            json.field("bytes_out", bytesOut)
            json.field("request_id", id)
            json.field("trace_id", trace)
            json.fieldIfPresent("fault", fault)
        }
    }

    func connectionOpened() { telemetry.connectionsOpened.add() }
    func connectionClosed() { telemetry.connectionsClosed.add() }
    func connectionRefused() { telemetry.connectionsRefused.add() }
}
