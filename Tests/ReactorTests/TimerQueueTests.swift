import Testing

@testable import Reactor

@Suite("Timers")
struct TimerQueueTests {
    private func at(_ nanoseconds: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: nanoseconds) }

    /// What is due, in order.
    private func run(_ queue: inout TimerQueue, until now: UInt64) {
        while let action = queue.takeNextDue(at: at(now)) { action() }
    }

    @Test("timers with equal deadlines fire in the order they were set, and none early")
    func equalDeadlines() {
        var queue = TimerQueue()
        var fired: [String] = []
        for name in ["b1", "b2", "b3"] { _ = queue.add(at(20)) { fired.append(name) } }
        _ = queue.add(at(10)) { fired.append("a") }
        for name in ["b4", "b5"] { _ = queue.add(at(20)) { fired.append(name) } }
        run(&queue, until: 9)
        #expect(fired.isEmpty && queue.peekDeadline() == at(10))
        run(&queue, until: 19)
        #expect(fired == ["a"] && queue.peekDeadline() == at(20))
        run(&queue, until: 20)
        #expect(fired == ["a", "b1", "b2", "b3", "b4", "b5"] && queue.peekDeadline() == nil)
    }

    @Test("a cancelled timer leaves the others, and cancelling one that has fired does nothing")
    func cancel() {
        var queue = TimerQueue()
        var fired: [Int] = []
        let timers = (1...5).map { number in queue.add(at(UInt64(number))) { fired.append(number) } }
        queue.cancel(timers[0])
        queue.cancel(timers[2])
        #expect(queue.peekDeadline() == at(2))
        run(&queue, until: 4)
        queue.cancel(timers[1])
        queue.cancel(timers[1])
        run(&queue, until: 5)
        #expect(fired == [2, 4, 5])
    }

    @Test("a timer that is set again, later or sooner, fires once at its new time")
    func rearm() {
        var queue = TimerQueue()
        var fired: [UInt64] = []
        var timer = queue.add(at(10)) { fired.append(10) }
        for deadline: UInt64 in [30, 5, 20] {
            queue.cancel(timer)
            timer = queue.add(at(deadline)) { fired.append(deadline) }
        }
        run(&queue, until: 19)
        #expect(fired.isEmpty)
        run(&queue, until: 100)
        #expect(fired == [20])
    }

    @Test(
        "many timers, set and cancelled at random, fire in order and once",
        arguments: 1...20 as ClosedRange<UInt64>)
    func random(_ seed: UInt64) {
        var state = seed
        func below(_ limit: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % limit
        }
        var queue = TimerQueue()
        var expected: [(deadline: UInt64, number: Int, timer: TimerID)] = []
        var fired: [Int] = []
        for number in 0..<1_000 {
            let deadline = below(50)
            expected.append((deadline, number, queue.add(at(deadline)) { fired.append(number) }))
            // More are cancelled than stay: the queue is compacted.
            while below(8) > 0, !expected.isEmpty, expected.count > 20 {
                queue.cancel(expected.remove(at: Int(below(UInt64(expected.count)))).timer)
            }
        }
        run(&queue, until: 50)
        #expect(fired == expected.sorted { ($0.deadline, $0.number) < ($1.deadline, $1.number) }.map(\.number))
    }
}
