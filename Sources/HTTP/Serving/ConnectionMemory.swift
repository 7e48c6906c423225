/// One connection's share of the memory for requests and responses.
struct ConnectionMemory: ~Copyable {
    private let worker: HTTPWorker
    /// The bytes of requests that the connection holds, as `LoopRequestMemory` counts them.
    private var heldRequestBytes = 0
    /// The reservation of a large request, which also counts against its client; nil for a small request.
    private var largeReservation: MemoryReservation?
    /// The reservation for responses in progress; nil while none waits for the socket.
    private var answerReservation: MemoryReservation?

    init(_ worker: HTTPWorker) { self.worker = worker }

    /// Reserves memory for the request in progress if it is large, and returns the maximum number of bytes that it may
    /// hold.
    /// - Parameters:
    ///   - wanted: the number of bytes that it would hold with all input received so far.
    ///   - client: the request's client; nil counts in total only.
    mutating func reserveAllowance(for wanted: Int, of client: @autoclosure () -> RemoteAddress.Network?) -> Int {
        let loopAllowance = worker.requestMemory.allowance(holding: heldRequestBytes)
        guard wanted > worker.limits.maxSmallMessageBytes else { return loopAllowance }
        let client = client()
        // Behind a proxy the client is known only after the request's head.
        if largeReservation?.network != client { largeReservation = nil }
        if largeReservation == nil {
            largeReservation = worker.largeRequestMemory.reserve(wanted, for: client)
            return largeReservation == nil ? min(loopAllowance, worker.limits.maxSmallMessageBytes) : loopAllowance
        }
        let reserved = largeReservation?.bytes ?? 0
        guard wanted > reserved, largeReservation?.resize(to: wanted) == false else { return loopAllowance }
        return min(loopAllowance, reserved)
    }

    /// Sets the bytes of requests that the connection holds.
    mutating func setHeldRequestBytes(_ bytes: Int) {
        if bytes <= worker.limits.maxSmallMessageBytes {
            largeReservation = nil
        } else if bytes < largeReservation?.bytes ?? 0 {
            _ = largeReservation?.resize(to: bytes)
        }
        guard bytes != heldRequestBytes else { return }
        worker.requestMemory.change(from: heldRequestBytes, to: bytes)
        heldRequestBytes = bytes
    }

    /// Sets the reservation for responses, none at 0; false if there is not enough memory.
    /// - Parameter network: the responses' client; nil counts in total only.
    mutating func setAnswerReservation(_ bytes: Int, for network: @autoclosure () -> RemoteAddress.Network?) -> Bool {
        if bytes == 0 {
            answerReservation = nil
            return true
        }
        if answerReservation != nil { return answerReservation?.resize(to: bytes) ?? false }
        answerReservation = worker.answerMemory.reserve(bytes, for: network())
        return answerReservation != nil
    }
}

extension HTTPConnection {
    /// The network of the client that the request in progress counts against: the peer, or the client that a proxy
    /// names. Nil for a proxy that names none, or none yet: many clients are behind it.
    var clientNetwork: RemoteAddress.Network? {
        let proxies = worker.application.proxies
        guard proxies.contains(peer) else { return peer.network }
        guard let head = pendingRequest?.head else { return nil }
        let client = proxies.client(of: peer, head.headers)
        return proxies.contains(client) ? nil : client.network
    }

    /// Reserves memory for a response that is about to be queued; false if there is not enough.
    /// - Parameter network: the response's client.
    func reserveAnswer(_ bytes: Int, for network: RemoteAddress.Network?) -> Bool {
        memory.setAnswerReservation(writeBuffer.heldBytes + bytes, for: network)
    }

    /// Sets the reservation to the bytes that wait for the socket. While a stream runs, it is at least
    /// `Limits.writeBuffer`. Returns false if there is not enough memory.
    func updateAnswerReservation() -> Bool {
        if writeBuffer.count == 0, !isStreaming { return memory.setAnswerReservation(0, for: nil) }
        return memory.setAnswerReservation(
            max(writeBuffer.heldBytes, isStreaming ? worker.limits.maxWriteBufferBytes : 0), for: clientNetwork)
    }
}
