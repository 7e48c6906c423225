import Synchronization
import Testing

@testable import Reactor

@Suite("The yield budget of a busy loop")
struct YieldBudgetTests {
    private static func moment(microseconds: UInt64) -> MonotonicTime {
        MonotonicTime(nanoseconds: 1_000_000_000 + microseconds * 1_000)
    }

    @Test("a run without yielding ends after 250 µs, and the next one begins")
    func limit() {
        var run = YieldBudget(from: Self.moment(microseconds: 0))
        let isOver = [249, 250, 251, 499, 500].map { run.takeYield(at: Self.moment(microseconds: $0)) }
        #expect(isOver == [false, true, false, false, true])
    }

    @Test("a wait for events begins a new run, and a call that finds events does not")
    func wait() {
        var run = YieldBudget(from: Self.moment(microseconds: 0))
        run.recordWait(from: Self.moment(microseconds: 100), to: Self.moment(microseconds: 149))
        #expect(run.takeYield(at: Self.moment(microseconds: 250)) == true)
        run.recordWait(from: Self.moment(microseconds: 400), to: Self.moment(microseconds: 450))
        #expect(run.takeYield(at: Self.moment(microseconds: 699)) == false)
        #expect(run.takeYield(at: Self.moment(microseconds: 700)) == true)
    }

    @Test("a busy loop yields repeatedly", .timeLimit(.minutes(1)))
    func busyLoop() async throws {
        let yields = Counter()
        let loop = try EventLoop(name: "busy") { yields.value.add(1, ordering: .relaxed) }
        try loop.start()
        defer { loop.stop() }
        // Each round is a job of the loop, so it never waits.
        let seen = try await loop.runTask { _ in
            while yields.value.load(ordering: .relaxed) < 3 { await Task.yield() }
            return yields.value.load(ordering: .relaxed)
        }
        #expect(seen >= 3)
    }

    private final class Counter: Sendable { let value = Atomic(0) }
}
