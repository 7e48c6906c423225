import CLinux
import Glibc
import Reactor

@testable import HTTP

/// One loop's share of a server whose calls to the kernel are decided by a test.
struct LoneWorker {
    private let loop: EventLoop
    private let application: Application
    private let calls: @Sendable () -> SocketCalls

    init(_ application: Application, _ calls: @escaping @Sendable () -> SocketCalls) throws {
        self.application = application
        self.calls = calls
        loop = try EventLoop(name: "lone")
        try loop.start()
    }

    func end() { loop.stop() }

    /// Serves one connection, over a pair of sockets.
    /// - Returns: the peer.
    func connect() async -> Client {
        var both: [Int32] = [-1, -1]
        precondition(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &both) == 0)
        _ = fcntl(both[0], F_SETFL, O_NONBLOCK)
        await open(both[0], on: loop)
        return Client(descriptor: both[1])
    }

    /// Listens.
    /// - Returns: the port.
    func listen() async throws -> UInt16 {
        let listener = CLinuxListen("127.0.0.1", 0, 16)
        try await listen(listener, on: loop)
        return UInt16(truncatingIfNeeded: CLinuxLocalPort(listener))
    }

    private func open(_ descriptor: Int32, on loop: isolated EventLoop) {
        worker(-1, loop).open(descriptor, .loopback)
    }

    private func listen(_ listener: Int32, on loop: isolated EventLoop) throws {
        try worker(listener, loop).listen()
    }

    private func worker(_ listener: Int32, _ loop: isolated EventLoop) -> HTTPWorker {
        HTTPWorker(
            listener: listener, poller: loop.poller, application: application, limits: Limits(),
            limiter: ConnectionLimiter(limits: Limits()),
            largeRequests: MemoryBudget(limit: .max, limitPerAddress: .max, small: 0),
            answerMemory: Limits().answerBudget, observer: nil,
            identifiers: IdentifierSource(seed: 1, stream: 2), calls: calls())
    }
}
