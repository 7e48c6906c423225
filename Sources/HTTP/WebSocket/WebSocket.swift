import Glibc
import Reactor
import WebSocketProtocol

/// The owner of a WebSocket, which is notified of its events on its loop.
public protocol WebSocketHandler: AnyObject {
    func messageReceived(_ message: WebSocketMessage)
    /// Called when all bytes are sent, after some had to wait.
    func outputDrained()
    /// Called once, as the last call.
    func socketEnded(_ end: WebSocketEnd)
}

/// The parts that the WebSockets of one loop share.
public final class WebSocketHost {
    let limits: WebSocketLimits
    /// Counts the bytes that wait for clients, and those of unfinished messages.
    let memory: MemoryBudget
    let receiveBuffer = ReceiveBuffer(capacity: 8 << 10)

    public init(limits: WebSocketLimits = WebSocketLimits(), memory: MemoryBudget) {
        self.limits = limits
        self.memory = memory
    }
}

/// An open WebSocket: moves bytes between the kernel and `WebSocketState`. Stays on one loop.
public final class WebSocket: ReadinessHandler {
    private let host: WebSocketHost
    private let poller: Poller
    private let descriptor: Int32
    /// The client's address, for which the socket's memory counts; nil counts in total only.
    private let network: RemoteAddress.Network?
    /// The slot that counts the socket as a connection of the server.
    private var slot: ConnectionSlot?
    private var handler: (any WebSocketHandler)?
    private var state: WebSocketState
    private var writeBuffer = WriteBuffer()
    private var reservation: MemoryReservation?
    private var interest = Interest.readable
    private var timer: (id: TimerID, deadline: MonotonicTime)?
    private var isSendingShutDown = false
    private var hasEnded = false

    /// Takes over a socket that HTTP has released. `begin` starts it.
    /// - Parameter network: the client's address, for which the socket's memory counts; nil counts in total only.
    public init(_ upgraded: consuming UpgradedSocket, network: RemoteAddress.Network?, on host: WebSocketHost) {
        self.host = host
        self.network = network
        poller = upgraded.poller
        slot = upgraded.slot
        state = WebSocketState(limits: host.limits, now: poller.now)
        descriptor = upgraded.takeDescriptor()
    }

    /// Starts to read. The handler is kept until the socket has ended.
    /// - Parameter readAhead: the input that HTTP has already read.
    public func begin(_ handler: any WebSocketHandler, readAhead: [UInt8]) {
        self.handler = handler
        do throws(SystemError) {
            try poller.watch(descriptor, for: interest, self)
        } catch {
            return end(.disconnected)
        }
        process(readAhead.span)
        applyState()
    }

    deinit { if !hasEnded { Glibc.close(descriptor) } }

    public var isOpen: Bool { state.isOpen && !hasEnded }
    /// The number of bytes that wait for the client.
    public var queuedBytes: Int { writeBuffer.count }

    // MARK: Sending

    /// Sends a text message; false if it is not sent, because the socket is closing or too much is waiting.
    @discardableResult
    public func send(text: [UInt8]) -> Bool {
        guard isOpen, writeBuffer.count + text.count <= host.limits.maxQueuedBytes else { return false }
        queue(WebSocketWriter.frame(.text, text))
        applyState()
        return !hasEnded
    }

    /// Begins the closing handshake.
    public func close(_ code: WebSocketCloseCode) {
        guard !hasEnded, let frame = state.close(code, now: poller.now) else { return }
        queue(frame)
        applyState()
    }

    /// Closes the socket at once.
    public func abort() { end(state.end ?? .disconnected) }

    private func queue(_ frame: [UInt8]) { writeBuffer.append { $0 += frame } }

    // MARK: Readiness

    public func handleReadiness(_ events: Readiness) {
        if events.contains(.writable) { flush() }
        if !hasEnded, !events.isDisjoint(with: [.readable, .peerClosed, .hangUp, .error]) { receive() }
        applyState()
    }

    private func receive() {
        let count = host.receiveBuffer.receive(from: descriptor)
        if count > 0 {
            host.receiveBuffer.withBytes(count) { process($0) }
        } else if count == 0 || !Socket.isTransient(count) {
            end(state.end ?? .disconnected)
        }
    }

    private func process(_ input: Span<UInt8>) {
        var position = 0
        while !hasEnded {
            switch state.take(input, at: &position, now: poller.now) {
            case .needsInput: return
            case .message(let message): handler?.messageReceived(message)
            case .answer(let frame):
                queue(frame)
                // The client sends frames, but does not read the answers.
                if writeBuffer.count > host.limits.maxQueuedBytes { end(.tooSlow) }
            }
        }
    }

    private func flush() {
        let countBefore = writeBuffer.count
        guard countBefore > 0, !hasEnded else { return }
        while writeBuffer.count > 0 {
            let result = writeBuffer.send(to: descriptor)
            if result == -Int(EINTR) { continue }
            guard result >= 0 else {
                if !Socket.isTransient(result) { return end(state.end ?? .disconnected) }
                break
            }
        }
        state.recordSent(countBefore - writeBuffer.count, waiting: writeBuffer.count, now: poller.now)
        // An idle socket has no buffer.
        if writeBuffer.count == 0 { writeBuffer = WriteBuffer() }
    }

    /// Sends, and sets socket interest, memory and timer. MUST be called after every change of the state.
    private func applyState() {
        flush()
        guard !hasEnded else { return }
        if writeBuffer.count == 0 {
            if state.isFinished { return end(state.end ?? .disconnected) }
            if state.hasFailed, !isSendingShutDown {
                Socket.shutdownSending(descriptor)
                isSendingShutDown = true
            }
        }
        guard updateReservation() else { return end(.memoryTaken) }
        let wanted: Interest = writeBuffer.count > 0 ? [.readable, .writable] : .readable
        if wanted != interest {
            let hasDrained = interest.contains(.writable)
            interest = wanted
            poller.changeInterest(of: descriptor, to: wanted)
            if hasDrained { handler?.outputDrained() }
        }
        if !hasEnded { setTimer() }
    }

    private func updateReservation() -> Bool {
        let bytes = writeBuffer.heldBytes + state.heldBytes
        guard bytes > 0 else {
            reservation = nil
            return true
        }
        if reservation != nil { return reservation?.resize(to: bytes) ?? false }
        reservation = host.memory.reserve(bytes, for: network)
        return reservation != nil
    }

    /// Schedules a check of the deadline. If the deadline has moved later, the present timer is kept: it fires early
    /// and schedules the next one.
    private func setTimer() {
        let deadline = state.deadline
        if let timer {
            guard deadline < timer.deadline else { return }
            poller.cancel(timer.id)
        }
        let id = poller.schedule(at: deadline) { [weak self] in
            guard let self, !hasEnded else { return }
            timer = nil
            switch state.expire(now: poller.now) {
            case .nothing: break
            case .ping(let frame): queue(frame)
            case .end(let end): return self.end(end)
            }
            applyState()
        }
        timer = (id, deadline)
    }

    private func end(_ end: WebSocketEnd) {
        guard !hasEnded else { return }
        hasEnded = true
        if let timer { poller.cancel(timer.id) }
        timer = nil
        poller.unwatch(descriptor)
        Glibc.close(descriptor)
        slot = nil
        reservation = nil
        writeBuffer = WriteBuffer()
        let handler = handler
        self.handler = nil
        handler?.socketEnded(end)
    }
}
