import Reactor
import Testing
import WebSocketProtocol

@testable import HTTP

@Suite("The state of a WebSocket")
struct WebSocketStateTests {
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

    private static func state(_ change: (inout WebSocketLimits) -> Void = { _ in }) -> WebSocketState {
        var limits = WebSocketLimits()
        change(&limits)
        return WebSocketState(limits: limits, now: start)
    }

    private static func take(
        _ bytes: [UInt8], _ state: inout WebSocketState, at now: MonotonicTime = start
    ) -> [WebSocketState.Event] {
        var position = 0
        var events: [WebSocketState.Event] = []
        while true {
            let event = state.take(bytes.span, at: &position, now: now)
            if event == .needsInput { return events }
            events.append(event)
        }
    }

    @Test("a WebSocket answers a ping with its payload, and a close with its code")
    func answers() {
        var state = Self.state()
        #expect(Self.take(ClientFrame.bytes(0x89, [1, 2]), &state) == [.answer([0x8A, 2, 1, 2])])
        #expect(Self.take(ClientFrame.close(1001, "away"), &state) == [.answer([0x88, 2, 0x03, 0xE9])])
        #expect(state.isFinished && state.end == .peerClosed(1001))
    }

    @Test("a WebSocket reads nothing after the close")
    func afterClose() {
        var state = Self.state()
        #expect(Self.take(ClientFrame.close(1000) + ClientFrame.text("late"), &state).count == 1)
    }

    @Test("after an error a WebSocket closes with its code, discards the rest, and ends at the deadline")
    func errors() {
        var state = Self.state()
        let input = ClientFrame.bytes(0x83) + ClientFrame.text("ping")
        #expect(Self.take(input, &state) == [.answer([0x88, 2, 0x03, 0xEA])])
        #expect(state.hasFailed && Self.take(ClientFrame.text("ping"), &state).isEmpty)
        #expect(state.expire(now: state.deadline) == .end(.failed(.protocolViolation)))
    }

    @Test("a WebSocket waits two seconds for the answer to its close")
    func closing() {
        var state = Self.state()
        #expect(state.close(4001, now: Self.start) == [0x88, 2, 0x0F, 0xA1])
        #expect(state.close(1000, now: Self.start) == nil)
        // A message that was under way is not read any more, a ping not answered.
        #expect(Self.take(ClientFrame.text("ping") + ClientFrame.bytes(0x89), &state).isEmpty)
        var answered = state
        #expect(Self.take(ClientFrame.close(4001), &answered).isEmpty)
        #expect(answered.isFinished && answered.end == .closed(4001))
        #expect(state.expire(now: Self.start + .milliseconds(1_999)) == .nothing)
        #expect(state.expire(now: Self.start + .seconds(2)) == .end(.closed(4001)))
    }

    @Test("a WebSocket pings a silent client, and ends if there is no answer")
    func silence() {
        var state = Self.state()
        let pinged = Self.start + .seconds(45)
        #expect(state.expire(now: Self.start + .milliseconds(44_999)) == .nothing)
        #expect(state.expire(now: pinged) == .ping([0x89, 0]))
        var alive = state
        #expect(Self.take(ClientFrame.bytes(0x8A), &alive, at: pinged + .seconds(19)).isEmpty)
        #expect(alive.expire(now: pinged + .seconds(20)) == .nothing)
        #expect(state.expire(now: pinged + .seconds(20)) == .end(.pingTimeout))
    }

    @Test("a WebSocket refuses too many frames at once, and accepts a steady client")
    func frameQuota() {
        var (state, now) = (Self.state { $0.frameBurst = 3 }, Self.start)
        for _ in 0..<100 {
            now = now + .milliseconds(200)
            #expect(Self.take(ClientFrame.text("ping"), &state, at: now).count == 1)
        }
        let burst = Array(repeating: ClientFrame.bytes(0x8A), count: 4).flatMap(\.self)
        #expect(Self.take(burst, &state, at: now) == [.answer([0x88, 2, 0x03, 0xF0])])
        #expect(state.end == .failed(.tooManyFrames))
    }

    @Test("a WebSocket counts fragments against the quota too")
    func fragments() {
        var state = Self.state { $0.frameBurst = 10 }
        let empty = ClientFrame.bytes(0x01) + Array(repeating: ClientFrame.bytes(0x00), count: 10).flatMap(\.self)
        #expect(Self.take(empty, &state) == [.answer([0x88, 2, 0x03, 0xF0])])
    }

    @Test("a WebSocket ends a client that reads nothing for long, and not one that reads slowly")
    func slowReader() {
        var state = Self.state()
        state.recordSent(0, waiting: 500, now: Self.start)
        var reading = state
        reading.recordSent(1, waiting: 499, now: Self.start + .seconds(19))
        #expect(reading.expire(now: Self.start + .seconds(20)) == .nothing)
        #expect(state.expire(now: Self.start + .seconds(20)) == .end(.tooSlow))
        reading.recordSent(499, waiting: 0, now: Self.start + .seconds(21))
        #expect(reading.expire(now: Self.start + .seconds(44)) == .nothing)
    }
}
