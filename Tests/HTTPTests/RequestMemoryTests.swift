import Testing

@testable import HTTP

/// A server with room for 100,000 bytes of requests, whose handlers wait at gates.
@Suite("Memory for requests", .timeLimit(.minutes(10)))
struct RequestMemoryTests {
    private let first = Gate()
    private let second = Gate()

    private func withScarceServer(_ body: (HTTPServer, UInt16) async throws -> Void) async throws {
        let (first, second) = (first, second)
        let routes = [
            Route(.post, "/first") { request in
                await first.pass()
                return .text(.ok, "\(request.body.count)")
            },
            Route(.get, "/second") { request in
                await second.pass()
                return .text(.ok, "second")
            },
            .immediate(.get, "/") { _ in .text(.ok, "root") },
            .immediate(.post, "/") { .text(.ok, "\($0.body.count)") },
        ]
        var limits = Limits()
        limits.maxRequestMemoryBytes = 100_000
        try await withServer(Application(router: try Router(routes)), limits: limits, body)
    }

    private func post(_ path: String, _ count: Int, sending sent: Int? = nil) -> String {
        "POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: \(count)\r\n\r\n"
            + String(repeating: "x", count: sent ?? count)
    }

    /// What a connection of its own is answered when it has sent this and ends.
    private func answers(to wire: String, _ port: UInt16) async -> [Answer] {
        let client = Client(port: port)
        client.send(wire)
        client.endSending()
        return HTTPTests.answers(in: await client.receiveAll())
    }

    /// Runs `body` while a request holds 60,000 bytes, and has that one answered then.
    private func whileHeld(_ port: UInt16, _ body: () async throws -> Void) async throws {
        let holder = Client(port: port)
        holder.send(post("/first", 60_000))
        await first.arrived()
        try await body()
        await first.open()
        #expect(HTTPTests.answers(in: await holder.receive(until: "60000")).map(\.status) == [200])
    }

    @Test("memory held by a request is refused to others, and released with its answer")
    func held() async throws {
        try await withScarceServer { _, port in
            try await whileHeld(port) {
                let refused = try #require(await answers(to: post("/", 60_000), port).first)
                #expect(refused.status == 503 && refused["retry-after"] == "1" && refused["connection"] == "close")
                #expect(await answers(to: post("/", 30_000), port).map(\.text) == ["30000"], "there is room for that")
                #expect(await answers(to: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", port).map(\.text) == ["root"])
            }
            #expect(await answers(to: post("/", 60_000), port).map(\.text) == ["60000"])
        }
    }

    @Test(
        "a request that is refused, cut off or too large releases its memory",
        arguments: [(90_000, 89_999, 400), (2_000_000, 50_000, 413), (150_000, 150_000, 503)])
    func givenBack(_ count: Int, _ sent: Int, _ status: Int) async throws {
        try await withScarceServer { _, port in
            for _ in 0..<3 {
                #expect(await answers(to: post("/", count, sending: sent), port).map(\.status) == [status])
            }
            #expect(await answers(to: post("/", 90_000), port).map(\.text) == ["90000"])
        }
    }

    @Test("a request behind another one counts too, and is refused after the other's answer")
    func readAhead() async throws {
        try await withScarceServer { _, port in
            try await whileHeld(port) {
                let client = Client(port: port)
                client.send("GET /second HTTP/1.1\r\nHost: a\r\n\r\n" + post("/", 60_000))
                await second.arrived()
                await second.open()
                let both = HTTPTests.answers(in: await client.receiveAll())
                #expect(both.map(\.status) == [200, 503] && both.first?.text == "second")
            }
            #expect(await answers(to: post("/", 90_000), port).map(\.text) == ["90000"])
        }
    }

    @Test("a connection that is cut off releases its memory")
    func cutOff() async throws {
        try await withScarceServer { server, port in
            let holder = Client(port: port)
            holder.send(post("/first", 90_000))
            await first.arrived()
            // The loop checks that nothing is held when its last connection is gone.
            await server.drain(within: .zero)
            #expect(server.connectionCount == 0)
            await first.open()
        }
    }
}
