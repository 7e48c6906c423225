import Foundation
import Glibc
import Testing

@testable import HTTP

/// Clients that mean harm, from addresses of their own, and others that only want to be served.
@Suite("Memory limits under load", .serialized, .timeLimit(.minutes(10)))
struct PressureTests {
    /// By how much bounds and attacks are smaller than they could be: the thread sanitizer makes each byte dear.
    private static let scale = ProcessInfo.processInfo.environment["NAGZ_FEWER_TESTS"] == nil ? 1 : 8
    private static let page = [UInt8](repeating: 0x78, count: 6_100_000)

    private func application() throws -> Application {
        let routes: [Route] = [
            Route(.post, "/write") { .text(.ok, "\($0.body.count)") },
            Route(.get, "/page") { _ in Response(.ok, .text, bytes: Self.page) },
            .immediate(.get, "/small") { _ in Response(.ok, .text, bytes: [UInt8](repeating: 0x78, count: 4_000)) },
        ]
        return Application(router: try Router(routes), compressionThreshold: nil)
    }

    private func post(_ announced: Int, sending count: Int) -> String {
        "POST /write HTTP/1.1\r\nHost: a\r\nContent-Length: \(announced)\r\n\r\n" + String(repeating: "x", count: count)
    }

    private func chunked(_ count: Int) -> String {
        "POST /write HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
            + String(repeating: "100\r\n" + String(repeating: "x", count: 256) + "\r\n", count: count / 256)
    }

    /// How many of 88 writes of an address succeed.
    private func writes(_ size: Int, from host: UInt32, _ port: UInt16) async -> Int {
        var succeeded = 0
        for _ in 0..<88 {
            let client = Client(port: port, from: host)
            client.send(post(size, sending: size))
            client.endSending()
            if answers(in: await client.receiveAll()).map(\.text) == ["\(size)"] { succeeded += 1 }
        }
        return succeeded
    }

    @Test(
        "one address that announces large content and sends it slowly blocks nobody else's writes", arguments: [1, 2])
    func drip(_ loops: Int) async throws {
        // An eighth of what a server has by default.
        var limits = Limits()
        limits.maxRequestMemoryBytes /= 8 * Self.scale
        limits.maxRequestMemoryBytesPerAddress /= 8 * Self.scale
        try await withServer(try application(), limits: limits, loops: loops) { _, port in
            let attackers = (0..<256).map { index in
                let client = Client(port: port, from: 66)
                let announced = 131_072 / Self.scale
                client.send(index % 2 == 0 ? post(announced, sending: announced - 1) : chunked(announced))
                return client
            }
            #expect(await writes(2_000, from: 2, port) == 88)
            #expect(await writes(100_000 / Self.scale, from: 3, port) == 88, "large ones too")
            for client in attackers { client.send("x") }
            #expect(await writes(2_000, from: 66, port) == 88, "nor its own small ones")
        }
    }

    @Test("many addresses that send slowly together block no small writes")
    func manyAddresses() async throws {
        var limits = Limits()
        limits.maxRequestMemoryBytes = 4 << 20
        limits.maxRequestMemoryBytesPerAddress = 1 << 20
        try await withServer(try application(), limits: limits) { _, port in
            let attackers = (0..<64).map { index in
                let client = Client(port: port, from: UInt32(100 + index % 16))
                client.send(post(200_000, sending: 199_999))
                return client
            }
            #expect(await writes(2_000, from: 2, port) == 88)
            withExtendedLifetime(attackers) {}
        }
    }

    @Test("a proxy's requests count for the client it names, and for the /64 of an IPv6 client")
    func behindProxy() async throws {
        var limits = Limits()
        limits.maxRequestMemoryBytesPerAddress = 100_000
        let gate = Gate()
        let route = Route(.post, "/hold") { request in
            await gate.pass()
            return .text(.ok, "\(request.body.count)")
        }
        let application = Application(
            router: try Router([route]), proxies: try TrustedProxies(["127.0.0.1"]))
        func head(_ client: String) -> String {
            "POST /hold HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: \(client)\r\nContent-Length: 90000\r\n\r\n"
        }
        try await withServer(application, limits: limits) { _, port in
            func send(_ client: String) async -> Client {
                let socket = Client(port: port)
                socket.send(head(client))
                socket.send([UInt8](repeating: 0x78, count: 90_000))
                return socket
            }
            let holder = await send("2001:db8::1")
            await gate.arrived()
            let neighbour = answers(in: await (await send("2001:db8::2")).receiveAll())
            #expect(neighbour.map(\.status) == [503] && neighbour.first?["retry-after"] == "1")
            let other = await send("2001:db8:0:1::1")
            await gate.open()
            for client in [holder, other] {
                client.endSending()
                #expect(answers(in: await client.receiveAll()).map(\.text) == ["90000"])
            }
        }
    }

    @Test("slow readers of a large page use memory within the limits, and keep nobody else from it", arguments: [1, 2])
    func slowReaders(_ loops: Int) async throws {
        let limits = Limits()
        try await withServer(try application(), loops: loops) { server, port in
            var statuses: [Int] = []
            var readers: [Client] = []
            for _ in 0..<100 {
                let client = Client(port: port, from: 66, receiveBuffer: 4_096)
                client.send("GET /page HTTP/1.1\r\nHost: a\r\n\r\n")
                let head = await client.receive(until: "\r\n\r\n")
                let status = String(decoding: head.prefix(12), as: UTF8.self).suffix(3)
                statuses.append(Int(status) ?? 0)
                if status == "503" { #expect(String(decoding: head, as: UTF8.self).contains("retry-after: 1\r\n")) }
                readers.append(client)
                #expect(server.answerMemory.reservedBytes <= limits.maxAnswerMemoryBytesPerAddress)
            }
            let admitted = limits.maxAnswerMemoryBytesPerAddress / Self.page.count
            #expect(statuses.count { $0 == 200 } == admitted && statuses.count { $0 == 503 } == 100 - admitted)
            let other = Client(port: port, from: 2)
            other.send("GET /page HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(answers(in: await other.receiveAll()).first?.body.count == Self.page.count)
            withExtendedLifetime(readers) {}
            readers = []
            await server.drain(within: .zero)
            #expect(server.answerMemory.reservedBytes == 0)
        }
    }

    @Test("a page can read the refusal of an answer for lack of memory, and refusals before its origin was read")
    func crossOrigin() async throws {
        var limits = Limits()
        limits.maxAnswerMemoryBytesPerAddress = 1 << 20
        let route = Route(.get, "/page") { _ in Response(.ok, .text, bytes: Self.page) }
        let policy = CORSPolicy.sample("https://app.example")
        let application = Application(router: try Router([route]), cors: policy, compressionThreshold: nil)
        try await withServer(application, limits: limits) { _, port in
            let requests = [
                ("GET /page HTTP/1.1\r\nHost: a\r\nOrigin: https://app.example\r\nConnection: close\r\n\r\n", 503),
                ("GET /" + String(repeating: "a", count: 9_000), 414),
            ]
            for (request, status) in requests {
                let client = Client(port: port)
                client.send(request)
                client.endSending()
                let answer = answers(in: await client.receiveAll()).first
                #expect(answer?.status == status)
                #expect(answer?["access-control-allow-origin"] == "https://app.example")
            }
        }
    }

    @Test("a connection goes on after a large answer was refused, and HEAD and half-close use no memory")
    func refusedAnswer() async throws {
        var limits = Limits()
        limits.maxAnswerMemoryBytesPerAddress = 1 << 20
        try await withServer(try application(), limits: limits) { server, port in
            let client = Client(port: port)
            client.send("GET /page HTTP/1.1\r\nHost: a\r\n\r\nHEAD /page HTTP/1.1\r\nHost: a\r\n\r\n")
            client.send("GET /small HTTP/1.1\r\nHost: a\r\n\r\n")
            client.endSending()
            let all = answers(in: await client.receiveAll(), heads: [1])
            #expect(all.map(\.status) == [503, 200, 200] && all.last?.body.count == 4_000)
            #expect(server.answerMemory.reservedBytes == 0)
        }
    }

    @Test("a stream reserves its buffer, and no more streams run than there is memory for")
    func streams() async throws {
        var limits = Limits()
        limits.maxAnswerMemoryBytesPerAddress = 3 * limits.maxWriteBufferBytes + 200_000
        let gate = Gate()
        let route = Route(.get, "/stream") { _ in
            Response(
                .ok, .text,
                body: .stream { writer in
                    let piece = [UInt8](repeating: 0x78, count: 100_000)
                    try await writer.write(piece)
                    // Until all are answered: a stream under way may hold more than its buffer.
                    await gate.pass()
                    for _ in 0..<100 { try await writer.write(piece) }
                })
        }
        let application = Application(router: try Router([route]), compressionThreshold: nil)
        try await withServer(application, limits: limits) { server, port in
            var readers: [Client] = []
            var statuses: [Substring] = []
            for _ in 0..<5 {
                let client = Client(port: port, receiveBuffer: 4_096)
                client.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n")
                statuses.append(
                    String(decoding: await client.receive(until: "\r\n\r\n"), as: UTF8.self).prefix(12).suffix(3))
                readers.append(client)
            }
            #expect(statuses == ["200", "200", "200", "503", "503"])
            await gate.open()
            #expect(server.answerMemory.reservedBytes <= limits.maxAnswerMemoryBytesPerAddress)
            withExtendedLifetime(readers) {}
        }
    }

    @Test("a stream that has nothing to send for a while keeps its buffer reserved")
    func restingStream() async throws {
        var limits = Limits()
        limits.maxAnswerMemoryBytesPerAddress = limits.maxWriteBufferBytes + 200_000
        let gate = Gate()
        let route = Route(.get, "/stream") { _ in
            Response(
                .ok, .text,
                body: .stream { writer in
                    try await writer.write([UInt8(ascii: "x")])
                    await gate.pass()
                    try await writer.write([UInt8(ascii: "y")])
                })
        }
        let application = Application(router: try Router([route]), compressionThreshold: nil)
        try await withServer(application, limits: limits) { server, port in
            let request = "GET /stream HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
            let reader = Client(port: port)
            reader.send(request)
            _ = await reader.receive(until: "1\r\nx\r\n")
            await gate.arrived()
            let second = Client(port: port)
            second.send(request)
            #expect(answers(in: await second.receiveAll()).map(\.status) == [503])
            #expect(server.answerMemory.reservedBytes >= limits.maxWriteBufferBytes)
            await gate.open()
            #expect(String(decoding: await reader.receiveAll(), as: UTF8.self) == "1\r\ny\r\n0\r\n\r\n")
        }
    }

    @Test("a backlog of answers that there is no memory for ends its connection")
    func backlog() async throws {
        var limits = Limits()
        limits.maxAnswerMemoryBytesPerAddress = 0
        // Not for being slow: the reader below does not read before its connection has ended.
        limits.writeRateWindow = .seconds(3_600)
        try await withServer(try application(), limits: limits) { server, port in
            let client = Client(port: port, receiveBuffer: 4_096)
            let request = "GET /small HTTP/1.1\r\nHost: a\r\n\r\n"
            client.send(request)
            _ = await client.receive(until: "\r\n\r\n")
            #expect(server.connectionCount == 1)
            _ = fcntl(client.descriptor, F_SETFL, O_NONBLOCK)
            let wire = [UInt8](String(repeating: request, count: 10_000).utf8)
            var sent = 0
            while sent < wire.count {
                let count = send(client.descriptor, Array(wire[sent...]), wire.count - sent, Int32(MSG_NOSIGNAL))
                guard count > 0 else { break }
                sent += count
            }
            _ = fcntl(client.descriptor, F_SETFL, 0)
            client.endSending()
            while server.connectionCount > 0 { await Task.yield() }
            let received = await client.receiveAll().count
            #expect(received < sent / request.utf8.count * 4_000, "\(sent) bytes sent, \(received) received")
            #expect(server.answerMemory.reservedBytes == 0)
        }
    }

    @Test("a pipeline whose answers nobody reads is not read further")
    func pipeline() async throws {
        try await withServer(try application()) { server, port in
            let client = Client(port: port, receiveBuffer: 4_096)
            // Non-blocking: the kernel's buffers fill once the server stops reading.
            _ = fcntl(client.descriptor, F_SETFL, O_NONBLOCK)
            let wire = [UInt8](String(repeating: "GET /small HTTP/1.1\r\nHost: a\r\n\r\n", count: 10_000).utf8)
            for _ in 0..<200 where send(client.descriptor, wire, wire.count, Int32(MSG_NOSIGNAL)) < 0 {
                #expect(errno == EAGAIN)
                break
            }
            let other = Client(port: port, from: 2)
            other.send("GET /small HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(answers(in: await other.receiveAll()).first?.body.count == 4_000)
            #expect(server.answerMemory.reservedBytes < 64 << 10)
            withExtendedLifetime(client) {}
        }
    }
}
