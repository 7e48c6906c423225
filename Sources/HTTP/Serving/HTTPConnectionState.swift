import Reactor

/// The state machine of one connection, without I/O: input, pending responses and deadlines.
///
/// It takes bytes and the time and returns what to do; it touches no socket and no clock. Requests are handled one at a
/// time, in order: no input is taken while a response is in progress.
public struct HTTPConnectionState: Sendable {
    /// The next step of the caller.
    public enum Event: Sendable {
        case needsInput
        /// A head is complete: set the content limit (`setBodyLimit`), then continue.
        case head(RequestHead)
        /// The request is complete: respond to it.
        case request(body: [UInt8])
        /// Respond with this error; no more input is taken.
        case fault(HTTPRequestError)
        /// Close the connection: it takes no more input, and either no response is pending, or the client reads the
        /// response too slowly.
        case close
    }

    private enum Phase: Equatable {
        case idle(since: MonotonicTime)
        case head(since: MonotonicTime)
        case body(ProgressDeadline)
        /// A request or an error was returned; its response is pending.
        case answering
        /// The last response is queued; the connection closes after it is written.
        case finishing
        /// All responses are written. Until that time, up to `left` more bytes of input are read and discarded.
        case lingering(until: MonotonicTime, left: Int)
        case closed
    }

    private let limits: Limits
    private var parser: RequestParser
    private var phase: Phase
    private var body: [UInt8] = []
    /// The number of bytes of responses that wait to be written.
    public private(set) var unwrittenBytes = 0
    private var writeDeadline: ProgressDeadline
    private var drainingSince: MonotonicTime?
    private var hasInputEnded = false
    /// The `Origin` of a request whose head was refused, if it was found, for the CORS fields of the response.
    public private(set) var refusedOrigin: String?
    /// The time at which the current request began.
    public private(set) var requestStart: MonotonicTime
    /// The number of bytes of the current request.
    public private(set) var requestBytes = 0
    /// Whether there is a request that the observer has not been notified of: one that has begun, or was refused before
    /// it could begin.
    private var needsRecord = false

    public init(limits: Limits, now: MonotonicTime) {
        self.limits = limits
        parser = RequestParser(limits: limits)
        phase = .idle(since: now)
        writeDeadline = ProgressDeadline(now: now, window: limits.writeRateWindow)
        requestStart = now
    }

    // MARK: Input

    /// Whether to read from the socket. While false, the kernel's buffer fills and the peer stops sending
    /// (back-pressure).
    public var wantsInput: Bool {
        switch phase {
        case .idle, .head, .body: unwrittenBytes == 0 && !hasInputEnded
        case .lingering: true
        case .answering, .finishing, .closed: false
        }
    }

    public var isClosed: Bool { phase == .closed }
    /// Whether a request may be taken from input that has already been read.
    public var mayTakeRequest: Bool {
        switch phase {
        case .idle, .head, .body: unwrittenBytes == 0
        default: false
        }
    }
    /// Whether the last response is queued, or the connection is closed: further input is ignored.
    public var isEnding: Bool {
        switch phase {
        case .finishing, .lingering, .closed: true
        default: false
        }
    }

    /// Bytes of the current request. All of them count as held until its response is queued.
    public var heldBytes: Int {
        switch phase {
        case .head, .body, .answering: requestBytes
        default: 0
        }
    }

    /// Parses `input` from `position` on.
    /// - Parameter memoryLimit: the maximum number of bytes of a request that may be held. A complete request without
    ///   content may have more.
    public mutating func take(
        _ input: Span<UInt8>, at position: inout Int, now: MonotonicTime, memoryLimit: Int = .max
    ) -> Event {
        let startPosition = position
        defer {
            requestBytes += position - startPosition
            if case .body(var deadline) = phase {
                deadline.advance(
                    bytes: position - startPosition, minBytesPerSecond: limits.minBodyBytesPerSecond,
                    window: limits.bodyRateWindow, now: now)
                phase = .body(deadline)
            }
        }
        switch phase {
        case .answering, .finishing: return .needsInput
        case .closed: return .close
        case .lingering(let until, let left):
            let taken = input.count - position
            position = input.count
            guard taken <= left else { phase = .closed; return .close }
            phase = .lingering(until: until, left: left - taken)
            return .needsInput
        case .idle where position < input.count:
            phase = .head(since: now)
            beginRequest(now)
        default: break
        }
        do throws(HTTPRequestError) {
            while true {
                switch try parser.advance(input, at: &position) {
                case .needsMoreData:
                    if hasInputEnded { return endInput() }
                    return heldBytes + position - startPosition > memoryLimit ? refuse(.memoryTaken) : .needsInput
                case .head(let head):
                    phase = .body(ProgressDeadline(now: now, window: limits.bodyRateWindow))
                    return .head(head)
                case .body(let range):
                    guard heldBytes + position - startPosition <= memoryLimit else { return refuse(.memoryTaken) }
                    if body.isEmpty { body.reserveCapacity(range.count) }
                    body.append(input.extracting(range))
                case .end:
                    phase = .answering
                    defer { body = [] }
                    return .request(body: body)
                }
            }
        } catch {
            refusedOrigin = parser.refusedOrigin ?? input.extracting(max(0, position - 1)...).originLineValue()
            return refuse(error)
        }
    }

    /// Sets the content limit for the head just returned. Returns an error if the declared length is above it.
    public mutating func setBodyLimit(_ limit: Int) -> HTTPRequestError? {
        do throws(HTTPRequestError) {
            try parser.setBodyLimit(limit)
            return nil
        } catch {
            _ = refuse(error)
            return error
        }
    }

    /// Handles the end of input (half-close). Requests already received still get their responses.
    public mutating func inputEnded(now: MonotonicTime) -> Event {
        hasInputEnded = true
        return endInput()
    }

    private mutating func endInput() -> Event {
        switch phase {
        case .idle:
            phase = unwrittenBytes == 0 ? .closed : .finishing
            return unwrittenBytes == 0 ? .close : .needsInput
        case .head, .body: return refuse(.truncated)
        case .lingering:
            phase = .closed
            return .close
        case .answering, .finishing: return .needsInput
        case .closed: return .close
        }
    }

    /// Refuses the next request because its input was discarded for lack of memory.
    public mutating func inputDropped(now: MonotonicTime) -> Event {
        beginRequest(now)
        return refuse(.memoryTaken)
    }

    private mutating func beginRequest(_ now: MonotonicTime) {
        requestStart = now
        requestBytes = 0
        needsRecord = true
    }

    /// Returns true once for each request that has begun, and for a refused connection: on true the caller MUST notify
    /// the observer.
    public mutating func claimRecord() -> Bool {
        defer { needsRecord = false }
        return needsRecord
    }

    private mutating func refuse(_ fault: HTTPRequestError) -> Event {
        phase = .answering
        body = []
        return .fault(fault)
    }

    // MARK: Output

    /// Returns whether the connection stays open after the response to this request. If not, the response has
    /// `Connection: close`.
    public func persists(after head: RequestHead) -> Bool { head.keepsAlive && drainingSince == nil }

    /// Adds bytes of a response that wait to be written.
    public mutating func bytesQueued(_ count: Int, now: MonotonicTime) {
        if unwrittenBytes == 0 { writeDeadline = ProgressDeadline(now: now, window: limits.writeRateWindow) }
        unwrittenBytes += count
    }

    /// Ends the current request: its response is completely queued.
    public mutating func responseQueued(persists: Bool, now: MonotonicTime) {
        guard phase != .closed else { return }
        phase = persists ? .idle(since: now) : .finishing
    }

    /// Removes bytes that were written.
    public mutating func bytesWritten(_ count: Int, now: MonotonicTime) {
        guard count > 0 else { return }
        unwrittenBytes = max(0, unwrittenBytes - count)
        writeDeadline.advance(
            bytes: count, minBytesPerSecond: limits.minWriteBytesPerSecond, window: limits.writeRateWindow, now: now)
    }

    /// Whether the last response is completely written: shut down sending, then linger.
    public var isFinished: Bool { phase == .finishing && unwrittenBytes == 0 }

    /// Reads and discards input for a while after the last response: with unread input the kernel would reset the
    /// connection and the client might lose the response (RFC 9112 §9.6). Closes at once if the client has already
    /// closed its side.
    public mutating func beginLingering(now: MonotonicTime) {
        phase = hasInputEnded ? .closed : .lingering(until: now + limits.lingerTime, left: limits.maxLingerBytes)
    }

    public mutating func close() { phase = .closed }

    /// Begins a 503 (`tooManyConnections`) without reading a request.
    public mutating func refuseConnection() {
        phase = .answering
        needsRecord = true
    }

    // MARK: Time

    /// The time to call `expire` next, unless the state changes before; nil if there is none.
    public var deadline: MonotonicTime? {
        if unwrittenBytes > 0 { return writeDeadline.time }
        switch phase {
        case .idle(let since):
            let idle = since + limits.idleTimeout
            guard let drainingSince else { return idle }
            return min(idle, drainingSince + limits.drainGrace)
        case .head(let since): return since + limits.headTimeout
        case .body(let deadline): return deadline.time
        case .answering, .finishing, .closed: return nil
        case .lingering(let until, _): return until
        }
    }

    /// Returns the next step at an expired deadline; `needsInput` if none has expired.
    public mutating func expire(now: MonotonicTime) -> Event {
        guard let deadline, deadline <= now else { return .needsInput }
        guard unwrittenBytes == 0 else { phase = .closed; return .close }
        switch phase {
        case .head: return refuse(.headTimeout)
        case .body: return refuse(.bodyTimeout)
        default:
            phase = .closed
            return .close
        }
    }

    /// Begins draining: from now on responses have `Connection: close`; an idle connection may send one last request
    /// within `drainGrace`.
    public mutating func drain(now: MonotonicTime) { drainingSince = drainingSince ?? now }
}
