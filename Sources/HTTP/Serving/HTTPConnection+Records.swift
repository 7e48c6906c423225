import Reactor

/// A request whose response is in progress, with the data for its record.
struct RequestInProgress {
    let method: Method
    let route: Route?
    let id: RequestID
    let trace: TraceContext
    /// The status sent; nil until the head of the response is queued.
    let status: Status?
    /// The number of bytes of the response that were queued so far, with its head, sent or not.
    var bytesOut: Int

    init(_ request: borrowing Request, _ status: Status? = nil, bytesOut: Int = 0) {
        method = request.method
        route = request.route
        id = request.id
        trace = request.trace
        self.status = status
        self.bytesOut = bytesOut
    }
}

/// Each request is observed once: when its response is queued, or else when its connection ends.
extension HTTPConnection {
    /// Records a request whose response is queued.
    func observe(_ request: borrowing Request, _ status: Status, bytesOut: Int) {
        observe(RequestInProgress(request, status, bytesOut: bytesOut), fault: nil)
    }

    /// Records a request whose streamed response is complete.
    /// - Parameter moreBytes: bytes queued after its content.
    func observeCurrentRequest(moreBytes: Int) {
        guard var request = currentRequest else { return }
        request.bytesOut += moreBytes
        observe(request, fault: nil)
    }

    /// Records a request that HTTP itself refused, or whose connection ended before its handler was called.
    func observe(_ fault: RequestFault, status: Status, bytesOut: Int, id: RequestID) {
        guard state.claimRecord(), let observer = worker.observer else { return }
        observer.requestFinished(
            RequestRecord(
                method: pendingRequest?.head.method, route: pendingRequest?.decision.route, status: status,
                durationNanoseconds: requestNanoseconds, bytesIn: state.requestBytes, bytesOut: bytesOut, id: id,
                trace: nil, fault: fault))
    }

    /// Records, at the end of the connection, a request that has begun and has no complete response.
    func observeUnanswered() {
        if var request = currentRequest {
            // The bytes still unsent belong to this response.
            request.bytesOut = max(0, request.bytesOut - writeBuffer.count)
            observe(request, fault: closeCause)
        } else {
            observe(closeCause, status: closeCause.status, bytesOut: 0, id: worker.identifiers.makeRequestID())
        }
    }

    private func observe(_ request: RequestInProgress, fault: RequestFault?) {
        currentRequest = nil
        guard state.claimRecord(), let observer = worker.observer else { return }
        let status = request.status ?? fault?.status ?? .internalServerError
        observer.requestFinished(
            RequestRecord(
                method: request.method, route: request.route, status: status, durationNanoseconds: requestNanoseconds,
                bytesIn: state.requestBytes, bytesOut: request.bytesOut, id: request.id, trace: request.trace,
                fault: fault))
    }

    /// The time since the first byte of the current request.
    private var requestNanoseconds: Int { MonotonicTime.now().nanoseconds(since: state.requestStart) }
}
