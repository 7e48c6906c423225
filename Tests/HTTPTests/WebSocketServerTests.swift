import Reactor
import Synchronization
import Testing
import WebSocketProtocol

@testable import HTTP

@Suite("A WebSocket over a socket")
struct WebSocketServerTests {
    /// Sends messages back; `drop` ends the connection, `bye` closes it.
    private final class Echo: WebSocketHandler {
        private weak var socket: WebSocket?
        private let ends: Locked<[WebSocketEnd]>

        init(_ socket: WebSocket, _ ends: Locked<[WebSocketEnd]>) { (self.socket, self.ends) = (socket, ends) }

        func messageReceived(_ message: WebSocketMessage) {
            switch message.bytes {
            case Array("drop".utf8): socket?.abort()
            case Array("bye".utf8): socket?.close(4_001)
            case Array("flood".utf8): while socket?.send(text: .init(repeating: 97, count: 60_000)) == true {}
            default: socket?.send(text: message.bytes)
            }
        }
        func outputDrained() {}
        func socketEnded(_ end: WebSocketEnd) { ends.withLock { $0.append(end) } }
    }

    private static func withEcho(
        _ limits: WebSocketLimits = WebSocketLimits(),
        _ body: (HTTPServer, UInt16, Locked<[WebSocketEnd]>) async throws -> Void
    ) async throws {
        let ends = Locked<[WebSocketEnd]>([])
        let memory = Limits().makeAnswerBudget()
        let route = Route.immediate(.get, "/ws") { request in
            do throws(WebSocketHandshake.Refusal) {
                let handshake = try WebSocketHandshake(request)
                return .upgrade(to: "websocket", fields: handshake.fields) { upgraded in
                    let host = WebSocketHost(limits: limits, memory: memory)
                    let readAhead = upgraded.readAhead
                    let socket = WebSocket(upgraded, network: nil, on: host)
                    socket.begin(Echo(socket, ends), readAhead: readAhead)
                }
            } catch {
                return Response(error.status, .text, fields: error.fields, bytes: Array(error.reason.utf8))
            }
        }
        try await withServer(Application(router: try Router([route]))) { server, port in
            try await body(server, port, ends)
            // Whatever became of the sockets, they count as connections no more, and hold no memory.
            while server.connectionCount > 0 { await Task.yield() }
            #expect(memory.reservedBytes == 0)
        }
    }

    /// How the sockets ended, once one has: a client may see the end of its connection before the handler is told.
    private static func firstEnds(of ends: Locked<[WebSocketEnd]>) async -> [WebSocketEnd] {
        while ends.withLock({ $0.isEmpty }) { await Task.yield() }
        return ends.withLock { $0 }
    }

    private static func request(_ fields: String = "", key: String = "dGhlIHNhbXBsZSBub25jZQ==", version: String = "13")
        -> String
    {
        "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n"
            + "Sec-WebSocket-Key: \(key)\r\nSec-WebSocket-Version: \(version)\r\n\(fields)\r\n"
    }

    private static let head = "HTTP/1.1 101 Switching Protocols\r\n"

    /// The frames after the response's head.
    private static func frames(_ wire: [UInt8]) throws -> [UInt8] {
        let end = try #require(wire.firstRange(of: Array("\r\n\r\n".utf8)))
        #expect(String(decoding: wire, as: UTF8.self).hasPrefix(head))
        return Array(wire[end.upperBound...])
    }

    @Test("a WebSocket opens, echoes what came with the request, and closes in order")
    func echo() async throws {
        try await Self.withEcho { _, port, ends in
            let client = Client(port: port)
            client.send(Array(Self.request().utf8) + ClientFrame.text("early"))
            let opening = await client.receive(until: "early")
            #expect(opening.firstRange(of: Array("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=".utf8)) != nil)
            let frames = try Self.frames(opening)
            #expect(frames == [0x81, 5] + Array("early".utf8))
            client.send(ClientFrame.bytes(0x01, Array("la".utf8)) + ClientFrame.bytes(0x80, Array("te".utf8)))
            _ = await client.receive(until: "late")
            client.send(ClientFrame.close(1_000))
            #expect(await client.receiveAll() == [0x88, 2, 0x03, 0xE8])
            #expect(await Self.firstEnds(of: ends) == [.peerClosed(1_000)])
        }
    }

    @Test("a WebSocket closes with the server's code and waits for the client's close")
    func closes() async throws {
        try await Self.withEcho { _, port, ends in
            let client = Client(port: port)
            client.send(Array(Self.request().utf8) + ClientFrame.text("bye") + ClientFrame.close(4_001))
            let frames = try Self.frames(await client.receiveAll())
            #expect(frames == [0x88, 2, 0x0F, 0xA1])
            #expect(await Self.firstEnds(of: ends) == [.closed(4_001)])
        }
    }

    @Test("a WebSocket tells a client that breaks the protocol why before it ends")
    func violation() async throws {
        try await Self.withEcho { _, port, ends in
            let client = Client(port: port)
            client.send(Array(Self.request().utf8) + [0x81, 0x04] + Array("ping".utf8))
            let frames = try Self.frames(await client.receiveAll())
            #expect(frames == [0x88, 2, 0x03, 0xEA])
            client.endSending()
            #expect(await Self.firstEnds(of: ends) == [.failed(.protocolViolation)])
        }
    }

    @Test("a WebSocket ends a client that sends and never reads")
    func neverReads() async throws {
        var limits = WebSocketLimits()
        limits.frameBurst = 1_000_000
        limits.writeTimeout = .milliseconds(200)
        try await Self.withEcho(limits) { _, port, ends in
            let client = Client(port: port, receiveBuffer: 4_096)
            client.send(Self.request())
            // Again and again, because the kernel's buffers grow.
            while ends.withLock({ $0.isEmpty }) {
                client.send(ClientFrame.text("flood"))
                await Task.yield()
            }
            #expect(await Self.firstEnds(of: ends) == [.tooSlow])
            withExtendedLifetime(client) {}
        }
    }

    @Test("a WebSocket notices a client that has gone")
    func gone() async throws {
        try await Self.withEcho { server, port, ends in
            do {
                let client = Client(port: port)
                client.send(Self.request())
                _ = await client.receive(until: "\r\n\r\n")
                #expect(server.connectionCount == 1)
                client.reset()
            }
            #expect(await Self.firstEnds(of: ends) == [.disconnected])
        }
    }

    @Test("a WebSocket whose client does not answer a ping ends")
    func silent() async throws {
        var limits = WebSocketLimits()
        limits.pingAfter = .milliseconds(50)
        limits.pongTimeout = .milliseconds(50)
        try await Self.withEcho(limits) { _, port, ends in
            let client = Client(port: port)
            client.send(Self.request())
            let frames = try Self.frames(await client.receiveAll())
            #expect(frames == [0x89, 0])
            #expect(await Self.firstEnds(of: ends) == [.pingTimeout])
        }
    }

    @Test(
        "a request that is no WebSocket request of version 13 is refused",
        arguments: [
            ("GET /ws HTTP/1.1\r\nHost: a\r\n\r\n", 426),
            (request(version: "8"), 426), (request("Sec-WebSocket-Version: 13\r\n"), 426),
            (request(key: "short"), 400), (request(key: "dGhlIHNhbXBsZSBub25jZQ=A"), 400),
            (request("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"), 400),
            (request().replacing("Upgrade: WebSocket", with: "Upgrade: h2c"), 426),
            (request().replacing("keep-alive, Upgrade", with: "keep-alive"), 426),
            (request().replacing("HTTP/1.1", with: "HTTP/1.0"), 426),
            (request().replacing("GET", with: "HEAD"), 426),
        ])
    func refusals(request: String, status: Int) async throws {
        try await Self.withEcho { _, port, _ in
            let client = Client(port: port)
            client.send(request)
            client.endSending()
            let reply = String(decoding: await client.receiveAll(), as: UTF8.self)
            #expect(reply.hasPrefix("HTTP/1.1 \(status) "))
            if status == 426 { #expect(reply.lowercased().contains("upgrade: websocket\r\n")) }
        }
    }
}
