import Foundation
import HTTPClient
import Reactor
import TestHTTPServer
import Testing

/// Against a server that is not ours.
@Suite("HTTP client")
struct HTTPClientTests {
    static let loopback = NetworkGuard(allowing: [NetworkBlock("127.0.0.0/8")].compactMap { $0 })

    /// Runs `body` on a fresh loop with a client that may connect to loopback.
    private func withClient<Value: Sendable>(
        networks: NetworkGuard = loopback, authorities: String? = nil,
        _ body: @escaping @Sendable (HTTPClient) async throws -> Value
    ) async throws -> Value {
        let loop = try EventLoop(name: "test")
        try loop.start()
        defer { loop.stop() }
        return try await loop.runTask { poller in
            let client = HTTPClient(poller, networks: networks, authoritiesPath: authorities)
            defer { client.close() }
            return try await body(client)
        }
    }

    /// What became of a GET: the status and the length of the body, or the error.
    private static func outcome(
        _ client: HTTPClient, _ url: String, _ limits: HTTPClientRequest.Limits = .generous
    ) async -> String {
        do throws(HTTPClientError) {
            let response = try await client.send(HTTPClientRequest("GET", url, limits: limits))
            return "\(response.status) \(response.body.count)"
        } catch {
            return "\(error)"
        }
    }

    @Test("a plain server's status, header fields and body arrive, and it receives what the request has")
    func plain() async throws {
        try await TestHTTPServer.with { server in
            try await withClient { client in
                let hello = try await client.send(HTTPClientRequest("GET", server.url() + "/hello"))
                #expect(hello.status == 200 && String(decoding: hello.body, as: UTF8.self) == "hello over HTTP/1.1")
                #expect(hello.header("x-word") == "one" && hello.header("x-empty") == "" && !hello.isHTTP2)
                let body: [UInt8] = [0, 13, 10, 255]
                let request = HTTPClientRequest(
                    "PUT", server.url() + "/echo", headers: [("X-Name", "value"), ("X-Empty", "")], body: body)
                let echo = try JSONDecoder().decode(Echo.self, from: Data(try await client.send(request).body))
                #expect(echo.method == "PUT" && Data(base64Encoded: echo.body) == Data(body))
                #expect(
                    echo.headers == [
                        "host": "127.0.0.1:\(server.port)", "accept": "*/*", "x-name": "value", "x-empty": "",
                        "content-length": "4",
                    ])
                #expect(await Self.outcome(client, server.url() + "/redirect") == "302 0")
                #expect(await Self.outcome(client, server.url() + "/nothing") == "404 0")
            }
        }
    }

    @Test("over TLS with a known authority HTTP/2 is used, by 200 requests at once")
    func tls() async throws {
        try await TestHTTPServer.with(.tls(name: "127.0.0.1")) { server in
            try await withClient(authorities: server.authority) { client in
                let hello = try await client.send(HTTPClientRequest("GET", server.url() + "/hello"))
                #expect(hello.isHTTP2 && String(decoding: hello.body, as: UTF8.self) == "hello over HTTP/2")
                let outcomes = await Self.together(200, client, server.url() + "/slow?ms=100")
                #expect(outcomes == Array(repeating: "200 4", count: 200))
            }
        }
    }

    @Test("a certificate of another authority, or for another name, is refused")
    func certificates() async throws {
        try await TestHTTPServer.with(.tls(name: "127.0.0.1")) { server in
            let unknown = try await withClient { await Self.outcome($0, server.url() + "/hello") }
            #expect(unknown == HTTPClientError.untrusted.description)
            let others = NetworkGuard(allowing: ["127.0.0.0/8", "::1"].compactMap { NetworkBlock($0) })
            let misnamed = try await withClient(networks: others, authorities: server.authority) {
                await Self.outcome($0, server.url(host: "localhost") + "/hello")
            }
            #expect(misnamed == HTTPClientError.untrusted.description)
        }
    }

    @Test("an answer that is too large, slow, stalled or cut ends its request with an error")
    func limits() async throws {
        try await TestHTTPServer.with { server in
            try await withClient { client in
                var limits = HTTPClientRequest.Limits.generous
                limits.maxResponseBodyBytes = 100_000
                let url = server.url()
                #expect(await Self.outcome(client, url + "/large?bytes=100000", limits) == "200 100000")
                for path in ["/large?bytes=100001", "/endless", "/head?lines=100"] {
                    #expect(await Self.outcome(client, url + path, limits) == HTTPClientError.tooLarge.description)
                }
                #expect(await Self.outcome(client, url + "/cut") == HTTPClientError.interrupted.description)
                limits.totalTimeout = .milliseconds(300)
                #expect(
                    await Self.outcome(client, url + "/slow?ms=600000", limits) == HTTPClientError.timedOut.description)
                limits = .generous
                limits.stallTimeout = .seconds(1)
                #expect(
                    await Self.outcome(client, url + "/trickle?ms=600000", limits)
                        == HTTPClientError.timedOut.description)
            }
        }
    }

    @Test("a cancelled task and a closed client end their requests at once, and others go on")
    func cancellation() async throws {
        try await TestHTTPServer.with { server in
            try await withClient { client in
                let loop = LoopBound(value: client)
                let slow = Task.immediate { await Self.outcome(loop.value, server.url() + "/slow?ms=600000") }
                #expect(client.inFlight == 1)
                slow.cancel()
                #expect(await slow.value == "cancelled")
                #expect(client.inFlight == 0)
                #expect(await Self.outcome(client, server.url() + "/hello") == "200 19")
                let last = Task.immediate { await Self.outcome(loop.value, server.url() + "/slow?ms=600000") }
                client.close()
                #expect(await last.value == "cancelled")
                #expect(await Self.outcome(client, server.url() + "/hello") == "cancelled")
            }
        }
    }

    @Test("300 plain requests at once are answered while a slow one waits")
    func many() async throws {
        try await TestHTTPServer.with { server in
            try await withClient { client in
                let loop = LoopBound(value: client)
                let slow = Task.immediate { await Self.outcome(loop.value, server.url() + "/slow?ms=600000") }
                let outcomes = await Self.together(300, client, server.url() + "/hello")
                #expect(outcomes == Array(repeating: "200 19", count: 300))
                #expect(client.inFlight == 1)
                slow.cancel()
                _ = await slow.value
            }
        }
    }

    @Test("no name and no spelling leads into the own network, unless the operator allowed it")
    func ownNetwork() async throws {
        try await TestHTTPServer.with { server in
            let hosts = [
                "127.0.0.1", "localhost", "0.0.0.0", "0", "127.1", "2130706433", "0x7f000001", "[::1]",
                "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::]",
            ]
            for host in hosts {
                let outcome = try await withClient(networks: NetworkGuard()) {
                    await Self.outcome($0, server.url(host: host) + "/hello")
                }
                #expect(outcome == HTTPClientError.forbiddenAddress.description, "\(host)")
            }
            let named = try await withClient { await Self.outcome($0, server.url() + "/hello") }
            #expect(named == "200 19")
        }
    }

    @Test(
        "other protocols, injected header lines and broken URLs are refused",
        arguments: [
            HTTPClientRequest("GET", "file:///etc/passwd"), HTTPClientRequest("GET", "gopher://127.0.0.1/"),
            HTTPClientRequest("GET", "127.0.0.1"), HTTPClientRequest("GET", "http://127.0.0.1/\r\nX: y"),
            HTTPClientRequest("GET", "http://127.0.0.1/ HTTP/1.1"), HTTPClientRequest("GET", "http://"),
            HTTPClientRequest("GET /", "http://127.0.0.1/"),
            HTTPClientRequest("GET", "http://127.0.0.1/", headers: [("X", "a\r\nY: b")]),
            HTTPClientRequest("GET", "http://127.0.0.1/", headers: [("X: y\nZ", "a")]),
        ])
    func malformed(request: HTTPClientRequest) async throws {
        try await withClient { client in
            _ = await #expect(throws: HTTPClientError.malformedRequest) { _ = try await client.send(request) }
        }
    }

    @Test("a port without a server is unreachable, and an unknown name unresolvable")
    func unreachable() async throws {
        try await withClient { client in
            #expect(await Self.outcome(client, "http://127.0.0.1:1/") == HTTPClientError.unreachable.description)
            #expect(
                await Self.outcome(client, "http://no-such-host.invalid/") == HTTPClientError.unresolvable.description)
        }
    }

    private static func together(_ count: Int, _ client: HTTPClient, _ url: String) async -> [String] {
        let loop = LoopBound(value: client)
        let tasks = (0..<count).map { _ in Task.immediate { await outcome(loop.value, url) } }
        var outcomes: [String] = []
        for task in tasks { outcomes.append(await task.value) }
        return outcomes
    }

    private struct Echo: Decodable {
        let method: String
        let headers: [String: String]
        let body: String
    }
}

extension HTTPClientRequest.Limits {
    /// For a busy machine.
    fileprivate static var generous: Self {
        var limits = Self()
        (limits.connectTimeout, limits.totalTimeout, limits.stallTimeout) = (
            .seconds(300), .seconds(600), .seconds(300)
        )
        return limits
    }
}
