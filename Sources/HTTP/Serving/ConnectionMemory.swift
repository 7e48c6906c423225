/// One connection's share of the memory for requests and responses.
struct ConnectionMemory: ~Copyable {
    private let worker: HTTPWorker
    /// The connection's part of the loop's memory for requests.
    private var held = 0
    /// The reservation of a large request, which also counts against its client; nil for a small request.
    private var largeRequest: MemoryReservation?
    /// The reservation for responses in progress; nil while none waits for the socket.
    private var answers: MemoryReservation?

    init(_ worker: HTTPWorker) { self.worker = worker }

    /// Returns the number of the `wanted` bytes that the request under way may hold.
    /// - Parameter client: the request's client; nil counts in total only.
    mutating func requestAllowance(for wanted: Int, of client: @autoclosure () -> RemoteAddress.Network?) -> Int {
        let room = worker.requestMemory.allowance(holding: held)
        guard wanted > worker.limits.smallMessage else { return room }
        let client = client()
        // Behind a proxy the client is known only after the request's head.
        if largeRequest?.network != client { largeRequest = nil }
        if largeRequest == nil {
            largeRequest = worker.largeRequests.reserve(wanted, for: client)
            return largeRequest == nil ? min(room, worker.limits.smallMessage) : room
        }
        let reserved = largeRequest?.bytes ?? 0
        guard wanted > reserved, largeRequest?.resize(to: wanted) == false else { return room }
        return min(room, reserved)
    }

    /// Sets the bytes of requests that the connection holds.
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

    /// Sets the reservation for responses, none at 0; false when there is no room.
    /// - Parameter network: the responses' client; nil counts in total only.
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
    /// The client that the request under way counts against: the peer, or the client that a proxy names. Nil for a
    /// proxy that names none, or none yet: many clients are behind it.
    var client: RemoteAddress.Network? {
        let proxies = worker.application.proxies
        guard proxies.contains(remote) else { return remote.network }
        guard let head = pending?.head else { return nil }
        let client = proxies.client(of: remote, head.headers)
        return proxies.contains(client) ? nil : client.network
    }

    /// Reserves memory for a response that is about to be queued.
    /// - Parameter network: the response's client.
    func reserveAnswer(_ bytes: Int, for network: RemoteAddress.Network?) -> Bool {
        memory.holdAnswers(writeBuffer.heldBytes + bytes, for: network)
    }

    /// Sets the reservation to the bytes that wait for the socket, or to a running stream's write buffer; false when
    /// there is no room.
    func holdBacklog() -> Bool {
        if writeBuffer.count == 0, !isStreaming { return memory.holdAnswers(0, for: nil) }
        return memory.holdAnswers(
            max(writeBuffer.heldBytes, isStreaming ? worker.limits.writeBuffer : 0), for: client)
    }
}
