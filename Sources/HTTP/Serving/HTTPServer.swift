import CLinux
import Glibc
import Reactor
import Synchronization

/// An HTTP/1.1 server over event loops: one listening socket a loop, the kernel spreads connections over them.
///
/// The loops are the caller's: it starts them, and stops them after `drain`.
public final class HTTPServer: Sendable {
    private let applications: [Application]
    /// What one loop is held to.
    private let limits: Limits
    private let loops: [EventLoop]
    private let observer: (any RequestObserver)?
    private let limiter: ConnectionLimiter
    private let largeRequests: MemoryBudget
    /// What answers hold; handlers that build large ones reserve from it first.
    public let answerMemory: MemoryBudget
    private let slots: [WorkerSlot]

    /// - Parameters:
    ///   - applications: one for each loop, so that what a loop's routes work with never leaves it.
    ///   - answerMemory: shared with handlers; made from the limits if there is none.
    public init(
        _ applications: [Application], on loops: [EventLoop], limits: Limits = Limits(),
        answerMemory: MemoryBudget? = nil, observer: (any RequestObserver)? = nil
    ) {
        precondition(applications.count == loops.count)
        self.applications = applications
        var share = limits
        share.requestMemory /= max(1, loops.count)
        self.limits = share
        self.loops = loops
        self.observer = observer
        limiter = ConnectionLimiter(limits: limits)
        largeRequests = MemoryBudget(
            limit: limits.requestMemory, limitPerAddress: limits.requestMemoryPerAddress, small: limits.smallMessage)
        self.answerMemory = answerMemory ?? limits.answerBudget
        slots = loops.map { _ in WorkerSlot() }
    }

    /// One application for all loops.
    public convenience init(
        _ application: Application, on loops: [EventLoop], limits: Limits = Limits(),
        observer: (any RequestObserver)? = nil
    ) {
        self.init(loops.map { _ in application }, on: loops, limits: limits, observer: observer)
    }

    /// Connections open now, on all loops.
    public var connectionCount: Int { limiter.total }

    /// Listens on a numeric address; port 0 lets the kernel choose.
    /// - Returns: the port.
    /// - Throws: when the address cannot be had; nothing listens then.
    public func listen(on address: String, port: UInt16, backlog: Int32 = 1024) async throws(SystemError) -> UInt16 {
        let (descriptors, port) = try Self.bind(loops.count, address, port, backlog)
        try await accept(on: descriptors)
        return port
    }

    /// Starts accepting.
    /// - Parameter descriptors: one for each loop, listening; owned, and closed when this throws.
    func accept(on descriptors: [Int32]) async throws(SystemError) {
        var rest = descriptors[...]
        do throws(SystemError) {
            for ((loop, application), slot) in zip(zip(loops, applications), slots) {
                guard let descriptor = rest.first else { break }
                var random = SystemRandomNumberGenerator()
                let identifiers = IdentifierSource(seed: random.next(), stream: random.next())
                try await open(descriptor, application, identifiers, slot, on: loop)
                rest.removeFirst()
            }
        } catch {
            for descriptor in rest { close(descriptor) }
            // The loops that accept already: they close their listeners, and what has connected meanwhile.
            await drain(within: .zero)
            throw error
        }
    }

    /// Stops accepting, lets running requests finish, closes idle connections after a short grace, and returns when
    /// none is left; what is not done in `time` is cut off. May be called several times, also at once.
    public func drain(within time: Duration) async {
        await withTaskGroup { group in
            for (loop, slot) in zip(loops, slots) {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        loop.post { loop in
                            guard let worker = slot.worker(on: loop) else { return continuation.resume() }
                            worker.drain(until: loop.poller.now + time) { continuation.resume() }
                        }
                    }
                }
            }
        }
    }

    private func open(
        _ descriptor: Int32, _ application: Application, _ identifiers: IdentifierSource, _ slot: WorkerSlot,
        on loop: isolated EventLoop
    ) throws(SystemError) {
        let worker = HTTPWorker(
            listener: descriptor, poller: loop.poller, application: application, limits: limits, limiter: limiter,
            largeRequests: largeRequests, answerMemory: answerMemory, observer: observer, identifiers: identifiers)
        try worker.listen()
        slot.take(worker, on: loop)
    }

    /// One listening descriptor a loop, all on the same port, which nobody else may share.
    private static func bind(
        _ count: Int, _ address: String, _ port: UInt16, _ backlog: Int32
    ) throws(SystemError) -> ([Int32], UInt16) {
        var descriptors: [Int32] = []
        var port = port
        let obstacle = port == 0 ? 0 : unsafe CLinuxProbePort(address, port)
        guard obstacle == 0 else { throw SystemError(call: "listen on \(address):\(port)", number: -obstacle) }
        while descriptors.count < count {
            let descriptor = unsafe CLinuxListen(address, port, backlog)
            guard descriptor >= 0 else {
                for descriptor in descriptors { close(descriptor) }
                throw SystemError(call: "listen on \(address):\(port)", number: -descriptor)
            }
            descriptors.append(descriptor)
            // Accepted sockets inherit TCP_NODELAY from the listener.
            _ = CLinuxNoDelay(descriptor)
            if port == 0 { port = UInt16(truncatingIfNeeded: CLinuxLocalPort(descriptor)) }
        }
        return (descriptors, port)
    }
}

/// Keeps a loop's worker between calls from outside; opened on that loop only, which is why it may call itself Sendable.
private final class WorkerSlot: @unchecked Sendable {
    private var worker: HTTPWorker?

    func take(_ worker: HTTPWorker, on loop: isolated EventLoop) { self.worker = worker }
    func worker(on loop: isolated EventLoop) -> HTTPWorker? { worker }
}
