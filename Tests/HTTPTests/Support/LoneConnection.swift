import CLinux
import Glibc
import Reactor

@testable import HTTP

/// One connection of a server over a pair of sockets, its calls decided by a test.
struct LoneConnection {
    private let loop: EventLoop

    /// - Returns: itself and the peer's end.
    static func open(
        _ application: Application, limits: Limits = Limits(), _ calls: @escaping @Sendable () -> SocketCalls
    ) async throws -> (LoneConnection, Client) {
        var both: [Int32] = [-1, -1]
        precondition(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &both) == 0)
        _ = fcntl(both[0], F_SETFL, O_NONBLOCK)
        var patience = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(both[1], SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        let loop = try EventLoop(name: "lone")
        try loop.start()
        await adopt(both[0], application, limits, calls, on: loop)
        return (LoneConnection(loop: loop), Client(descriptor: both[1]))
    }

    func end() { loop.stop() }

    private static func adopt(
        _ descriptor: Int32, _ application: Application, _ limits: Limits, _ calls: @Sendable () -> SocketCalls,
        on loop: isolated EventLoop
    ) {
        let worker = HTTPWorker(
            listener: -1, poller: loop.poller, application: application, limits: limits,
            census: ConnectionCensus(limits: limits), observer: nil, identifiers: IdentifierSource(seed: 1, stream: 2),
            calls: calls())
        worker.open(descriptor, .loopback)
    }
}
