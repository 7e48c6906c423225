import Glibc
import Reactor

/// One client socket: moves bytes between the kernel and `HTTPConnectionState`. Stays on one loop.
final class HTTPConnection: ReadinessHandler {
    /// The peer, which may be a proxy.
    let peer: RemoteAddress
    let worker: HTTPWorker
    /// Whether the connection is within the limits; one over a limit is kept only to send its 503.
    let isAdmitted: Bool
    var state: HTTPConnectionState
    /// The head of the request whose content is being read, and how it is handled.
    var pendingRequest: (head: RequestHead, decision: Application.RouteDecision)?
    /// The running handler or stream; cancelled when the connection ends.
    var task: Task<Void, Never>?
    /// The request that `task` works on.
    var currentRequest: RequestInProgress?
    var writeBuffer = WriteBuffer()
    /// The closure that takes the socket over when all bytes are sent; nil without an upgrade.
    var upgrade: (@Sendable (consuming UpgradedSocket) -> Void)?
    /// Whether a streamed response is in progress.
    var isStreaming = false
    var memory: ConnectionMemory

    private let descriptor: Int32
    private var interest = Interest.readable
    /// Bytes received after the request in progress.
    private var readAhead: [UInt8] = []
    /// Whether bytes after the request in progress were discarded for lack of memory.
    private var hasDroppedInput = false
    private var timer: (id: TimerID, deadline: MonotonicTime)?
    /// The streams that wait until the write buffer is no longer full.
    private var writeWaiters: [CheckedContinuation<Void, Never>] = []
    /// Whether the connection has ended: its socket is closed or handed over.
    private var isDetached = false
    /// Whether the socket has a new owner, whose `ConnectionSlot` counts it as a connection.
    private(set) var isHandedOver = false
    /// The fault that is recorded for a request in progress when the connection closes.
    private(set) var closeCause = RequestFault.disconnected

    /// Responses to pipelined requests are collected up to this many bytes, or to a large body, before they are sent.
    private static let sendThresholdBytes = 32 << 10

    init(descriptor: Int32, peer: RemoteAddress, worker: HTTPWorker, isAdmitted: Bool) {
        self.descriptor = descriptor
        self.peer = peer
        self.worker = worker
        self.isAdmitted = isAdmitted
        state = HTTPConnectionState(limits: worker.limits, now: worker.poller.now)
        memory = ConnectionMemory(worker)
    }

    func begin() throws(SystemError) {
        try worker.poller.watch(descriptor, for: interest, self)
        if !isAdmitted {
            state.refuseConnection()
            refuse(.tooManyConnections)
        }
        applyState()
    }

    var isClosed: Bool { state.isClosed }

    // MARK: Readiness

    func handleReadiness(_ events: Readiness) {
        if events.contains(.writable) { applyState() }
        guard !isClosed, !events.isDisjoint(with: [.readable, .peerClosed, .hangUp, .error]) else { return }
        if wantsInput {
            receive()
        } else if !events.isDisjoint(with: [.hangUp, .error]) {
            closeState(.disconnected)
        } else {
            // Back-pressure: input stays in the kernel until the response in progress is written.
            interest.subtract(.readable)
            worker.poller.changeInterest(of: descriptor, to: interest)
        }
        applyState()
    }

    /// Whether to read from the socket. `readAhead` is used up first.
    private var wantsInput: Bool { state.wantsInput && !hasReadAhead }

    private var hasReadAhead: Bool { !readAhead.isEmpty || hasDroppedInput }

    private func receive() {
        let count = worker.receiveBuffer.receive(from: descriptor)
        if count > 0 {
            worker.receiveBuffer.withBytes(count) { process($0) }
        } else if count == 0 {
            handle(state.inputEnded(now: worker.poller.now))
        } else if !Socket.isTransient(count) {
            closeState(.disconnected)
        }
    }

    /// Parses and handles the requests in `input`; keeps what cannot be handled yet in `readAhead`.
    private func process(_ input: Span<UInt8>) {
        let allowance = memory.reserveAllowance(for: state.heldBytes + input.count, of: clientNetwork)
        var position = 0
        while !isClosed {
            let event = state.take(input, at: &position, now: worker.poller.now, memoryLimit: allowance)
            if case .needsInput = event { break }
            handle(event, hasMore: position < input.count)
            if writeBuffer.count >= Self.sendThresholdBytes || writeBuffer.endsInLargeBody {
                flush()
                if writeBuffer.count > 0 { break }
            }
        }
        guard position < input.count, !state.isEnding else { return }
        if state.heldBytes + input.count - position <= allowance {
            readAhead.append(input.extracting(position..<input.count))
        } else {
            hasDroppedInput = true
        }
    }

    private func handle(_ event: consuming HTTPConnectionState.Event, hasMore: Bool = false) {
        switch consume event {
        case .needsInput: break
        case .head(let head): handleHead(head, hasMore: hasMore)
        case .request(let body): dispatch(body)
        case .fault(let fault): refuse(fault)
        case .close: closeState(.disconnected)
        }
    }

    // MARK: Output

    func flush() {
        var left = writeBuffer.count
        guard left > 0 else { return }
        while left > 0, !isClosed {
            let result = worker.socketCalls.send(&writeBuffer, descriptor)
            if result == -Int(EINTR) { continue }
            guard result >= 0 else {
                if !Socket.isTransient(result) { closeState(.disconnected) }
                break
            }
            left -= result
            state.bytesWritten(result, now: worker.poller.now)
        }
        if left == 0 { worker.return(&writeBuffer) }
        if left <= worker.limits.maxWriteBufferBytes { wakeWriters() }
    }

    var isWriteBufferFull: Bool { writeBuffer.count > worker.limits.maxWriteBufferBytes }

    /// Queues a piece of streamed content; false if the connection is closed.
    func write(piece: [UInt8], isChunked: Bool) -> Bool {
        guard !isClosed else { return false }
        let countBefore = writeBuffer.count
        writeBuffer.append { output in
            if isChunked { output.append(String(piece.count, radix: 16) + "\r\n") }
            output.append(contentsOf: piece)
            if isChunked { output.append("\r\n") }
        }
        let count = writeBuffer.count - countBefore
        currentRequest?.bytesOut += count
        state.bytesQueued(count, now: worker.poller.now)
        flush()
        applyState()
        return !isClosed
    }

    func waitUntilWritable() async {
        await withCheckedContinuation { writeWaiters.append($0) }
    }

    private func wakeWriters() {
        guard !writeWaiters.isEmpty else { return }
        let waiters = writeWaiters
        writeWaiters = []
        for waiter in waiters { waiter.resume() }
    }

    // MARK: Bookkeeping

    /// Sends queued bytes, handles input read ahead, and updates memory, socket interest and timer. If the connection
    /// has ended or is upgraded, closes the socket or hands it over. MUST be called after every change of the state.
    func applyState() {
        flush()
        // Each round ends with a send, which may allow the next request: continue until no request can be handled.
        while hasReadAhead, writeBuffer.count == 0, state.mayTakeRequest {
            if hasDroppedInput {
                dropReadAhead()
                handle(state.inputDropped(now: worker.poller.now))
            } else {
                let bytes = readAhead
                readAhead = []
                process(bytes.span)
            }
            flush()
        }
        if state.isEnding { dropReadAhead() }
        if state.isFinished {
            Socket.shutdownSending(descriptor)
            state.beginLingering(now: worker.poller.now)
        }
        // Input after an upgrade belongs to the new protocol: if a part was discarded, the socket cannot be handed
        // over.
        if upgrade != nil, hasDroppedInput { closeState(.memoryTaken) }
        if let takeOver = upgrade, writeBuffer.count == 0, !isClosed { return handOver(takeOver) }
        guard !isClosed else { return closeSocket() }
        memory.setHeldRequestBytes(state.heldBytes + readAhead.count)
        guard updateAnswerReservation() else {
            closeState(.memoryTaken)
            return closeSocket()
        }
        var wanted = interest
        if wantsInput { wanted.insert(.readable) }
        if writeBuffer.count > 0 { wanted.insert(.writable) } else { wanted.subtract(.writable) }
        if wanted != interest {
            interest = wanted
            worker.poller.changeInterest(of: descriptor, to: wanted)
        }
        setTimer()
    }

    private func dropReadAhead() {
        readAhead = []
        hasDroppedInput = false
    }

    /// Schedules a check of the deadline. If the deadline has moved later, the present timer is kept: it fires early
    /// and schedules the next one.
    private func setTimer() {
        guard let deadline = state.deadline else { return }
        if let timer {
            guard deadline < timer.deadline else { return }
            worker.poller.cancel(timer.id)
        }
        let id = worker.poller.schedule(at: deadline) { [self] in
            timer = nil
            guard !isClosed else { return }
            let event = state.expire(now: worker.poller.now)
            if isClosed, state.unwrittenBytes > 0 { closeCause = .writeTimeout }
            handle(event)
            applyState()
        }
        timer = (id, deadline)
    }

    func drain() {
        state.drain(now: worker.poller.now)
        applyState()
    }

    /// Closes the connection now, with the request in progress.
    func abort(_ cause: RequestFault) {
        closeState(cause)
        applyState()
    }

    /// Closes the state; `applyState` then closes the socket. Only the first cause is kept.
    func closeState(_ cause: RequestFault) {
        if !isClosed { closeCause = cause }
        state.close()
    }

    private func handOver(_ takeOver: @Sendable (consuming UpgradedSocket) -> Void) {
        upgrade = nil
        let socket = UpgradedSocket(
            descriptor: descriptor, readAhead: readAhead, poller: worker.poller,
            slot: worker.makeSlot(of: self))
        state.close()
        isHandedOver = true
        detach()
        takeOver(socket)
    }

    private func closeSocket() {
        guard !isDetached else { return }
        detach()
        close(descriptor)
    }

    /// Records an unanswered request, cancels the task and the timer, releases memory, and unwatches the socket.
    private func detach() {
        isDetached = true
        observeUnanswered()
        task?.cancel()
        task = nil
        if let timer { worker.poller.cancel(timer.id) }
        timer = nil
        dropReadAhead()
        memory.setHeldRequestBytes(0)
        _ = memory.setAnswerReservation(0, for: nil)
        writeBuffer = WriteBuffer()
        wakeWriters()
        worker.poller.unwatch(descriptor)
        worker.remove(self, descriptor)
    }
}
