import Glibc
import HTTP
import SeededNumbers
import Synchronization
import Testing

private struct Broken: Error {}

private let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
private let post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n"

@Suite("Records of requests", .timeLimit(.minutes(10)))
struct ObservationTests {
    /// `/hold` answers, and `/part` ends its stream, once the gate is open.
    private func application(_ gate: Gate = Gate(), called: @escaping @Sendable (RequestID) -> Void = { _ in }) throws
        -> Application
    {
        let routes: [Route] = [
            .immediate(.get, "/") { request in
                called(request.id)
                return .text(.ok, "root")
            },
            .immediate(.post, "/") { request in
                called(request.id)
                return .noContent
            },
            Route(.get, "/hold") { request in
                called(request.id)
                await gate.pass()
                return .text(.ok, "late")
            },
            Route(.get, "/part") { request in
                called(request.id)
                return Response(
                    .ok, .text,
                    body: .stream { writer in
                        try await writer.write(bytes("part"))
                        await gate.pass()
                        try await writer.write(bytes("rest"))
                    })
            },
            Route(.get, "/broken") { request in
                called(request.id)
                return Response(
                    .ok, .text,
                    body: .stream { writer in
                        try await writer.write(bytes("part"))
                        throw Broken()
                    })
            },
            Route(.get, "/endless") { _ in
                Response(
                    .ok, .text,
                    body: .stream { writer in
                        while true { try await writer.write([UInt8](repeating: 0x78, count: 100_000)) }
                    })
            },
        ]
        return Application(router: try Router(routes))
    }

    private func line(_ log: RequestLog) async -> String {
        await log.lines(1).first.map { "\($0.route ?? "-") \($0.status) \($0.fault ?? "-")" } ?? ""
    }

    @Test("a request is recorded once when the peer resets while its handler runs")
    func resetDuringHandler() async throws {
        let (gate, log) = (Gate(), RequestLog())
        try await withServer(try application(gate), observer: log) { server, port in
            let client = Client(port: port)
            client.send("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n")
            await gate.arrived()
            client.reset()
            #expect(await line(log) == "/hold 499 disconnected")
            await gate.open()
        }
        #expect(log.lines.count == 1 && log.lines.first?.bytesOut == 0)
    }

    @Test(
        "a request is recorded once when the peer resets before it is complete",
        arguments: [("GET / HT", "- 499 disconnected"), (post + "12345", "/ 499 disconnected")])
    func resetDuringRequest(_ wire: String, _ expected: String) async throws {
        let log = RequestLog()
        let worker = try LoneWorker(try application(), observer: log)
        defer { worker.end() }
        do {
            // A peer that has not read all that came to it resets the connection by closing it.
            let client = await worker.connect()
            client.send(get)
            _ = await client.receive(until: "HTTP")
            client.send(get + wire)
            _ = await log.lines(2)
        }
        let last = try #require(await log.lines(3).last)
        #expect("\(last.route ?? "-") \(last.status) \(last.fault ?? "-")" == expected)
    }

    @Test("a request is recorded once when the deadline of a drain cuts it off")
    func drainDeadline() async throws {
        let (gate, log) = (Gate(), RequestLog())
        try await withServer(try application(gate), observer: log) { server, port in
            let client = Client(port: port)
            client.send("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n")
            await gate.arrived()
            await server.drain(within: .zero)
            #expect(await line(log) == "/hold 503 drainDeadline")
            await gate.open()
        }
        #expect(log.lines.count == 1)
    }

    @Test("a request is recorded once when its stream fails, with the error and the sent status")
    func streamFails() async throws {
        let log = RequestLog()
        try await withServer(try application(), observer: log) { _, port in
            let client = Client(port: port)
            client.send("GET /broken HTTP/1.1\r\nHost: a\r\n\r\n")
            let wire = await client.receiveAll()
            #expect(await line(log) == "/broken 200 streamFailed: Broken: Broken()")
            #expect(log.lines.first?.bytesOut == wire.count)
        }
        #expect(log.lines.count == 1)
    }

    @Test("a request is recorded once when the peer resets its stream")
    func resetDuringStream() async throws {
        let (gate, log) = (Gate(), RequestLog())
        try await withServer(try application(gate), observer: log) { _, port in
            let client = Client(port: port)
            client.send("GET /part HTTP/1.1\r\nHost: a\r\n\r\n")
            let wire = await client.receive(until: "part\r\n")
            client.reset()
            #expect(await line(log) == "/part 200 disconnected")
            #expect(log.lines.first?.bytesOut == wire.count)
            await gate.open()
        }
        #expect(log.lines.count == 1)
    }

    @Test("a request is recorded once when the peer does not read its stream")
    func stalledStream() async throws {
        let log = RequestLog()
        var limits = Limits()
        limits.writeRateWindow = .milliseconds(30)
        try await withServer(try application(), limits: limits, observer: log) { _, port in
            let client = Client(port: port, receiveBuffer: 4_096)
            client.send("GET /endless HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(await line(log) == "/endless 200 writeTimeout")
            withExtendedLifetime(client) {}
        }
        #expect(log.lines.count == 1)
    }

    @Test("the record of a whole stream counts all its bytes")
    func wholeStream() async throws {
        let (gate, log) = (Gate(), RequestLog())
        await gate.open()
        try await withServer(try application(gate), observer: log) { _, port in
            let client = Client(port: port)
            client.send("GET /part HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            let wire = await client.receiveAll()
            #expect(await line(log) == "/part 200 -")
            #expect(log.lines.first?.bytesOut == wire.count)
        }
    }

    @Test(
        "there are as many records as requests, with resets at random moments", arguments: 1...8 as ClosedRange<UInt64>)
    func count(_ seed: UInt64) async throws {
        var random = SeededNumbers(seed: seed)
        let (gate, log, called) = (Gate(), RequestLog(), RequestIDs())
        let worker = try LoneWorker(try application(gate) { called.insert($0) }, observer: log)
        defer { worker.end() }
        let paths = ["/", "/hold", "/part", "/broken", "/nothing"]
        var (open, begun): ([Client], Int) = ([], 0)
        for _ in 0..<300 {
            let client = await worker.connect()
            if Bool.random(using: &random) {
                client.send(get)
                begun += 1
                // Left unread, the rest of the answer makes the close a reset.
                _ = await client.receive(until: "HTTP")
                try await worker.turn()
            }
            let path = paths[Int.random(in: paths.indices, using: &random)]
            let wire = bytes(Bool.random(using: &random) ? post + "1234567890" : get.replacing("/ ", with: "\(path) "))
            let end = Bool.random(using: &random) ? wire.count : Int.random(in: 1...wire.count, using: &random)
            client.send(Array(wire[..<end]))
            begun += 1
            for _ in 0..<Int.random(in: 0...3, using: &random) { try await worker.turn() }
            if Bool.random(using: &random) { client.endSending() }
            open.append(client)
            if open.count > 8 { open.remove(at: Int.random(in: open.indices, using: &random)) }
        }
        open = []
        await gate.open()
        _ = await log.lines(begun)
        for _ in 0..<10 { try await worker.turn() }
        let lines = log.lines
        #expect(lines.count == begun && Set(lines.map(\.id)).count == begun)
        #expect(called.count { id in !lines.contains { $0.id == id } } == 0)
    }
}

/// Of which requests handlers were called.
private final class RequestIDs: Sendable {
    private let ids = Mutex<[RequestID]>([])

    func insert(_ id: RequestID) { ids.withLock { $0.append(id) } }
    func count(where isCounted: (RequestID) -> Bool) -> Int { ids.withLock { $0 }.count(where: isCounted) }
}
