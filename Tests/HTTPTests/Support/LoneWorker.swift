import CLinux
import Glibc
import Reactor
import SocketPairs

@testable import HTTP

/// One loop's share of a server whose calls to the kernel are decided by a test.
struct LoneWorker {
    private let loop: EventLoop
    private let application: Application
    private let observer: (any RequestObserver)?
    private let calls: @Sendable () -> SocketCalls

    init(
        _ application: Application, observer: (any RequestObserver)? = nil,
        _ calls: @escaping @Sendable () -> SocketCalls = { SocketCalls() }
    ) throws {
        self.application = application
        self.observer = observer
        self.calls = calls
        loop = try EventLoop(name: "lone")
        try loop.start()
    }

    func end() { loop.stop() }

    /// Serves one connection, over a pair of sockets.
    /// - Returns: the peer.
    func connect() async -> Client {
        let (own, peer) = socketPair()
        _ = fcntl(own, F_SETFL, O_NONBLOCK)
        await open(own, on: loop)
        return Client(descriptor: peer)
    }

    /// Listens.
    /// - Returns: the port.
    func listen() async throws -> UInt16 {
        let listener = CLinuxListen("127.0.0.1", 0, 16)
        try await listen(listener, on: loop)
        return UInt16(truncatingIfNeeded: CLinuxLocalPort(listener))
    }

    /// Returns after the loop has run what it was asked for before.
    func turn() async throws { try await loop.runTask { _ in } }

    private func open(_ descriptor: Int32, on loop: isolated EventLoop) {
        worker(-1, loop).open(descriptor, .loopback)
    }

    private func listen(_ listener: Int32, on loop: isolated EventLoop) throws {
        try worker(listener, loop).listen()
    }

    private func worker(_ listener: Int32, _ loop: isolated EventLoop) -> HTTPWorker {
        HTTPWorker(application, listener: listener, on: loop.poller, observer: observer, calls: calls())
    }
}

extension HTTPWorker {
    /// A worker without a server: its bounds and identifiers are its own.
    convenience init(
        _ application: Application, listener: Int32 = -1, on poller: Poller, limits: Limits = Limits(),
        observer: (any RequestObserver)? = nil, calls: SocketCalls = SocketCalls()
    ) {
        self.init(
            listener: listener, poller: poller, application: application, limits: limits,
            limiter: ConnectionLimiter(limits: limits),
            largeRequestMemory: MemoryBudget(limit: .max, limitPerAddress: .max, maxSmallBytes: 0),
            answerMemory: limits.makeAnswerBudget(), observer: observer,
            identifiers: IdentifierSource(seed: .random(in: 0...(.max)), stream: .random(in: 0...(.max))), calls: calls)
    }
}
