import Contract
import Domain
import HTTP
import HTTPClient
import JSON
import LoopbackClient
import ModelProviders
import NagzAI
import Reactor
import SQL
import TestHTTPServer
import Testing

@testable import Server
@testable import ServerTestKit

/// What arrives at receivers that are not ours.
@Suite("Traces of outgoing calls")
struct TracingTests {
    private static let trace = "0af7651916cd43dd8448eb211c80319c"
    private static let headers = ["traceparent": "00-\(trace)-b7ad6b7169203331-01"]

    /// The traces of what arrived, and its spans, each of which must be another one.
    private static func contexts(_ requests: [JSONValue]) throws -> [TraceContext] {
        let contexts = try requests.map { request in
            let header = try #require(request["headers"]?["traceparent"]?.stringValue, "\(request)")
            return try #require(TraceContext(traceparent: header), "\(header)")
        }
        #expect(Set(contexts.map(\.span)).count == contexts.count)
        return contexts
    }

    @Test(
        "a question to a model, and the check of its availability, are in the request's trace",
        arguments: [ModelScene.gateway, ModelScene.ownKey])
    func models(options: ExecutionOptions) async throws {
        try await ModelScene.run { scene in
            let before = try await scene.service.received().count
            let request = ExecutionRequest(
                familyID: scene.ai.home.id, operation: .selectTone, nagID: scene.ai.nag, userID: nil, text: nil)
            _ = try await scene.ai.server.call(
                API.execute, NoParameters(), AIEnvelope(request, options), as: scene.ai.home.guardian,
                headers: Self.headers)
            let came = try await scene.service.received().dropFirst(before)
            #expect(Set(came.compactMap { $0["method"]?.stringValue }) == ["GET", "POST"])
            for context in try Self.contexts(Array(came)) {
                #expect(context.traceID == Self.trace && context.isSampled)
            }
        }
    }

    @Test("the check of a key is in the request's trace")
    func keys() async throws {
        try await ModelScene.run { scene in
            let (server, guardian) = (scene.ai.server, scene.ai.home.guardian)
            let before = try await scene.service.received().count
            let update = AIKeyUpdate(
                key: Secret(TestServer.secret), model: ModelScene.model,
                endpoint: scene.service.url() + "/model/good", password: Secret(TestServer.password))
            try await server.call(
                API.setAIKey, AIKeyPath(provider: .custom), update, as: guardian, headers: Self.headers)
            let stored = try await scene.service.received().count
            #expect(stored > before)
            _ = try await server.call(
                API.checkAIKey, AIKeyPath(provider: .custom), as: guardian, headers: Self.headers)
            let came = try await scene.service.received()
            #expect(came.count > stored)
            for context in try Self.contexts(Array(came.dropFirst(before))) { #expect(context.traceID == Self.trace) }
        }
    }

    @Test("a notification is in the trace of the act that caused it, also when it is retried")
    func notifications() async throws {
        try await TestHTTPServer.with { provider in
            try await TestServer.run { server in
                let family = try await server.family()
                try await server.registerDevice(as: family.child)
                try await server.call(
                    API.createNag, server.order(for: family.child, in: family.guardian.familyID), as: family.guardian,
                    headers: Self.headers)
                try await server.withWorker(provider.options("fail503x1")) { worker in
                    try await worker.run()
                    server.clock.advance(by: .minutes(2))
                    try await worker.run()
                }
                let contexts = try Self.contexts(try await provider.received())
                #expect(contexts.map(\.traceID) == [Self.trace, Self.trace])
            }
        }
    }

    @Test("a notification without a known act has a trace of its own")
    func unknownAct() async throws {
        try await TestHTTPServer.with { provider in
            try await TestServer.run(isOfActs: false) { server in
                let family = try await server.family()
                let nag = try await server.nag(from: family.guardian, to: family.child)
                try await server.registerDevice(as: family.guardian)
                try await server.delivery(of: nag.id, to: family.guardian)
                try await server.sql("UPDATE nag_events SET sync_seq = sync_seq + 1000000")
                try await server.withWorker(provider.options()) { worker in try await worker.run() }
                let contexts = try Self.contexts(try await provider.received())
                #expect(contexts.count == 1 && contexts.allSatisfy { !$0.isSampled })
            }
        }
    }

    // MARK: Export

    /// The spans that the collector has, once there are so many.
    private static func spans(_ collector: TestHTTPServer, count: Int) async throws -> [JSONValue] {
        while true {
            let requests = try await collector.received()
            let spans = requests.flatMap { $0["spans"]?.arrayValue ?? [] }
            if spans.count >= count { return spans }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private static func collector(_ server: TestHTTPServer, _ word: String = "") throws -> TraceCollector {
        .loopback(try #require(LoopbackURL(server.url() + "/otlp\(word)")))
    }

    @Test("sampled requests are exported as spans that the protocol's own library reads, without secrets")
    func requests() async throws {
        try await TestHTTPServer.with { collector in
            let address = try Self.collector(collector)
            try await TestServer.run(configure: { $0.traceCollector = address }) { server in
                let unsampled = ["traceparent": "00-\(String(repeating: "c", count: 32))-b7ad6b7169203331-00"]
                let id = NagID(high: 1, low: 2)
                try await server.call(
                    "GET", "/api/v1/nags/\(id)?canary=canary", token: "canary", headers: Self.headers)
                try await server.call("GET", "/canary", isDocumented: false)
                try await server.call("GET", "/api/v1/version", headers: unsampled)
                try await server.call("GET", "/health/live")
                let spans = try await Self.spans(collector, count: 3)
                #expect(
                    spans.map { $0["name"]?.stringValue } == ["GET /api/v1/nags/{nag_id}", "GET", "GET /health/live"])
                let first = try #require(spans.first)
                #expect(first["trace"]?.stringValue == Self.trace && first["parent"] == "b7ad6b7169203331")
                #expect(first["kind"] == 2 && first["status"] == 0)
                #expect(
                    first["attributes"] == [
                        "http.request.method": "GET", "http.route": "/api/v1/nags/{nag_id}",
                        "http.response.status_code": 401,
                    ])
                #expect(spans[1]["parent"] == "" && spans[1]["trace"] != first["trace"])
                let requests = try await collector.received()
                #expect(!requests.contains { "\($0)".contains("canary") || "\($0)".contains(id.description) })
                #expect(requests.first?["resource"]?["service.name"] == "nagz")
                let metrics = try await server.metrics().text
                #expect(metrics.contains("nagz_trace_spans_total{result=\"dropped\"} 0\n"))
            }
        }
    }

    @Test("an outgoing call's span is a child of its request's")
    func calls() async throws {
        try await TestHTTPServer.with { collector in
            let address = try Self.collector(collector)
            let url = try #require(LoopbackURL(collector.url() + "/model/good"))
            try await TestServer.run(configure: { configuration in
                configuration.traceCollector = address
                configuration.models.gateway = .init(url: url, model: ModelScene.model)
                configuration.models.limits = .init(
                    connectTimeout: .seconds(300), questionTimeout: .seconds(600))
            }) { server in
                let ai = try await AIScene(server)
                try await ai.prefer(#"{"ai_mode": "auto"}"#, ai.home.guardian)
                let request = ExecutionRequest(
                    familyID: ai.home.id, operation: .selectTone, nagID: ai.nag, userID: nil, text: nil)
                _ = try await server.call(
                    API.execute, NoParameters(), AIEnvelope(request, ModelScene.gateway), as: ai.home.guardian,
                    headers: Self.headers)
                var spans: [JSONValue] = []
                while spans.count < 3 {
                    spans = try await Self.spans(collector, count: 1).filter { $0["trace"]?.stringValue == Self.trace }
                }
                let own = try #require(spans.first { $0["kind"] == 2 })
                let calls = spans.filter { $0["kind"] == 3 }
                #expect(own["name"] == "POST /api/v1/ai/executions" && calls.count == 2)
                #expect(Set(calls.map { $0["name"]?.stringValue }) == ["GET model gateway", "POST model gateway"])
                #expect(
                    calls.allSatisfy {
                        $0["parent"] == own["span"] && $0["attributes"]?["http.response.status_code"] == 200
                    })
                // What the collector got is no span itself.
                let sent = try await collector.received().filter { $0["path"] == "/otlp/v1/traces" }
                #expect(sent.allSatisfy { $0["headers"]?["traceparent"] == nil })
            }
        }
    }

    @Test("a collector that refuses or is away affects no request, and its spans are counted as dropped")
    func failures() async throws {
        try await TestHTTPServer.with { collector in
            let away = try #require(LoopbackURL("http://127.0.0.1:1"))
            for address in [try Self.collector(collector, "/fail503"), .loopback(away)] {
                try await TestServer.run(configure: { $0.traceCollector = address }) { server in
                    for _ in 0..<3 { #expect(try await server.call("GET", "/api/v1/version").status == 200) }
                    var dropped = 0
                    while dropped < 3 {
                        let line = try await server.metrics().text.split(separator: "\n")
                            .first { $0.hasPrefix("nagz_trace_spans_total{result=\"dropped\"}") }
                        dropped = try #require(line?.split(separator: " ").last.flatMap { Int($0) })
                    }
                    let lines = try await server.logged { !$0.isEmpty }
                    #expect(lines.count { $0.contains("traces_dropped") } == 1)
                }
            }
        }
    }

    @Test("the span queue holds a limited number of spans, and returns the oldest first")
    func queue() throws {
        let queue = SpanQueue()
        let trace = try #require(TraceContext(traceparent: "00-\(Self.trace)-b7ad6b7169203331-01"))
        for _ in 0..<(SpanQueue.limit + 5) {
            queue.add(TraceSpan(trace, .request(.get, nil, .ok), start: ManualClock.start, durationNanoseconds: 1))
        }
        #expect(queue.dropped.value == 5)
        #expect(queue.take(4_000).count == 4_000 && queue.take(4_000).count == 96 && queue.take(1).isEmpty)
    }

    @Test(
        "a collector's URL is on this machine or has TLS",
        arguments: [
            ("http://127.0.0.1:4318", true), ("http://[::1]:4318/otlp", true), ("https://otlp.example.org", true),
            ("https://otlp.example.org:4318/otlp/", true), ("http://otlp.example.org", false),
            ("http://localhost:4318", false), ("https://key@otlp.example.org", false), ("otlp.example.org", false),
        ])
    func collectors(url: String, isAllowed: Bool) { #expect((TraceCollector(url) != nil) == isAllowed) }
}
