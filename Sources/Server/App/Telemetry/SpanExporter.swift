import Contract
import HTTPClient
import JSON
import LoopbackClient
import ModelProviders
import Reactor

/// The destination of traces: an OTLP collector on this machine, or one on another machine over TLS.
public enum TraceCollector: Sendable {
    case loopback(LoopbackURL)
    case remote(ThirdPartyURL)

    /// Parses the base URL, to which `/v1/traces` is added; nil for a URL of another machine without TLS.
    public init?(_ text: String) {
        if let url = LoopbackURL(text) {
            self = .loopback(url)
        } else if let url = ThirdPartyURL(text) {
            self = .remote(url)
        } else {
            return nil
        }
    }
}

/// Sends spans to a collector with OTLP over HTTP, as JSON. Each batch is sent once: spans that the collector does not
/// accept are dropped and counted. Runs on an event loop of its own, so that a slow collector delays nothing else.
final class SpanExporter: BackgroundJob {
    private static let period = Duration.seconds(1)
    private static let batchSize = 512
    private static let path = "/v1/traces"
    /// The longest time for which a stopping server waits until its last spans are sent.
    private static let drainTime = Duration.seconds(2)

    private let spans: SpanQueue
    private let collector: TraceCollector
    private let remote: HTTPClient
    private let loopback: LoopbackClient
    private let poller: Poller
    /// The random ID of this server process, for the attribute `service.instance.id`.
    private let instance: String
    private let log: Log
    private var isStopped = false
    /// Whether the collector did not accept the latest batch.
    private var isFailing = false
    private var runningSends = 0
    private var idleContinuation: CheckedContinuation<Void, Never>?
    private var timer: TimerID?

    init(_ spans: SpanQueue, to collector: TraceCollector, instance: String, log: Log, _ poller: Poller) {
        (self.spans, self.collector, self.instance, self.log, self.poller) = (spans, collector, instance, log, poller)
        // The operator chooses the host, which may be in a private network.
        remote = HTTPClient(poller, networks: .unrestricted)
        loopback = LoopbackClient(poller)
    }

    /// Sends spans once a period until it is stopped.
    func start() {
        poller.spawn { [self] in
            await sendAll()
            guard !isStopped else { return }
            timer = poller.schedule(at: .now() + Self.period) { [weak self] in self?.start() }
        }
    }

    func stop() {
        isStopped = true
        if let timer { poller.cancel(timer) }
    }

    /// Sends the remaining spans after `stop`, for at most `drainTime`.
    func finish() async {
        let deadlineTimer = poller.schedule(at: .now() + Self.drainTime) { [self] in close() }
        await sendAll()
        if runningSends > 0 { await withCheckedContinuation { idleContinuation = $0 } }
        poller.cancel(deadlineTimer)
        close()
    }

    private func close() {
        remote.close()
        loopback.close()
    }

    private func sendAll() async {
        runningSends += 1
        defer {
            runningSends -= 1
            if runningSends == 0 { idleContinuation.take()?.resume() }
        }
        var batch = spans.take(Self.batchSize)
        while !batch.isEmpty {
            let isAccepted = await send(document(batch))
            (isAccepted ? spans.exported : spans.dropped).add(batch.count)
            report(isAccepted)
            batch = spans.take(Self.batchSize)
        }
    }

    private func send(_ body: [UInt8]) async -> Bool {
        let headers = [(name: "Content-Type", value: "application/json")]
        do throws(HTTPClientError) {
            let response =
                switch collector {
                case .loopback(let url):
                    try await loopback.send(
                        "POST", url, Self.path, headers: headers, body: body, limits: .providerResponse)
                case .remote(let url):
                    try await remote.send(
                        HTTPClientRequest(
                            "POST", url.text + Self.path, headers: headers, body: body, limits: .providerResponse))
                }
            return 200..<300 ~= response.status
        } catch {
            return false
        }
    }

    /// Logs the first of several failures, and the first success after them.
    private func report(_ isAccepted: Bool) {
        guard isFailing == isAccepted else { return }
        isFailing = !isAccepted
        log.write(.warning, isAccepted ? "traces_exported_again" : "traces_dropped")
    }

    /// Returns the body of a request to the collector, as OTLP's JSON.
    private func document(_ spans: [TraceSpan]) -> [UInt8] {
        JSONWriter.document(reserving: 512 * spans.count + 512) { json in
            json.object { json in
                json.key("resourceSpans")
                json.array { json in
                    json.object { json in
                        json.key("resource")
                        json.object { json in
                            json.key("attributes")
                            json.array { json in
                                for (name, value) in [
                                    ("service.name", "nagz"), ("service.version", NagzVersion.current),
                                    ("service.instance.id", instance),
                                ] { TraceSpan.Attribute(name, .text(value)).write(to: &json) }
                            }
                        }
                        json.key("scopeSpans")
                        json.array { json in
                            json.object { json in
                                json.key("scope")
                                json.object { json in json.field("name", "nagz") }
                                json.key("spans")
                                json.array { json in for span in spans { span.write(to: &json) } }
                            }
                        }
                    }
                }
            }
        }
    }
}
