/// What one connection holds of the memory for requests and of that for answers.
struct ConnectionMemory: ~Copyable {
    private let worker: HTTPWorker
    /// How much of the loop's memory for requests is this connection's.
    private var held = 0
    /// The part of it that counts by address; nil for a small request.
    private var largeRequest: MemoryReservation?
    /// What the answers under way hold; nil while none waits for the socket.
    private var answers: MemoryReservation?

    init(_ worker: HTTPWorker) { self.worker = worker }

    /// How many bytes of the request under way may be held, of the `wanted` that it would have.
    /// - Parameter client: whose the request is; nil counts in total only.
    mutating func requestRoom(for wanted: Int, of client: @autoclosure () -> RemoteAddress.Network?) -> Int {
        let room = worker.requestMemory.room(holding: held)
        guard wanted > worker.limits.smallMessage else { return room }
        let client = client()
        // Of a request through a proxy the client is known once its head is.
        if largeRequest?.network != client { largeRequest = nil }
        if largeRequest == nil {
            largeRequest = worker.largeRequests.reserve(wanted, for: client)
            return largeRequest == nil ? min(room, worker.limits.smallMessage) : room
        }
        let reserved = largeRequest?.bytes ?? 0
        guard wanted > reserved, largeRequest?.resize(to: wanted) == false else { return room }
        return min(room, reserved)
    }

    /// The connection holds so many bytes of requests now.
    mutating func holdRequest(_ bytes: Int) {
        if bytes <= worker.limits.smallMessage {
            largeRequest = nil
        } else if bytes < largeRequest?.bytes ?? 0 {
            _ = largeRequest?.resize(to: bytes)
        }
        guard bytes != held else { return }
        worker.requestMemory.change(from: held, to: bytes)
        held = bytes
    }

    /// Keeps the memory for answers at so many bytes, none at 0; false when there is no room for them.
    /// - Parameter network: whom the answers are for; nil counts in total only.
    mutating func holdAnswers(_ bytes: Int, for network: @autoclosure () -> RemoteAddress.Network?) -> Bool {
        if bytes == 0 {
            answers = nil
            return true
        }
        if answers != nil { return answers?.resize(to: bytes) ?? false }
        answers = worker.answerMemory.reserve(bytes, for: network())
        return answers != nil
    }
}

extension HTTPConnection {
    /// Whose memory the request under way is: the peer's, or that of the client a proxy names. Nil for a proxy that names
    /// none, or has not yet: behind it there are many.
    var client: RemoteAddress.Network? {
        let proxies = worker.application.proxies
        guard proxies.contains(remote) else { return remote.network }
        guard let head = pending?.head else { return nil }
        let client = proxies.client(of: remote, head.headers)
        return proxies.contains(client) ? nil : client.network
    }

    /// Sets memory aside for an answer that is about to be queued behind what waits already.
    /// - Parameter network: whom the answer is for.
    func reserveAnswer(_ bytes: Int, for network: RemoteAddress.Network?) -> Bool {
        memory.holdAnswers(writeBuffer.heldBytes + bytes, for: network)
    }

    /// Keeps the reservation at what waits for the socket, or for a running stream at its write buffer; false when there is
    /// no room for it.
    func holdBacklog() -> Bool {
        if writeBuffer.count == 0, !isStreaming { return memory.holdAnswers(0, for: nil) }
        return memory.holdAnswers(
            max(writeBuffer.heldBytes, isStreaming ? worker.limits.writeBuffer : 0), for: client)
    }
}
