import Reactor

extension HTTPConnection {
    /// Chooses the route and the content limit of a request from its head. It sends a 100 if the client waits for one,
    /// and the response at once if no route will read the content.
    ///
    /// - Parameter hasMore: whether input has arrived after the head.
    func handleHead(_ head: consuming RequestHead, hasMore: Bool) {
        let expectsContinue = head.expectsContinue
        let decision = worker.application.routeDecision(for: head)
        if case .none(let allowed) = decision, expectsContinue || head.announcesContent {
            // No route will read the content: the response is sent at once, without 100 (RFC 9110 §10.1.1), and
            // arriving content is discarded while the connection closes.
            let request = makeRequest(head, [], route: nil)
            return send(
                worker.application.responseWithoutRoute(request, allowed: allowed), for: request, mayPersist: false)
        }
        pendingRequest = (head, decision)
        var limit = worker.limits.maxBodyBytes
        if case .route(let route) = decision, let routeLimit = route.bodyLimit { limit = routeLimit }
        if let fault = state.setBodyLimit(limit) { return refuse(fault) }
        guard expectsContinue, !hasMore else { return }
        writeBuffer.append { $0.append(contentsOf: ResponseHeadWriter.continue100) }
        state.bytesQueued(ResponseHeadWriter.continue100.count, now: worker.poller.now)
    }

    func dispatch(_ body: consuming [UInt8]) {
        guard let (head, decision) = pendingRequest.take() else { return closeState(.disconnected) }
        switch decision {
        case .none(let allowed):
            let request = makeRequest(head, body, route: nil)
            send(worker.application.responseWithoutRoute(request, allowed: allowed), for: request)
        case .route(let route):
            let request = makeRequest(head, body, route: route)
            switch route.handler {
            case .immediate(let handle): send(handle(request), for: request)
            case .async(let handle):
                currentRequest = RequestInProgress(request)
                task = worker.poller.spawnCancellable { [self] in
                    let response = await handle(request)
                    task = nil
                    guard !isClosed else { return }
                    send(response, for: request)
                    applyState()
                }
            }
        }
    }

    /// Responds to an error that HTTP itself found; the connection closes afterwards.
    func refuse(_ fault: HTTPRequestError) {
        let id = worker.identifiers.makeRequestID()
        // If the head could not be read to its end, the origin may be unknown.
        let origin =
            if let head = pendingRequest?.head { head.headers["origin"] } else {
                state.refusedOrigin ?? worker.application.cors?.soleOrigin
            }
        let response = worker.application.refusalResponse(for: fault, origin: origin, id)
        let isHead = pendingRequest?.head.method == .head
        let count = response.contentByteCount
        let countBefore = writeBuffer.count
        append(head: response, id: id, framing: .length(count), persistence: .close)
        if case .bytes(let bytes) = response.body, !isHead { writeBuffer.append(body: bytes) }
        finishAnswer(queued: writeBuffer.count - countBefore, persists: false)
        observe(.refused(fault), status: response.status, bytesOut: writeBuffer.count - countBefore, id: id)
    }

    private func makeRequest(
        _ head: consuming RequestHead, _ body: consuming [UInt8], route: Route?
    ) -> Request {
        let parent = head.headers.withValue(of: "traceparent") { TraceContext(traceparent: $0) } ?? nil
        let client = worker.application.proxies.client(of: peer, head.headers)
        return Request(
            head: head, body: body, clientAddress: client, id: worker.identifiers.makeRequestID(),
            trace: worker.identifiers.makeTraceContext(continuing: parent, at: Socket.wallClockMilliseconds()),
            route: route)
    }

    // MARK: Writing

    private func send(_ answer: consuming Response, for request: borrowing Request, mayPersist: Bool = true) {
        var response = answer
        worker.application.applyCORSAndGzip(to: &response, for: request, with: worker.deflater)
        if !reserveMemory(for: response, to: request) {
            response = worker.application.outOfMemoryResponse(request)
        }
        let persists = mayPersist && state.persists(after: request.head)
        let framing = framing(of: response, for: request)
        let hasContent = request.method != .head && framing != .none
        let countBefore = writeBuffer.count
        append(
            head: response, id: request.id, framing: framing,
            persistence: persistence(of: response, for: request, persists && framing != .untilClose))
        switch response.body {
        case .bytes(let bytes) where hasContent: writeBuffer.append(body: bytes)
        case .stream(let produce) where hasContent:
            let count = writeBuffer.count - countBefore
            state.bytesQueued(count, now: worker.poller.now)
            currentRequest = RequestInProgress(request, response.status, bytesOut: count)
            return stream(produce, copy request, persists, isChunked: framing == .chunked)
        case .upgrade(let takeOver):
            state.bytesQueued(writeBuffer.count - countBefore, now: worker.poller.now)
            observe(request, response.status, bytesOut: writeBuffer.count - countBefore)
            upgrade = takeOver
            return
        default: break
        }
        let count = writeBuffer.count - countBefore
        finishAnswer(queued: count, persists: persists && framing != .untilClose)
        observe(request, response.status, bytesOut: count)
    }

    /// Reserves memory for large content or a stream's buffer before it is queued. Returns false if there is not
    /// enough.
    private func reserveMemory(for response: borrowing Response, to request: borrowing Request) -> Bool {
        var bytes = 0
        switch response.body {
        case .bytes(let content): bytes = content.count
        case .stream: bytes = worker.limits.maxWriteBufferBytes
        case .empty, .upgrade: return true
        }
        guard bytes > worker.limits.maxSmallMessageBytes, request.method != .head else { return true }
        let proxies = worker.application.proxies
        return reserveAnswer(bytes, for: proxies.contains(request.clientAddress) ? nil : request.clientAddress.network)
    }

    private func framing(of response: borrowing Response, for request: borrowing Request) -> ResponseHeadWriter.Framing
    {
        if response.status.forbidsContent { return .none }
        if case .stream = response.body { return request.head.isHTTP11 ? .chunked : .untilClose }
        return .length(response.contentByteCount)
    }

    private func persistence(
        of response: borrowing Response, for request: borrowing Request, _ persists: Bool
    ) -> ResponseHeadWriter.Persistence {
        if case .upgrade = response.body { return .upgrade }
        if !persists { return .close }
        return request.head.isHTTP11 ? .implicit : .keepAlive
    }

    private func stream(
        _ produce: @escaping @Sendable (BodyWriter) async throws -> Void, _ request: Request, _ persists: Bool,
        isChunked: Bool
    ) {
        isStreaming = true
        task = worker.poller.spawnCancellable { [self] in
            defer { isStreaming = false }
            let writer = BodyWriter(connection: self, isChunked: isChunked)
            do {
                try await produce(writer)
            } catch {
                // The status is already sent: only an incomplete message tells the client (RFC 9112 §8).
                return abort(.streamFailed(error))
            }
            guard !isClosed else { return }
            let end = isChunked ? [UInt8]("0\r\n\r\n".utf8) : []
            writeBuffer.append { $0.append(contentsOf: end) }
            finishAnswer(queued: end.count, persists: persists && isChunked)
            isStreaming = false
            task = nil
            observeCurrentRequest(moreBytes: end.count)
            applyState()
        }
    }

    private func append(
        head response: borrowing Response, id: RequestID, framing: ResponseHeadWriter.Framing,
        persistence: ResponseHeadWriter.Persistence
    ) {
        worker.borrow(&writeBuffer)
        let date = worker.currentDateLine()
        let idField = worker.application.requestIDField
        writeBuffer.append { output in
            ResponseHeadWriter.append(
                response, id: id, in: idField, framing: framing, persistence: persistence, date: date, to: &output)
        }
    }

    private func finishAnswer(queued count: Int, persists: Bool) {
        state.bytesQueued(count, now: worker.poller.now)
        state.responseQueued(persists: persists, now: worker.poller.now)
    }
}

extension Application.RouteDecision {
    var route: Route? {
        if case .route(let route) = self { route } else { nil }
    }
}
