import CLinux
import Glibc
import Reactor
import SocketPairs
import Testing

@testable import HTTP

@Suite("The server's start and end", .timeLimit(.minutes(10)))
struct LifecycleTests {
    private func withLoops(_ count: Int, _ body: ([EventLoop]) async throws -> Void) async throws {
        let loops = try (0..<count).map { try EventLoop(name: "test-\($0)") }
        for loop in loops { try loop.start() }
        defer { for loop in loops { loop.stop() } }
        try await body(loops)
    }

    @Test("when one of the loops cannot listen, everything opened is closed, and the port is free")
    func partialFailure() async throws {
        try await withLoops(3) { loops in
            let server = HTTPServer(try sampleApplication(), on: loops)
            let listener = CLinuxListen("127.0.0.1", 0, 16)
            let port = UInt16(truncatingIfNeeded: CLinuxLocalPort(listener))
            let (peer, socket) = socketPair()
            defer { close(peer) }
            // A regular file has no readiness: epoll refuses it.
            let file = open("/proc/self/exe", O_RDONLY)
            await #expect(throws: SystemError(call: "epoll_ctl", number: EPERM)) {
                try await server.startAccepting(on: [listener, file, socket])
            }
            // A program between its fork and its exec has a copy for a moment longer.
            var end = pollfd(fd: peer, events: 0, revents: 0)
            #expect(poll(&end, 1, 60_000) == 1 && end.revents == Int16(POLLHUP), "the last one is closed")
            #expect(CLinuxProbePort("127.0.0.1", port) == 0, "nobody listens")
            #expect(server.connectionCount == 0)
            // It can be tried again.
            let again = try await server.listen(on: "127.0.0.1", port: port)
            #expect(again == port)
            let client = Client(port: port)
            client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(answers(in: await client.receiveAll()).map(\.text) == ["root"])
            await server.drain(within: .zero)
        }
    }

    @Test("several drains all return once no connection is left, and the earliest deadline counts")
    func concurrentDrains() async throws {
        let (gate, log) = (Gate(), RequestLog())
        let route = Route(.get, "/hold") { _ in
            await gate.pass()
            return .noContent
        }
        try await withLoops(2) { loops in
            let server = HTTPServer(Application(router: try Router([route])), on: loops, observer: log)
            let port = try await server.listen(on: "127.0.0.1", port: 0)
            let client = Client(port: port)
            client.send("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n")
            await gate.arrived()
            let left = await withTaskGroup { group in
                for seconds in [600, 600, 0, 600] {
                    group.addTask {
                        await server.drain(within: .seconds(seconds))
                        return server.connectionCount
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(left == [0, 0, 0, 0] && log.lines.map(\.status) == [503])
            await server.drain(within: .seconds(600))
            await gate.open()
        }
    }

    @Test("drains at once with many connections that come and go all return")
    func drainsUnderLoad() async throws {
        try await withLoops(2) { loops in
            let server = HTTPServer(try sampleApplication(), on: loops)
            let port = try await server.listen(on: "127.0.0.1", port: 0)
            let clients = (0..<50).map { _ in Client(port: port) }
            for client in clients { client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n") }
            await withTaskGroup { group in
                for _ in 0..<8 { group.addTask { await server.drain(within: .seconds(600)) } }
                for client in clients {
                    #expect(answers(in: await client.receiveAll()).map(\.text) == ["root"])
                    client.endSending()
                }
            }
            #expect(server.connectionCount == 0)
        }
    }
}
