import Dispatch
import Reactor
import Testing

@Suite struct EventLoopTests {
    /// Runs `body` on a fresh loop with a thread of its own and returns what it returns.
    private func onLoop<Value: Sendable>(
        _ body: @escaping @Sendable (isolated EventLoop) async throws -> Value
    ) async throws -> Value {
        let loop = try EventLoop(name: "test")
        try loop.start()
        defer { loop.stop() }
        return try await body(loop)
    }

    @Test func timersFireInOrderOfTheirDeadlines() async throws {
        let order = try await onLoop { loop in
            await withCheckedContinuation { (done: CheckedContinuation<[Int], Never>) in
                var fired: [Int] = []
                for number in [3, 1, 2] {
                    loop.poller.schedule(at: loop.poller.now + .milliseconds(number)) {
                        fired.append(number)
                        if number == 3 { done.resume(returning: fired) }
                    }
                }
            }
        }
        #expect(order == [1, 2, 3])
    }

    @Test func aCancelledTimerNeverFires() async throws {
        let fired = try await onLoop { loop in
            await withCheckedContinuation { (done: CheckedContinuation<Bool, Never>) in
                var fired = false
                let timer = loop.poller.schedule(at: loop.poller.now + .milliseconds(1)) { fired = true }
                loop.poller.cancel(timer)
                loop.poller.schedule(at: loop.poller.now + .milliseconds(2)) { done.resume(returning: fired) }
            }
        }
        #expect(!fired)
    }

    @Test func workFromManyThreadsRunsOnTheLoopOnceEach() async throws {
        let loop = try EventLoop(name: "test")
        try loop.start()
        defer { loop.stop() }
        let total = Total()
        for number in 1...1_000 {
            DispatchQueue.global().async {
                loop.post { loop in
                    loop.preconditionIsolated()
                    total.add(number)
                }
            }
        }
        #expect(await total.value(after: 1_000) == 500_500)
    }

    @Test func aCancellableTaskIsCancelledWithItsCallerBeforeItBeginsOrLater() async throws {
        let loop = try EventLoop(name: "test")
        try loop.start()
        defer { loop.stop() }
        for isLate in [false, true] {
            let (begun, hasBegun) = AsyncStream.makeStream(of: Void.self)
            let task = Task {
                if !isLate { withUnsafeCurrentTask { $0?.cancel() } }
                return await loop.runCancellableTask { _ in
                    hasBegun.finish()
                    // A stream without elements ends when its task is cancelled.
                    for await _ in AsyncStream<Never>.makeStream().stream {}
                    return Task.isCancelled
                }
            }
            for await _ in begun {}
            task.cancel()
            #expect(await task.value)
        }
    }

    @Test func blockingWorkReturnsToTheLoop() async throws {
        let pool = try BlockingPool(name: "pool", threads: 1, queueLimitPerLane: 1)
        defer { pool.stop() }
        try await onLoop { loop in
            let value = try await pool.run { 42 }
            loop.preconditionIsolated()
            #expect(value == 42)
        }
    }

    @Test func aFullQueueRefuses() async throws {
        let pool = try BlockingPool(name: "pool", threads: 1, queueLimitPerLane: 1)
        defer { pool.stop() }
        let isHeld = DispatchSemaphore(value: 0)
        let release = DispatchSemaphore(value: 0)
        let outcomes = await withTaskGroup { group in
            group.addTask {
                await Self.outcome(pool) {
                    isHeld.signal()
                    release.wait()
                }
            }
            await withCheckedContinuation { (held: CheckedContinuation<Void, Never>) in
                DispatchQueue.global().async {
                    isHeld.wait()
                    held.resume()
                }
            }
            // The only thread is held and one place is free: of three calls two are refused at once.
            for _ in 1...3 { group.addTask { await Self.outcome(pool) {} } }
            var outcomes: [String] = []
            for await outcome in group {
                outcomes.append(outcome)
                if outcomes.count == 2 { release.signal() }
            }
            return outcomes
        }
        #expect(outcomes == ["refused", "refused", "ran", "ran"])
    }

    private static func outcome(
        _ pool: BlockingPool, _ body: @escaping @Sendable () -> Void
    ) async -> String {
        do {
            try await pool.run(body)
            return "ran"
        } catch {
            return "refused"
        }
    }
}

/// Adds up numbers from any thread and tells when enough have come.
private actor Total {
    private var sum = 0
    private var count = 0
    private var waiting: (count: Int, continuation: CheckedContinuation<Int, Never>)?

    nonisolated func add(_ number: Int) { Task { await take(number) } }

    private func take(_ number: Int) {
        sum += number
        count += 1
        if let waiting, waiting.count == count { waiting.continuation.resume(returning: sum) }
    }

    func value(after expected: Int) async -> Int {
        if count >= expected { return sum }
        return await withCheckedContinuation { waiting = (expected, $0) }
    }
}
