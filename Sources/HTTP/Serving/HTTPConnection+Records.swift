import Reactor

/// A request whose answer is being made: what its record will say.
struct RequestUnderWay {
    let method: Method
    let route: Route?
    let id: RequestID
    let trace: TraceContext
    /// What was sent; nil before the head of the answer is queued.
    let status: Status?
    /// Bytes of the answer that are queued.
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

/// Each request is observed once: when its answer is queued, or else when its connection ends.
extension HTTPConnection {
    /// A request was answered.
    func observe(_ request: borrowing Request, _ status: Status, bytesOut: Int) {
        observe(RequestUnderWay(request, status, bytesOut: bytesOut), fault: nil)
    }

    /// A streamed answer is complete.
    /// - Parameter moreBytes: what was queued behind its content.
    func observeUnderWay(moreBytes: Int) {
        guard var request = underWay else { return }
        request.bytesOut += moreBytes
        observe(request, fault: nil)
    }

    /// A request was refused by HTTP itself.
    func observe(_ fault: RequestFault, status: Status, bytesOut: Int, id: RequestID) {
        guard state.takeRecord(), let observer = worker.observer else { return }
        observer.finished(
            RequestRecord(
                method: pending?.head.method, route: pending?.plan.route, status: status, nanoseconds: requestTime,
                bytesIn: state.requestBytes, bytesOut: bytesOut, id: id, trace: nil, remote: remote, fault: fault))
    }

    /// The connection ends: if a request has begun that was not answered, or not to the end, it is observed now.
    func observeUnanswered() {
        if var request = underWay {
            // What still waits for the socket is the end of this answer.
            request.bytesOut = max(0, request.bytesOut - writeBuffer.count)
            observe(request, fault: closeCause)
        } else {
            observe(closeCause, status: closeCause.status, bytesOut: 0, id: worker.identifiers.requestID())
        }
    }

    private func observe(_ request: RequestUnderWay, fault: RequestFault?) {
        underWay = nil
        guard state.takeRecord(), let observer = worker.observer else { return }
        let status = request.status ?? fault?.status ?? .internalServerError
        observer.finished(
            RequestRecord(
                method: request.method, route: request.route, status: status, nanoseconds: requestTime,
                bytesIn: state.requestBytes, bytesOut: request.bytesOut, id: request.id, trace: request.trace,
                remote: remote, fault: fault))
    }

    private var requestTime: Int { MonotonicTime.now().nanoseconds(since: state.requestStart) }
}
