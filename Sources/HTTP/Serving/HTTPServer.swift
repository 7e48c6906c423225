import CLinux
import Glibc
import Reactor
import Synchronization

/// An HTTP/1.1 server on event loops. Each loop has a listening socket; the kernel distributes connections among them.
///
/// The caller starts the loops, and stops them after `drain`.
public final class HTTPServer: Sendable {
    private let applications: [Application]
    /// The limits of one loop, which has an equal share of the memory for requests.
    private let loopLimits: Limits
    private let loops: [EventLoop]
    private let observer: (any RequestObserver)?
    private let samplesTraces: Bool
    private let limiter: ConnectionLimiter
    private let largeRequestMemory: MemoryBudget
    /// The memory budget of responses. Handlers reserve from it before they build a large response.
    public let answerMemory: MemoryBudget
    private let slots: [WorkerSlot]

    /// - Parameters:
    ///   - applications: one for each loop, so that objects used by its routes stay on that loop.
    ///   - answerMemory: a budget shared with handlers; nil creates one from the limits.
    ///   - samplesTraces: whether the traces of requests without `traceparent` are sampled.
    public init(
        _ applications: [Application], on loops: [EventLoop], limits: Limits = Limits(),
        answerMemory: MemoryBudget? = nil, observer: (any RequestObserver)? = nil, samplesTraces: Bool = false
    ) {
        precondition(applications.count == loops.count)
        self.applications = applications
        var limitsPerLoop = limits
        limitsPerLoop.maxRequestMemoryBytes /= max(1, loops.count)
        loopLimits = limitsPerLoop
        self.loops = loops
        self.observer = observer
        self.samplesTraces = samplesTraces
        limiter = ConnectionLimiter(limits: limits)
        largeRequestMemory = MemoryBudget(
            limit: limits.maxRequestMemoryBytes, limitPerAddress: limits.maxRequestMemoryBytesPerAddress,
            maxSmallBytes: limits.maxSmallMessageBytes)
        self.answerMemory = answerMemory ?? limits.makeAnswerBudget()
        slots = loops.map { _ in WorkerSlot() }
    }

    /// Uses one application on all loops.
    public convenience init(
        _ application: Application, on loops: [EventLoop], limits: Limits = Limits(),
        observer: (any RequestObserver)? = nil
    ) {
        self.init(loops.map { _ in application }, on: loops, limits: limits, observer: observer)
    }

    /// The number of open connections on all loops.
    public var connectionCount: Int { limiter.total }

    /// Listens on a numeric address; with port 0 the kernel chooses one.
    /// - Returns: the port.
    /// - Throws: if the address is not available; nothing listens then.
    public func listen(on address: String, port: UInt16, backlog: Int32 = 1024) async throws(SystemError) -> UInt16 {
        let (descriptors, port) = try Self.openListeners(loops.count, address, port, backlog)
        try await startAccepting(on: descriptors)
        return port
    }

    /// Starts accepting.
    /// - Parameter descriptors: one listening socket for each loop. The server owns them, and closes them on error.
    func startAccepting(on descriptors: [Int32]) async throws(SystemError) {
        var rest = descriptors[...]
        do throws(SystemError) {
            for ((loop, application), slot) in zip(zip(loops, applications), slots) {
                guard let descriptor = rest.first else { break }
                var random = SystemRandomNumberGenerator()
                let identifiers = IdentifierSource(
                    seed: random.next(), stream: random.next(), samplesTraces: samplesTraces)
                try await startWorker(descriptor, application, identifiers, slot, on: loop)
                rest.removeFirst()
            }
        } catch {
            for descriptor in rest { close(descriptor) }
            // Loops that already accept close their listeners and the connections made meanwhile.
            await drain(within: .zero)
            throw error
        }
    }

    /// Stops accepting, waits for running requests, closes idle connections after `drainGrace`, and returns when no
    /// connection is left. Connections left after `time` are aborted. May be called several times, also concurrently.
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

    private func startWorker(
        _ descriptor: Int32, _ application: Application, _ identifiers: IdentifierSource, _ slot: WorkerSlot,
        on loop: isolated EventLoop
    ) throws(SystemError) {
        let worker = HTTPWorker(
            listener: descriptor, poller: loop.poller, application: application, limits: loopLimits, limiter: limiter,
            largeRequestMemory: largeRequestMemory, answerMemory: answerMemory, observer: observer,
            identifiers: identifiers)
        try worker.listen()
        slot.setWorker(worker, on: loop)
    }

    /// Creates `count` listening sockets on one port that no other process uses.
    private static func openListeners(
        _ count: Int, _ address: String, _ port: UInt16, _ backlog: Int32
    ) throws(SystemError) -> (descriptors: [Int32], port: UInt16) {
        var descriptors: [Int32] = []
        var port = port
        let probeStatus = port == 0 ? 0 : unsafe CLinuxProbePort(address, port)
        guard probeStatus == 0 else { throw SystemError(call: "listen on \(address):\(port)", number: -probeStatus) }
        while descriptors.count < count {
            let descriptor = unsafe CLinuxListen(address, port, backlog)
            guard descriptor >= 0 else {
                for descriptor in descriptors { close(descriptor) }
                throw SystemError(call: "listen on \(address):\(port)", number: -descriptor)
            }
            descriptors.append(descriptor)
            // Accepted sockets inherit TCP_NODELAY from the listener.
            _ = CLinuxSetNoDelay(descriptor)
            if port == 0 { port = UInt16(truncatingIfNeeded: CLinuxLocalPort(descriptor)) }
        }
        return (descriptors, port)
    }
}

/// Holds a loop's worker. It is Sendable because only code on that loop reads or writes the worker.
private final class WorkerSlot: @unchecked Sendable {
    private var worker: HTTPWorker?

    func setWorker(_ worker: HTTPWorker, on loop: isolated EventLoop) { self.worker = worker }
    func worker(on loop: isolated EventLoop) -> HTTPWorker? { worker }
}
