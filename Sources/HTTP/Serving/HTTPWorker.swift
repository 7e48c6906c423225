import Glibc
import Reactor

/// One loop's part of the server: its listening socket, its connections and the buffers they share.
final class HTTPWorker: ReadinessHandler {
    let poller: Poller
    let application: Application
    let limits: Limits
    let observer: (any RequestObserver)?
    let socketCalls: SocketCalls
    let receiveBuffer = ReceiveBuffer(capacity: 64 << 10)
    var identifiers: IdentifierSource
    var requestMemory: LoopRequestMemory
    /// The memory budget of large requests, which all loops share.
    let largeRequestMemory: MemoryBudget
    let answerMemory: MemoryBudget
    lazy var deflater = Deflater()

    private let listener: Int32
    private let limiter: ConnectionLimiter
    private var connections: [Int32: HTTPConnection] = [:]
    /// The number of open connections that are over a limit and get a 503.
    private var openRefusals = 0
    private var dateLine = DateLine()
    /// The buffer that connections borrow for writing; it has no capacity while it is borrowed.
    private var spareBuffer: [UInt8] = []
    private var isListening = false
    private var drainCallbacks: [() -> Void] = []
    private var drainTimers: [TimerID] = []

    private static let acceptPause = Duration.milliseconds(100)
    private static let acceptsPerTurn = 128

    /// - Parameter limits: the limits of this loop.
    init(
        listener: Int32, poller: Poller, application: Application, limits: Limits, limiter: ConnectionLimiter,
        largeRequestMemory: MemoryBudget, answerMemory: MemoryBudget, observer: (any RequestObserver)?,
        identifiers: IdentifierSource, calls: SocketCalls = SocketCalls()
    ) {
        self.listener = listener
        self.poller = poller
        self.application = application
        self.limits = limits
        self.limiter = limiter
        self.observer = observer
        self.identifiers = identifiers
        requestMemory = LoopRequestMemory(
            limit: limits.maxRequestMemoryBytes, maxSmallBytes: limits.maxSmallMessageBytes)
        self.largeRequestMemory = largeRequestMemory
        self.answerMemory = answerMemory
        socketCalls = calls
    }

    func listen() throws(SystemError) {
        try poller.watch(listener, for: .readable, self)
        isListening = true
    }

    // MARK: Accepting

    func handleReadiness(_ events: Readiness) { _ = acceptSome() }

    /// Accepts waiting connections, at most `acceptsPerTurn`. Returns false if no more are waiting, or no descriptor is
    /// free.
    private func acceptSome() -> Bool {
        for _ in 0..<Self.acceptsPerTurn {
            let (descriptor, peer) = socketCalls.accept(listener)
            if descriptor >= 0 {
                open(descriptor, peer)
            } else if descriptor == -EAGAIN {
                return false
            } else if Socket.isExhaustion(-descriptor) {
                pauseAccepting()
                return false
            }
            // Other errors belong to a connection that failed before it was accepted: continue.
        }
        return true
    }

    /// Stops accepting for a moment: with no free descriptor, level-triggered readiness would spin.
    private func pauseAccepting() {
        observer?.connectionRefused()
        guard isListening else { return }
        poller.changeInterest(of: listener, to: [])
        poller.schedule(at: poller.now + Self.acceptPause) { [self] in
            if isListening { poller.changeInterest(of: listener, to: .readable) }
        }
    }

    func open(_ descriptor: Int32, _ peer: RemoteAddress) {
        let isAdmitted = limiter.admit(countedNetwork(of: peer))
        if !isAdmitted {
            observer?.connectionRefused()
            guard openRefusals < limits.maxRefusalsPerLoop else {
                close(descriptor)
                return
            }
            openRefusals += 1
        } else {
            observer?.connectionOpened()
        }
        let connection = HTTPConnection(
            descriptor: descriptor, peer: peer, worker: self, isAdmitted: isAdmitted)
        connections[descriptor] = connection
        do throws(SystemError) { try connection.begin() } catch { connection.abort(.disconnected) }
    }

    /// Returns the network that a peer's connections count for; nil for a trusted proxy.
    private func countedNetwork(of peer: RemoteAddress) -> RemoteAddress.Network? {
        application.proxies.contains(peer) ? nil : peer.network
    }

    func remove(_ connection: HTTPConnection, _ descriptor: Int32) {
        connections[descriptor] = nil
        if !connection.isAdmitted {
            openRefusals -= 1
        } else if !connection.isHandedOver {
            limiter.release(countedNetwork(of: connection.peer))
            observer?.connectionClosed()
        }
        guard connections.isEmpty else { return }
        assert(requestMemory.heldBytes == 0)
        finishDraining()
    }

    /// Returns a slot that keeps counting a connection after it has been handed over.
    func makeSlot(of connection: HTTPConnection) -> ConnectionSlot {
        let (limiter, observer, network) = (limiter, observer, countedNetwork(of: connection.peer))
        return ConnectionSlot {
            limiter.release(network)
            observer?.connectionClosed()
        }
    }

    // MARK: Draining

    /// Stops accepting, waits for running requests, and calls `whenEmpty` when the last connection is closed. If it is
    /// called several times, the earliest deadline applies, and each `whenEmpty` is called.
    func drain(until deadline: MonotonicTime, _ whenEmpty: @escaping () -> Void) {
        stopListening()
        drainCallbacks.append(whenEmpty)
        for connection in connections.values { connection.drain() }
        guard !connections.isEmpty else { return finishDraining() }
        let timer = poller.schedule(at: deadline) { [self] in
            for connection in connections.values { connection.abort(.drainDeadline) }
        }
        drainTimers.append(timer)
    }

    /// Accepts the queued connections first, because closing a listener resets them.
    private func stopListening() {
        guard isListening else { return }
        while acceptSome() {}
        isListening = false
        poller.unwatch(listener)
        close(listener)
    }

    private func finishDraining() {
        for timer in drainTimers { poller.cancel(timer) }
        drainTimers = []
        let callbacks = drainCallbacks
        drainCallbacks = []
        for whenEmpty in callbacks { whenEmpty() }
    }

    // MARK: Shared buffers and date

    func currentDateLine() -> DateLine {
        dateLine.refresh(Socket.wallClockMilliseconds() / 1_000)
        return dateLine
    }

    /// Moves the loop's spare buffer, if it is there, into a write buffer without one, so that idle connections need no
    /// buffer.
    func borrow(_ writeBuffer: inout WriteBuffer) {
        if writeBuffer.bufferCapacity == 0 { writeBuffer.swapBuffer(with: &spareBuffer) }
    }

    /// Returns an empty buffer to the loop, or frees it if the loop has one or a large response made it grow.
    func `return`(_ writeBuffer: inout WriteBuffer) {
        guard writeBuffer.bufferCapacity > 0 else { return }
        if spareBuffer.capacity == 0, writeBuffer.bufferCapacity <= 64 << 10 {
            writeBuffer.swapBuffer(with: &spareBuffer)
        } else {
            writeBuffer = WriteBuffer()
        }
    }
}
