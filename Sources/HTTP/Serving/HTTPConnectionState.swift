import Reactor

/// The rules of one connection as a pure value: what has arrived, what is owed, which deadline runs.
///
/// It takes bytes and the time and says what to do; it touches no socket and no clock. Requests are answered one
/// after another in the order they came: input is taken only while no answer is being made.
public struct HTTPConnectionState: Sendable {
    /// What the input taken so far calls for.
    public enum Event: Sendable {
        case needsInput
        /// A head is complete: decide how much content its route takes (`admitBody`), then take on.
        case head(RequestHead)
        /// The request is complete with this content: answer it.
        case request(body: [UInt8])
        /// Answer this fault; nothing more will be taken.
        case fault(HTTPRequestError)
        /// Nothing is owed and nothing will come.
        case close
    }

    private enum Phase: Equatable {
        case idle(since: MonotonicTime)
        case head(since: MonotonicTime)
        case body(ProgressDeadline)
        /// A request or fault was handed out; its answer is awaited.
        case answering
        /// The last answer is queued; once it is written the connection ends.
        case finishing
        case lingering(until: MonotonicTime, left: Int)
        case closed
    }

    private let limits: Limits
    private var parser: RequestParser
    private var phase: Phase
    private var body: [UInt8] = []
    private var unwritten = 0
    private var writing: ProgressDeadline
    private var drainingSince: MonotonicTime?
    private var hasInputEnded = false
    /// The `Origin` of a request whose head was refused, where it was found: its answer should be readable by that page.
    public private(set) var originOfRefused: String?
    /// When the request being read or answered began, and how many bytes it had.
    public private(set) var requestStart: MonotonicTime
    public private(set) var requestBytes = 0
    /// A request has begun, or was refused before it could, and has not been observed.
    private var needsRecord = false

    public init(limits: Limits, now: MonotonicTime) {
        self.limits = limits
        parser = RequestParser(limits: limits)
        phase = .idle(since: now)
        writing = ProgressDeadline(now: now, window: limits.writeWindow)
        requestStart = now
    }

    // MARK: Input

    /// Whether bytes are wanted from the socket. False is back-pressure: the kernel's buffer fills, the peer stops.
    public var wantsInput: Bool {
        switch phase {
        case .idle, .head, .body: unwritten == 0 && !hasInputEnded
        case .lingering: true
        case .answering, .finishing, .closed: false
        }
    }

    public var isClosed: Bool { phase == .closed }
    /// Whether a request may be taken from bytes already here.
    public var mayTakeRequest: Bool {
        switch phase {
        case .idle, .head, .body: unwritten == 0
        default: false
        }
    }
    /// The last answer is given: bytes that still come mean nothing.
    public var isEnding: Bool {
        switch phase {
        case .finishing, .lingering, .closed: true
        default: false
        }
    }

    /// Bytes of the request being read or answered, all of which count as held until it is answered.
    public var heldBytes: Int {
        switch phase {
        case .head, .body, .answering: requestBytes
        default: 0
        }
    }

    /// Takes bytes of `input` from `position` on.
    /// - Parameter room: how many bytes of a request may be held; one without content may have more, if it is complete.
    public mutating func take(
        _ input: Span<UInt8>, at position: inout Int, now: MonotonicTime, room: Int = .max
    ) -> Event {
        let before = position
        defer {
            requestBytes += position - before
            if case .body(var deadline) = phase {
                deadline.advance(
                    bytes: position - before, rate: limits.bodyRate, window: limits.bodyWindow, now: now)
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
                    if hasInputEnded { return endInput(now) }
                    return heldBytes + position - before > room ? refuse(.memoryTaken) : .needsInput
                case .head(let head):
                    phase = .body(ProgressDeadline(now: now, window: limits.bodyWindow))
                    return .head(head)
                case .body(let range):
                    guard heldBytes + position - before <= room else { return refuse(.memoryTaken) }
                    if body.isEmpty { body.reserveCapacity(range.count) }
                    body.append(input.extracting(range))
                case .end:
                    phase = .answering
                    defer { body = [] }
                    return .request(body: body)
                }
            }
        } catch {
            originOfRefused = parser.originOfRefused ?? input.extracting(max(0, position - 1)...).originLine()
            return refuse(error)
        }
    }

    /// Sets the content bound of the head just yielded; a fault when the declared length is above it.
    public mutating func admitBody(upTo limit: Int) -> HTTPRequestError? {
        do throws(HTTPRequestError) {
            try parser.admitBody(upTo: limit)
            return nil
        } catch {
            _ = refuse(error)
            return error
        }
    }

    /// The peer sends no more. What is already here is still answered (half-close).
    public mutating func inputEnded(now: MonotonicTime) -> Event {
        hasInputEnded = true
        return endInput(now)
    }

    private mutating func endInput(_ now: MonotonicTime) -> Event {
        switch phase {
        case .idle:
            phase = unwritten == 0 ? .closed : .finishing
            return unwritten == 0 ? .close : .needsInput
        case .head, .body: return refuse(.truncated)
        case .lingering:
            phase = .closed
            return .close
        case .answering, .finishing: return .needsInput
        case .closed: return .close
        }
    }

    /// What came behind the request just answered was not kept.
    public mutating func inputDropped(now: MonotonicTime) -> Event {
        beginRequest(now)
        return refuse(.memoryTaken)
    }

    private mutating func beginRequest(_ now: MonotonicTime) {
        requestStart = now
        requestBytes = 0
        needsRecord = true
    }

    /// True once for each request that has begun: whoever gets it MUST tell the observer of the request.
    public mutating func takeRecord() -> Bool {
        defer { needsRecord = false }
        return needsRecord
    }

    private mutating func refuse(_ fault: HTTPRequestError) -> Event {
        phase = .answering
        body = []
        return .fault(fault)
    }

    // MARK: Output

    /// Whether the connection may go on after the answer to this head; false also says `Connection: close`.
    public func persists(after head: RequestHead) -> Bool { head.keepsAlive && drainingSince == nil }

    /// Bytes of an answer wait to be written.
    public mutating func queued(_ count: Int, now: MonotonicTime) {
        if unwritten == 0 { writing = ProgressDeadline(now: now, window: limits.writeWindow) }
        unwritten += count
    }

    /// The answer under way is wholly queued.
    public mutating func answered(persists: Bool, now: MonotonicTime) {
        guard phase != .closed else { return }
        phase = persists ? .idle(since: now) : .finishing
    }

    public mutating func wrote(_ count: Int, now: MonotonicTime) {
        guard count > 0 else { return }
        unwritten = max(0, unwritten - count)
        writing.advance(bytes: count, rate: limits.writeRate, window: limits.writeWindow, now: now)
    }

    public var unwrittenBytes: Int { unwritten }
    /// The last answer is wholly written: shut down sending, then linger.
    public var isFinished: Bool { phase == .finishing && unwritten == 0 }

    /// After the last answer: reads and discards for a while, lest unread input make the kernel reset the connection
    /// and take the answer with it (RFC 9112 §9.6). Closed at once when the peer has already finished.
    public mutating func beginLingering(now: MonotonicTime) {
        phase = hasInputEnded ? .closed : .lingering(until: now + limits.lingerTime, left: limits.lingerBytes)
    }

    public mutating func close() { phase = .closed }

    /// Answers `overloaded` at once, before anything is read, and ends.
    public mutating func turnAway() {
        phase = .answering
        needsRecord = true
    }

    // MARK: Time

    /// When `expire` should be called next, unless something happens before.
    public var deadline: MonotonicTime? {
        if unwritten > 0 { return writing.time }
        switch phase {
        case .idle(let since):
            let idle = since + limits.idleTime
            guard let drainingSince else { return idle }
            return min(idle, drainingSince + limits.drainGrace)
        case .head(let since): return since + limits.headTime
        case .body(let deadline): return deadline.time
        case .answering, .finishing, .closed: return nil
        case .lingering(let until, _): return until
        }
    }

    /// What an expired deadline calls for; `needsInput` when none has expired.
    public mutating func expire(now: MonotonicTime) -> Event {
        guard let deadline, deadline <= now else { return .needsInput }
        guard unwritten == 0 else { phase = .closed; return .close }
        switch phase {
        case .head: return refuse(.headTimeout)
        case .body: return refuse(.bodyTimeout)
        default:
            phase = .closed
            return .close
        }
    }

    /// From now on answers say `Connection: close`; an idle connection has a short grace for one last request.
    public mutating func drain(now: MonotonicTime) { drainingSince = drainingSince ?? now }
}
