import Glibc
import Reactor
import Synchronization
import Testing

@testable import HTTP

private final class Record: RequestObserver {
    struct Line: Sendable, Equatable {
        var method: Method?
        var template: String?
        var status: Int
        var bytesIn: Int
    }
    let lines = Mutex<[Line]>([])
    let open = Atomic(0)
    let refused = Atomic(0)

    func requestFinished(_ record: borrowing RequestRecord) {
        let line = Line(
            method: record.method, template: record.route?.template, status: Int(record.status.rawValue),
            bytesIn: record.bytesIn)
        lines.withLock { $0.append(line) }
    }
    func connectionOpened() { open.add(1, ordering: .relaxed) }
    func connectionClosed() { open.subtract(1, ordering: .relaxed) }
    func connectionRefused() { refused.add(1, ordering: .relaxed) }
}

private func application(_ routes: Route...) throws -> Application { Application(router: try Router(routes)) }
private let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

@Suite("The server on a socket", .timeLimit(.minutes(10)))
struct ServerTests {
    @Test("a server does not listen on a port where another one does, though both would share it")
    func takenPort() async throws {
        try await withServer(try Application(router: Router([])), loops: 2) { _, port in
            let loop = try EventLoop(name: "second")
            try loop.start()
            defer { loop.stop() }
            let second = HTTPServer(try Application(router: Router([])), on: [loop])
            await #expect(throws: SystemError.self) { try await second.listen(on: "127.0.0.1", port: port) }
        }
    }

    @Test("the server answers a pipeline in order though the handlers differ in speed")
    func pipeline() async throws {
        let gate = Gate()
        let application = try application(
            Route(.get, "/slow") { _ in
                await gate.pass()
                return .text(.ok, "slow")
            },
            .immediate(.get, "/fast") { _ in .text(.ok, "fast") })
        try await withServer(application) { _, port in
            let client = Client(port: port)
            client.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n" + "GET /fast HTTP/1.1\r\nHost: a\r\n\r\n")
            await gate.arrived()
            client.send("GET /fast HTTP/1.1\r\nHost: a\r\n\r\n" + "oops\r\n\r\n")
            await gate.open()
            let all = answers(in: await client.receiveAll())
            #expect(
                all.map(\.status) == [200, 200, 200, 400] && all.prefix(3).map(\.text) == ["slow", "fast", "fast"])
        }
    }

    @Test("the server asks for content with 100 only when the route takes it")
    func expectations() async throws {
        try await withServer(try sampleApplication()) { _, port in
            let client = Client(port: port)
            client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
            #expect(
                String(decoding: await client.receive(until: "\r\n\r\n"), as: UTF8.self)
                    == "HTTP/1.1 100 Continue\r\n\r\n")
            client.send("hello")
            #expect(answers(in: await client.receive(until: "hello")).map(\.status) == [200])
            for (path, status) in [("/small", 413), ("/nothing", 404), ("/nags/1", 405)] {
                let client = Client(port: port)
                client.send("POST \(path) HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
                let answer = try #require(answers(in: await client.receiveAll()).first)
                #expect(answer.status == status && answer["connection"] == "close")
            }
        }
    }

    @Test("the server echoes content of many sizes, in both framings", arguments: [0, 1, 70_000, 1 << 20])
    func echo(_ size: Int) async throws {
        let body = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try await withServer(try sampleApplication()) { _, port in
            let client = Client(port: port)
            client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(size)\r\n\r\n")
            client.send(body)
            client.send("POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n")
            for start in stride(from: 0, to: size, by: 50_001) {
                let piece = body[start..<min(size, start + 50_001)]
                client.send(bytes(String(piece.count, radix: 16) + "\r\n") + piece + bytes("\r\n"))
            }
            client.send("0\r\n\r\n")
            let both = answers(in: await client.receiveAll())
            #expect(both.map(\.status) == [200, 200] && both.allSatisfy { $0.body == body })
        }
    }

    @Test("the server refuses too much content and says so while it is still being sent")
    func tooMuch() async throws {
        try await withServer(try sampleApplication()) { _, port in
            let client = Client(port: port)
            client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n")
            client.send([UInt8](repeating: 120, count: 3_000_000))
            #expect(answers(in: await client.receiveAll()).map(\.status) == [413])
        }
    }

    @Test("the server answers a request that has no route before its content", arguments: ["/nothing", "/nags/1"])
    func contentForNobody(_ path: String) async throws {
        try await withServer(try sampleApplication()) { _, port in
            let client = Client(port: port)
            client.send("POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n")
            client.send([UInt8](repeating: 120, count: 999_999))
            let answer = try #require(answers(in: await client.receiveAll()).first)
            #expect([404, 405].contains(answer.status) && answer["connection"] == "close")
        }
    }

    @Test("the server survives a client that leaves while its handler runs")
    func disconnect() async throws {
        let gate = Gate()
        let record = Record()
        let application = try application(
            Route(.get, "/") { _ in
                await gate.pass()
                return .text(.ok, "late")
            },
            .immediate(.get, "/alive") { _ in .text(.ok, "yes") })
        try await withServer(application, observer: record) { server, port in
            do {
                let client = Client(port: port)
                client.send(get)
                await gate.arrived()
            }
            await gate.open()
            let other = Client(port: port)
            other.send("GET /alive HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(answers(in: await other.receiveAll()).map(\.status) == [200])
            await server.drain(within: .seconds(5))
            #expect(server.connectionCount == 0 && record.open.load(ordering: .relaxed) == 0)
        }
    }

    @Test("during a drain running requests finish, idle connections close, and new ones are refused")
    func drain() async throws {
        let gate = Gate()
        let application = try application(
            Route(.get, "/slow") { _ in
                await gate.pass()
                return .text(.ok, "done")
            },
            .immediate(.get, "/") { _ in .text(.ok, "root") })
        var limits = Limits()
        limits.drainGrace = .milliseconds(50)
        try await withServer(application, limits: limits) { server, port in
            let idle = Client(port: port)
            idle.send(get)
            _ = await idle.receive(until: "root")
            let running = Client(port: port)
            running.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
            await gate.arrived()
            async let drained: Void = server.drain(within: .seconds(10))
            #expect(await idle.receiveAll().isEmpty)
            await gate.open()
            let answer = try #require(answers(in: await running.receiveAll()).first)
            #expect(answer.status == 200 && answer["connection"] == "close" && answer.text == "done")
            running.endSending()
            await drained
            #expect(server.connectionCount == 0)
        }
    }

    @Test("a drain ends at its deadline")
    func drainDeadline() async throws {
        let gate = Gate()
        let application = try application(
            Route(.get, "/") { _ in
                await gate.pass()
                return .noContent
            })
        try await withServer(application) { server, port in
            let client = Client(port: port)
            client.send(get)
            await gate.arrived()
            await server.drain(within: .milliseconds(20))
            #expect(await client.receiveAll().isEmpty)
            await gate.open()
        }
    }

    @Test("the server answers connections over a limit with 503")
    func limits() async throws {
        var limits = Limits()
        limits.maxConnectionsPerAddress = 2
        let record = Record()
        try await withServer(try sampleApplication(), limits: limits, observer: record) { _, port in
            let first = Client(port: port)
            let second = Client(port: port)
            for client in [first, second] {
                client.send(get)
                _ = await client.receive(until: "root")
            }
            let third = Client(port: port)
            third.send(get)
            let answer = try #require(answers(in: await third.receiveAll()).first)
            #expect(answer.status == 503 && answer["retry-after"] == "1" && answer["connection"] == "close")
            #expect(record.refused.load(ordering: .relaxed) == 1)
            withExtendedLifetime((first, second)) {}
        }
    }

    @Test("a proxy is not bound by the limit of connections per address")
    func connectionsOfProxy() async throws {
        var limits = Limits()
        limits.maxConnectionsPerAddress = 1
        let application = try sampleApplication(proxies: TrustedProxies(["127.0.0.0/8"]))
        try await withServer(application, limits: limits) { server, port in
            let clients = (0..<3).map { _ in Client(port: port) }
            for client in clients {
                client.send(get)
                _ = await client.receive(until: "root")
            }
            #expect(server.connectionCount == 3)
            for client in clients {
                client.endSending()
                #expect(await client.receiveAll().isEmpty)
            }
        }
    }

    @Test("the server closes an idle connection by its timer")
    func idle() async throws {
        var limits = Limits()
        limits.idleTimeout = .milliseconds(30)
        try await withServer(try sampleApplication(), limits: limits) { _, port in
            #expect(await Client(port: port).receiveAll().isEmpty)
        }
    }

    @Test("the server answers a head that does not end with 408")
    func slowHead() async throws {
        var limits = Limits()
        limits.headTimeout = .milliseconds(30)
        try await withServer(try sampleApplication(), limits: limits) { _, port in
            let client = Client(port: port)
            client.send("GET / HTTP/1.1\r\n")
            #expect(answers(in: await client.receiveAll()).map(\.status) == [408])
        }
    }

    @Test("the server streams content piece by piece, with back-pressure")
    func stream() async throws {
        let pieces = (0..<100).map { [UInt8](repeating: $0, count: 100_000) }
        let application = try application(
            Route(.get, "/") { _ in
                Response(
                    .ok, .jsonLines,
                    body: .stream { writer in
                        for piece in pieces { try await writer.write(piece) }
                    })
            },
            Route(.get, "/broken") { _ in
                Response(
                    .ok, .jsonLines,
                    body: .stream { writer in
                        try await writer.write(bytes("part"))
                        throw HTTPRequestError.truncated
                    })
            })
        try await withServer(application) { _, port in
            for version in ["1.1", "1.0"] {
                let client = Client(port: port)
                client.send("GET / HTTP/\(version)\r\nHost: a\r\nConnection: close\r\n\r\n")
                let answer = try #require(answers(in: await client.receiveAll()).first)
                #expect(answer.body == Array(pieces.joined()))
                #expect((answer["transfer-encoding"] == "chunked") == (version == "1.1"))
            }
            let client = Client(port: port)
            client.send("GET /broken HTTP/1.1\r\nHost: a\r\n\r\n")
            let wire = await client.receiveAll()
            #expect(wire.suffix(9) == bytes("4\r\npart\r\n").suffix(9) && wire.suffix(5) != bytes("0\r\n\r\n")[...])
        }
    }

    @Test("after an upgrade the socket is handed over with the bytes that were read ahead")
    func upgrade() async throws {
        let application = try application(
            .immediate(.get, "/") { _ in
                .upgrade(to: "echo") { socket in
                    var socket = socket
                    let reply = Array("got ".utf8) + socket.readAhead
                    let descriptor = socket.takeDescriptor()
                    _ = reply.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, 0) }
                    Glibc.close(descriptor)
                }
            })
        try await withServer(application) { server, port in
            let client = Client(port: port)
            client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\nearly")
            let text = String(decoding: await client.receiveAll(), as: UTF8.self)
            #expect(text.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n") && text.hasSuffix("\r\n\r\ngot early"))
            #expect(text.contains("Connection: upgrade\r\n") && !text.contains("Content-Length"))
            // The socket counts as a connection until its new owner has let go of it, a moment after closing it.
            while server.connectionCount > 0 { await Task.yield() }
        }
    }

    @Test("the server records every request")
    func observer() async throws {
        let record = Record()
        try await withServer(try sampleApplication(), observer: record) { _, port in
            let client = Client(port: port)
            client.send(get + "GET /nags/7 HTTP/1.1\r\nHost: a\r\n\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\nBAD\r\n\r\n")
            _ = await client.receiveAll()
        }
        #expect(
            record.lines.withLock { $0 }.map { "\($0.method?.description ?? "-") \($0.template ?? "-") \($0.status)" }
                == ["GET / 200", "GET /nags/{nag_id} 200", "GET - 404", "- - 400"])
        #expect(record.lines.withLock { $0[0].bytesIn } == get.utf8.count)
    }

    @Test("the server serves 200 connections on two loops")
    func manyConnections() async throws {
        try await withServer(try sampleApplication(), loops: 2) { server, port in
            let clients = (0..<200).map { _ in Client(port: port) }
            for client in clients { client.send(get) }
            for client in clients { #expect(await client.receive(until: "root").count > 4) }
            #expect(server.connectionCount == 200)
            withExtendedLifetime(clients) {}
        }
    }
}
