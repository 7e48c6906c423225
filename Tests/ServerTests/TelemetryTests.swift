import Contract
import Domain
import Foundation
import JSON
import NagzAI
import OpenAPICheck
import Reactor
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Telemetry of the server")
struct TelemetryTests {
    /// The value of a sample in Prometheus' text; nil where there is none.
    private func sample(_ name: String, in text: String) -> Double? {
        text.split(separator: "\n").first { $0.hasPrefix(name + " ") }.flatMap { Double($0.dropFirst(name.count + 1)) }
    }

    @Test("each request is one line of the log with route template, status, time, bytes and ids")
    func requestLine() async throws {
        try await TestServer.run(configure: { $0.logLevel = .info }) { server in
            let trace = "0af7651916cd43dd8448eb211c80319c"
            let reply = try await server.call(
                "GET", "/api/v1/nags/\(NagID(high: 1, low: 2))?x=secret-query", token: "secret-token",
                headers: ["traceparent": "00-\(trace)-b7ad6b7169203331-01"])
            #expect(reply.status == 401 || reply.status == 404)
            try await server.call("GET", "/nothing/here/secret-path", isDocumented: false)
            _ = try await RawClient.send(Array("GET / HTTP/1.1\r\nbroken\r\n\r\n".utf8), to: server.port)
            let lines = try await server.logged { $0.count >= 3 }
            #expect(!lines.joined().contains("secret"))
            let entries = try lines.map { try JSONValue(parsing: Array($0.utf8).span) }
            let first = try #require(entries.first)
            #expect(first["event"] == "request" && first["level"] == "info" && first["method"] == "GET")
            #expect(first["status"]?.integerValue == Int64(reply.status))
            #expect(first["request_id"]?.stringValue == reply.header("x-request-id"))
            #expect(first["trace_id"]?.stringValue == trace)
            #expect(first["ts"]?.stringValue == server.clock.now().rfc3339)
            #expect(try #require(first["ms"]?.doubleValue) >= 0)
            #expect(try #require(first["bytes_in"]?.integerValue) > 100)
            #expect(try #require(first["bytes_out"]?.integerValue) > 100)
            #expect(entries[1]["route"] == .null && entries[1]["status"] == 404)
            #expect(
                entries[2]["status"] == 400 && entries[2]["fault"] == "fieldSyntax" && entries[2]["method"] == .null)
        }
    }

    @Test("with the log off a request logs no line")
    func quiet() async throws {
        try await TestServer.run { server in
            try await server.call("GET", "/api/v1/version")
            #expect(server.log.lines.isEmpty)
        }
    }

    @Test("Prometheus metrics have requests by operation and status, durations, connections, database and process")
    func prometheus() async throws {
        try await TestServer.run { server in
            for _ in 0..<3 { try await server.call("GET", "/api/v1/audit/events") }
            try await server.call("GET", "/nothing", isDocumented: false)
            let reply = try await server.metrics()
            #expect(reply.header("content-type")?.hasPrefix("text/plain; version=0.0.4") == true)
            let text = reply.text
            let route = #"method="GET",route="/api/v1/audit/events""#
            #expect(sample(#"nagz_http_requests_total{\#(route),status="401"}"#, in: text) == 3)
            #expect(sample(#"nagz_http_requests_total{method="other",route="other",status="404"}"#, in: text) == 1)
            #expect(sample("nagz_http_request_duration_seconds_count{\(route)}", in: text) == 3)
            #expect(sample(#"nagz_http_request_duration_seconds_bucket{\#(route),le="+Inf"}"#, in: text) == 3)
            // Those of the API alone.
            #expect(try #require(sample("nagz_http_connections_total", in: text)) == 4)
            #expect(try #require(sample("process_resident_memory_bytes", in: text)) > 1_000_000)
            #expect(try #require(sample("process_open_fds", in: text)) > 3)
            for name in ["database_sessions", "database_waiting", "ledger_writes_total", "loop_lag_seconds"] {
                #expect(sample(#"nagz_\#(name){loop="1"}"#, in: text) != nil, "\(name)")
            }
            // Every sample belongs to the metric announced before it, and every line is a sample or a comment.
            var announced = ""
            for line in text.split(separator: "\n") {
                if line.hasPrefix("# TYPE ") { announced = String(line.split(separator: " ")[2]) }
                guard !line.hasPrefix("#") else { continue }
                #expect(line.hasPrefix(announced) && Double(line.split(separator: " ").last ?? "") != nil, "\(line)")
            }
        }
    }

    @Test("each status of a failure that an operation declares is counted by itself, and so as a failure")
    func failures() {
        let declared = Set(TestServer.document.operations.flatMap(\.statuses).filter { $0 >= 500 })
        #expect(declared.isSuperset(of: [500, 502, 503, 504]))
        #expect(declared.isSubset(of: RequestCounters.statuses.map(Int.init)))
    }

    @Test("the API's port does not serve metrics, and the metrics port serves nothing else")
    func metricsApart() async throws {
        try await TestServer.run { server in
            let api = try await server.call("GET", "/metrics", isDocumented: false)
            #expect(api.status == 404)
            for path in ["/", "/health/live", "/api/v1/version", "/console", "/api/v1/metrics"] {
                let reply = try await server.metrics(path)
                #expect(reply.status == 404, "\(path)")
            }
            let reply = try await server.metrics()
            #expect(reply.status == 200)
        }
    }

    @Test(
        "the dashboard counts nags, people and families for administrators, and says nothing about them to anybody else"
    )
    func productCounts() async throws {
        try await TestServer.run { server in
            let home = try await server.family()
            let nag = try await server.nag(from: home.guardian, to: home.child, in: home.id)
            _ = try await server.nag(from: home.guardian, to: home.child, in: home.id)
            try await server.call(
                "POST", "/api/v1/nags/\(nag)/status", as: home.child, body: ["status": "completed"])
            func figures(_ person: TestPerson? = nil) async throws -> [String: Double] {
                let metrics = try await server.call(API.getMetrics, as: person).metrics
                return Dictionary(uniqueKeysWithValues: metrics.map { ($0.key, $0.value) })
            }
            let admin = try await server.admin()
            let users = try await Double(server.rows("SELECT id FROM users WHERE status <> 'deleted'").count)
            let families = try await Double(server.rows("SELECT id FROM families").count)
            let first = try await figures(admin)
            #expect(first["nags_open"] == 1 && first["nags_completed"] == 1 && first["nags_missed"] == 0)
            #expect(first["users"] == users && first["families"] == families)
            #expect(first["requests_per_second"] != nil)
            #expect(first["deliveries_sent"] != nil)
            for other in [nil, home.guardian] {
                let others = try await figures(other)
                let missing = ["nags_open", "nags_completed", "nags_missed", "users", "families"]
                #expect(Set(first.keys).subtracting(others.keys) == Set(missing))
            }
        }
    }

    @Test("the dashboard has the results of notifications, over all channels")
    func deliveries() {
        let (telemetry, now) = (Telemetry(loops: 1), Timestamp(seconds: 1_000_000))
        func figures() -> [String: Double] {
            let metrics = Dashboard.figures(telemetry, nil, at: now).metrics
            return Dictionary(uniqueKeysWithValues: metrics.map { ($0.key, $0.value) })
        }
        let names = ["deliveries_sent", "deliveries_retried", "deliveries_failed", "deliveries_queue_age"]
        #expect(names.map { figures()[$0] } == [0, 0, 0, 0])
        for (number, channel) in telemetry.deliveries.enumerated() {
            channel.sent.add(2)
            channel.retried.add()
            channel.dead.add()
            channel.update(dueSince: now - .minutes(Int64(number) + 1))
        }
        let count = Double(telemetry.deliveries.count)
        #expect(names.map { figures()[$0] } == [2 * count, count, count, 60 * count])
    }

    @Test("a costly refresh runs once at a time, at most every five seconds, and for one percent of the time")
    func refreshSchedule() {
        let start = MonotonicTime(nanoseconds: 1_000_000_000)
        var schedule = RefreshSchedule()
        var granted = [schedule.beginIfDue(at: start), schedule.beginIfDue(at: start + .seconds(60))]
        schedule.end(at: start + .milliseconds(10))
        granted += [
            schedule.beginIfDue(at: start + .milliseconds(5_009)),
            schedule.beginIfDue(at: start + .milliseconds(5_010)),
        ]
        schedule.end(at: start + .milliseconds(6_010))
        granted += [
            schedule.beginIfDue(at: start + .seconds(106)), schedule.beginIfDue(at: start + .milliseconds(106_010)),
        ]
        #expect(granted == [true, false, false, true, false, true])
    }

    @Test("the dashboard's figures have distinct keys and finite values")
    func dashboard() async throws {
        try await TestServer.run { server in
            let figures = try await server.call(API.getMetrics).metrics
            #expect(Set(figures.map(\.key)).count == figures.count)
            #expect(figures.allSatisfy { $0.value.isFinite && $0.sparklineHistory?.allSatisfy(\.isFinite) != false })
            #expect(figures.contains { $0.key == "memory" && $0.value > 1 })
        }
    }

    @Test("a quantile is the upper bound of a bucket")
    func quantiles() {
        var counts = [Int](repeating: 0, count: Histogram.boundsNanoseconds.count + 1)
        #expect(Histogram.quantileMilliseconds(0.5, of: counts) == 0)
        counts[0] = 98
        counts[4] = 2
        #expect(Histogram.quantileMilliseconds(0.5, of: counts) == 0.5)
        #expect(Histogram.quantileMilliseconds(0.98, of: counts) == 0.5)
        #expect(Histogram.quantileMilliseconds(0.99, of: counts) == 10)
        counts[counts.count - 1] = 1_000
        #expect(Histogram.quantileMilliseconds(0.99, of: counts) == 5_000)
    }

    @Test("a server is always live, and ready only if its clock agrees with the database's")
    func probes() async throws {
        try await TestServer.run { server in
            #expect(try await server.call(API.checkLiveness).status == "ok")
            let skewed = try await server.call("GET", "/health/ready")
            #expect(skewed.status == 503 && skewed.header("retry-after") == "30")
            #expect(skewed.json?["error"]?["message"]?.stringValue?.contains("clock differs") == true)
            server.clock.set(to: SystemClock().now() + .seconds(20))
            #expect(try await server.call(API.checkReadiness).status == "ok")
            server.clock.set(to: SystemClock().now() - .seconds(40))
            #expect(try await server.call("GET", "/health/ready").status == 503)
        }
    }

    @Test("a server is not ready once it is told to stop")
    func draining() async throws {
        try await TestServer.run { server in
            let (clock, random) = (server.clock, server.random)
            try await server.withReadiness { readiness, telemetry, _ in
                let (context, call) = (CallContext.ofTest(at: clock.now(), random), Call(NoParameters(), NoBody()))
                #expect(try await readiness.check(context, call).status == "ok")
                telemetry.beginDraining()
                let refused = try await refusal { _ = try await readiness.check(context, call) }
                #expect(refused.status == 503 && refused.retryAfter == 5)
            }
        }
    }

    @Test("without a database a server is live but not ready, and says so")
    func noDatabase() async throws {
        try await TestServer.run(configure: { $0.databaseURL += "&dbname=gone" }) { server in
            let reply = try await server.call("GET", "/health/ready")
            #expect(reply.status == 503 && reply.header("retry-after") == "1")
            #expect(reply.json?["error"]?["message"] == "The database does not answer in time.")
            #expect(try await server.call("GET", "/health/live").status == 200)
            #expect(try await server.metrics().status == 200)
        }
    }

    @Test("the dashboard fails like other operations for a caller whose account the database cannot read")
    func unreadableAccount() async throws {
        try await TestServer.run(toleratesFaults: true, isOfActs: false) { server in
            let family = try await server.family()
            try await server.sql("ALTER TABLE admins RENAME TO gone")
            let metrics = try await server.call("GET", "/api/v1/metrics", as: family.guardian).status
            let me = try await server.call("GET", "/api/v1/me", as: family.guardian).status
            #expect(metrics >= 500 && metrics == me)
            try await server.sql("ALTER TABLE gone RENAME TO admins")
            #expect(try await server.call("GET", "/api/v1/metrics", as: family.guardian).status == 200)
        }
    }

    @Test(
        "a refusal by the HTTP layer has the request's id too",
        arguments: [
            ("GET /nothing HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n", 404),
            ("DELETE /api/v1/version HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n", 405),
            ("GET / HTTP/1.1\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: test\r\nX: \(String(repeating: "x", count: 20_000))\r\n\r\n", 431),
            ("POST /api/v1/nags HTTP/1.1\r\nHost: test\r\nContent-Length: 99999999\r\n\r\n", 413),
        ])
    func refusals(request: String, status: Int) async throws {
        try await TestServer.run { server in
            let reply = try await RawClient.send(Array(request.utf8), to: server.port)
            #expect(reply.status == status)
            let id = try #require(reply.json?["error"]?["request_id"]?.stringValue)
            #expect(id.count == 32 && id == reply.header("x-request-id"))
        }
    }

    @Test("browsers may read the rate limit's header fields, and send those that the API accepts")
    func exposedHeaders() async throws {
        try await TestServer.run { server in
            let origin = ["Origin": "http://localhost:5173"]
            let reply = try await server.call("GET", "/api/v1/audit/events", headers: origin)
            let exposed =
                "x-request-id, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset, retry-after, etag, location, x-trace-id, "
                + "ignored-parameters, idempotent-replay"
            #expect(reply.header("access-control-expose-headers") == exposed)
            let preflight = try await server.call(
                "OPTIONS", "/api/v1/audit/events",
                headers: origin.merging(["Access-Control-Request-Method": "GET"]) { $1 })
            let allowed = "authorization, content-type, idempotency-key, if-match, prefer, traceparent, x-request-id"
            #expect(preflight.status == 204 && preflight.header("access-control-allow-headers") == allowed)
        }
    }

    @Test("the legal texts are answered without a sign-in", arguments: [API.getPrivacyPolicy, API.getTermsOfService])
    func legal(endpoint: Endpoint<NoParameters, NoBody, LegalDocument>) async throws {
        try await TestServer.run { server in
            let text = try await server.call(endpoint)
            #expect(!text.title.isEmpty && text.content.count > 1_000)
            #expect(text.effectiveDate.wholeMatch(of: /\d{4}-\d{2}-\d{2}/) != nil)
        }
    }
}

@Suite("Third-party recipients in the privacy policy")
struct OutsidePartyTests {
    private static func policy(_ change: (inout ThirdPartyRecipients) -> Void = { _ in }) -> LegalDocument {
        var parties = ThirdPartyRecipients()
        change(&parties)
        return LegalTexts.privacyPolicy(parties)
    }

    @Test("the privacy policy names the configured recipients, under a version of its own")
    func named() {
        let plain = Self.policy()
        #expect(
            !plain.content.contains("Notifications for your devices") && !plain.content.contains("Text messages go"))
        #expect(
            !plain.content.contains("runs on this server's machine") && plain.content.contains("OpenAI or Anthropic"))
        let push = Self.policy { $0.pushService = "Apple's push service" }
        #expect(push.content.contains("go through Apple's push service. It learns the device's address"))
        let browsers = Self.policy { $0.hasWebPush = true }
        #expect(browsers.content.contains("the push service of the browser's maker"))
        let sms = Self.policy { $0.smsService = "the service at sms.example.org" }
        #expect(
            sms.content.contains("Text messages go through the service at sms.example.org, if you agreed to them. It"))
        let model = Self.policy { $0.hasServerModel = true }
        #expect(model.content.contains("runs on this server's machine"))
        #expect(Set([plain, push, browsers, sms, model].map(\.version)).count == 5)
    }

    @Test(
        "a webhook is named by its host, without a user, a port and a path",
        arguments: [
            ("https://sms.example.org/in?key=canary", "the service at sms.example.org"),
            ("http://user:canary@10.0.0.7:8443", "the service at 10.0.0.7"),
            ("https://[2001:db8::1]:8443/canary", "the service at [2001:db8::1]"),
        ])
    func hosts(url: String, name: String) throws {
        var configuration = Configuration(databaseURL: "", tokenKeys: [], loops: 1)
        let secret = [UInt8](repeating: 1, count: 32)
        configuration.deliveries.sms = .webhook(try #require(DeliveryOptions.Webhook(url: url, secret: secret)))
        #expect(ThirdPartyRecipients(configuration).smsService == name)
        #expect(ThirdPartyRecipients(configuration).pushService == nil)
        for passesTokens in [false, true] {
            configuration.deliveries.push = configuration.deliveries.sms
            configuration.deliveries.sendsTokensAndPhones = passesTokens
            let text = LegalTexts.privacyPolicy(ThirdPartyRecipients(configuration)).content
            #expect(text.contains("It learns the device's address") == passesTokens)
        }
        configuration.runsDeliveries = false
        let parties = ThirdPartyRecipients(configuration)
        #expect(parties.smsService == name && parties.sendsPhoneCodes, "codes are sent by every instance")
        #expect(LegalTexts.privacyPolicy(parties).content.contains("or enter a telephone number, which gets a code."))
        configuration.deliveries.sendsTokensAndPhones = false
        #expect(ThirdPartyRecipients(configuration).smsService == nil)
    }
}
