import Reactor
import Testing

@testable import HTTP

private let start = MonotonicTime(nanoseconds: 1_000_000_000)
private let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
private let post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n"

/// Feeds a state and remembers what it called for, in short words.
private struct Script {
    var state: HTTPConnectionState
    var events: [String] = []
    var rest: [UInt8] = []

    init(_ limits: Limits = Limits()) { state = HTTPConnectionState(limits: limits, now: start) }

    mutating func feed(_ text: String, at seconds: Double = 0, room: Int = .max) {
        let input = rest + bytes(text)
        var position = 0
        while true {
            let event = state.take(input.span, at: &position, now: after(seconds), memoryLimit: room)
            if case .needsInput = event { break }
            note(event)
            if case .close = event { break }
        }
        rest = Array(input[position...])
    }

    mutating func note(_ event: HTTPConnectionState.Event) {
        switch event {
        case .needsInput: break
        case .head: events.append("head")
        case .request(let body): events.append("request \(body.count)")
        case .fault(let fault): events.append("fault \(fault)")
        case .close: events.append("close")
        }
    }

    mutating func expire(at seconds: Double) { note(state.expire(now: after(seconds))) }

    /// Answers with ten bytes that the socket takes at once.
    mutating func answer(persists: Bool = true, at seconds: Double = 0) {
        state.bytesQueued(10, now: after(seconds))
        state.responseQueued(persists: persists, now: after(seconds))
        state.bytesWritten(10, now: after(seconds))
    }
}

private func after(_ seconds: Double) -> MonotonicTime { start + .milliseconds(Int64(seconds * 1000)) }

@Suite("The rules of a connection")
struct ConnectionStateTests {
    @Test("an idle connection is closed when it has been idle too long")
    func idle() {
        var script = Script()
        #expect(script.state.deadline == after(75))
        script.expire(at: 74.9)
        #expect(script.events == [])
        script.expire(at: 75)
        #expect(script.events == ["close"] && script.state.isClosed)
    }

    @Test("an answer starts the idle time anew")
    func idleAfterAnswer() {
        var script = Script()
        script.feed(get, at: 70)
        script.answer(at: 71)
        #expect(script.state.deadline == after(71 + 75))
    }

    @Test("a header section has ten seconds in total, however its bytes trickle")
    func slowHead() {
        var script = Script()
        for (index, byte) in get.dropLast(2).enumerated() { script.feed(String(byte), at: 5 + Double(index) * 0.3) }
        #expect(script.state.deadline == after(15))
        script.expire(at: 14.9)
        #expect(script.events == [])
        script.expire(at: 15)
        #expect(script.events == ["fault headTimeout"])
        script.answer(persists: false, at: 15)
        #expect(script.state.isFinished)
    }

    @Test("content may be slow, but not slower than the minimum rate")
    func slowBody() {
        var script = Script()
        script.feed(post)
        let first = script.state.deadline
        script.feed(String(repeating: "x", count: 10_240), at: 9)
        for seconds in [14.0, 18.9] { script.feed("x", at: seconds) }
        let second = script.state.deadline
        #expect(first == after(10))
        #expect(second.map { $0 >= after(19) && $0 < after(19.2) } == true)
        script.expire(at: 19.2)
        #expect(script.events == ["head", "fault bodyTimeout"])
    }

    @Test("content that keeps to the minimum rate has all the time it needs")
    func steadyBody() {
        var script = Script()
        script.feed(post)
        for second in 1...90 { script.feed(String(repeating: "x", count: 1_025), at: Double(second)) }
        script.expire(at: 95)
        #expect(script.events == ["head"])
    }

    @Test("early content does not make up for slow content after it")
    func drippedBody() {
        var script = Script()
        script.feed(post + String(repeating: "x", count: 99_000))
        for second in 1...9 { script.feed("x", at: Double(second)) }
        #expect(script.state.deadline.map { $0 < after(10.1) } == true)
        script.expire(at: 10.1)
        #expect(script.events == ["head", "fault bodyTimeout"])
    }

    @Test("an answer of which only a little is read now and then is abandoned")
    func drippedAnswer() {
        var script = Script()
        script.feed(get)
        script.state.bytesQueued(1_000_000, now: after(0))
        script.state.responseQueued(persists: true, now: after(0))
        for second in 1...19 { script.state.bytesWritten(1, now: after(Double(second))) }
        script.expire(at: 20.1)
        #expect(script.state.isClosed)
    }

    @Test("content may pause for ten seconds, however much came before")
    func silentBody() {
        var script = Script()
        script.feed(post + String(repeating: "x", count: 50_000))
        #expect(script.state.deadline == after(10))
        script.feed(String(repeating: "x", count: 10_240), at: 9.5)
        #expect(script.state.deadline == after(19.5))
        script.feed("", at: 19)
        script.expire(at: 19.4)
        #expect(script.events == ["head"])
        script.expire(at: 19.5)
        #expect(script.events == ["head", "fault bodyTimeout"])
        script.answer(persists: false, at: 19.5)
        #expect(script.state.isFinished)
    }

    @Test("no request is read while another is answered, and bytes behind it wait")
    func pipeline() {
        var script = Script()
        script.feed(get + get + "GET")
        #expect(script.events == ["head", "request 0"])
        #expect(!script.state.wantsInput && script.rest.count == get.utf8.count + 3)
        script.answer()
        script.feed("")
        #expect(script.events.count == 4 && script.rest.count == 3)
        script.answer()
        script.feed("")
        #expect(script.rest.isEmpty && script.state.wantsInput)
    }

    @Test("reading stops while an answer is not wholly written")
    func backPressure() {
        var script = Script()
        script.feed(get)
        script.state.bytesQueued(1000, now: after(1))
        script.state.responseQueued(persists: true, now: after(1))
        script.state.bytesWritten(400, now: after(2))
        #expect(!script.state.wantsInput && script.state.unwrittenBytes == 600)
        script.state.bytesWritten(600, now: after(3))
        #expect(script.state.wantsInput)
    }

    @Test("an answer that makes no progress is abandoned")
    func writeStall() {
        var script = Script()
        script.feed(get)
        script.state.bytesQueued(1000, now: after(1))
        script.state.responseQueued(persists: true, now: after(1))
        #expect(script.state.deadline == after(21))
        script.state.bytesWritten(512, now: after(20))
        #expect(script.state.deadline.map { $0 >= after(21.499) && $0 <= after(21.501) } == true)
        script.expire(at: 21.501)
        #expect(script.state.isClosed)
    }

    @Test("a running handler has no deadline")
    func handling() {
        var script = Script()
        script.feed(get)
        #expect(script.state.deadline == nil)
    }

    @Test("a request error is answered, then input is read and discarded for a while")
    func lingering() {
        var script = Script()
        script.feed("BAD\r\n" + get)
        #expect(script.events == ["fault requestLineSyntax"])
        script.answer(persists: false)
        #expect(script.state.isFinished)
        script.state.beginLingering(now: after(0))
        script.feed(get)
        #expect(script.events.count == 1 && script.state.wantsInput && script.state.deadline == after(2))
        script.expire(at: 2)
        #expect(script.state.isClosed)
    }

    @Test("the input that is discarded after an error has a limit in bytes too")
    func lingeringFlood() {
        var limits = Limits()
        limits.maxLingerBytes = 100
        var script = Script(limits)
        script.feed("BAD\r\n")
        script.answer(persists: false)
        script.state.beginLingering(now: after(0))
        script.feed(String(repeating: "x", count: 101))
        #expect(script.state.isClosed)
    }

    @Test("Connection: close ends the connection after its answer")
    func close() {
        var script = Script()
        var head: RequestHead?
        let wire = bytes("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        var position = 0
        if case .head(let seen) = script.state.take(wire.span, at: &position, now: start) { head = seen }
        #expect(head.map { script.state.persists(after: $0) } == false)
    }

    @Test("requests that came before the peer finished sending are answered", arguments: [get, get + get])
    func halfClose(_ wire: String) {
        var script = Script()
        script.feed(wire)
        script.note(script.state.inputEnded(now: after(1)))
        while !script.state.isClosed, script.events.last != "close" {
            script.answer()
            script.feed("")
        }
        #expect(script.events.filter { $0 == "request 0" }.count == wire.utf8.count / get.utf8.count)
    }

    @Test(
        "a peer that finishes sending before a request ends the connection, and inside one gets an error",
        arguments: [("", ["close"]), ("GET", ["fault truncated"])])
    func peerEnds(_ wire: String, _ expected: [String]) {
        var script = Script()
        script.feed(wire)
        script.note(script.state.inputEnded(now: after(1)))
        #expect(script.events == expected)
    }

    @Test("when draining, an idle connection has a short grace, and a running request its answer")
    func drain() {
        var idle = Script()
        idle.state.drain(now: after(5))
        #expect(idle.state.deadline == after(6))
        idle.feed(get, at: 5.5)
        #expect(idle.events == ["head", "request 0"])

        var running = Script()
        running.feed(get)
        running.state.drain(now: after(5))
        #expect(running.state.deadline == nil)
        running.answer(persists: false)
        #expect(running.state.isFinished)
    }

    @Test("a request is held from its first byte until it is answered, and not before and after")
    func held() {
        var script = Script()
        #expect(script.state.heldBytes == 0)
        script.feed("\r\nGET / HT")
        #expect(script.state.heldBytes == 10)
        script.feed("TP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nab")
        let before = script.state.heldBytes
        script.feed("c" + get)
        #expect(script.events == ["head", "request 3"] && script.state.heldBytes == before + 1)
        script.answer()
        #expect(script.state.heldBytes == 0)
        script.feed("")
        #expect(script.events.count == 4 && script.state.heldBytes == get.utf8.count)
        script.answer(persists: false)
        #expect(script.state.heldBytes == 0)
    }

    @Test(
        "a request beyond the memory limit is refused, but a complete one without content is not",
        arguments: [
            (post, 1_000, ["head"]), (post + "x", 1_000, ["head"]),
            (post + String(repeating: "x", count: 1_000), 1_000, ["head", "fault memoryTaken"]),
            (post, 10, ["head", "fault memoryTaken"]), ("GET / HT", 10, []),
            ("GET / HTTP/1.1", 10, ["fault memoryTaken"]), (get, 0, ["head", "request 0"]), ("", 0, []),
        ])
    func room(_ wire: String, _ room: Int, _ events: [String]) {
        var script = Script()
        script.feed(wire, room: room)
        #expect(script.events == events)
    }

    @Test("memory for a request is counted over all its pieces")
    func roomInPieces() {
        var script = Script()
        script.feed(post, room: 1_000)
        for _ in 0..<9 { script.feed(String(repeating: "x", count: 100), room: 1_000) }
        #expect(script.events == ["head"])
        script.feed(String(repeating: "x", count: 100), room: 1_000)
        #expect(script.events == ["head", "fault memoryTaken"])
        script.answer(persists: false)
        #expect(script.state.heldBytes == 0 && script.state.isFinished)
    }

    @Test("a declared length above the route's limit is refused before content is read")
    func routeLimit() {
        var script = Script()
        script.feed(String(post.prefix(post.count)))
        #expect(script.events == ["head"])
        var second = HTTPConnectionState(limits: Limits(), now: start)
        var position = 0
        _ = second.take(bytes(post).span, at: &position, now: start)
        #expect(second.setBodyLimit(99_999) == .bodyTooLarge)
    }
}
