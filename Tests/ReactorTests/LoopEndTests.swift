import Dispatch
import Foundation
import Reactor
import Testing

@Suite("Tasks that outlive their loop")
struct LoopEndTests {
    /// The thread sanitizer makes a loop and its thread many times dearer.
    private static let loops = ProcessInfo.processInfo.environment["NAGZ_FEWER_TESTS"] == nil ? 1_000 : 200

    /// Runs `body` while a loop serves, ends the loop, and returns when its thread has left it.
    private func run(_ body: @Sendable (EventLoop) async throws -> Void) async throws {
        let loop = try EventLoop(name: "test")
        try await withThrowingTaskGroup { group in
            group.addTask {
                await withCheckedContinuation { ended in
                    DispatchQueue.global().async {
                        loop.run()
                        ended.resume()
                    }
                }
            }
            try await body(loop)
            loop.stop()
            try await group.waitForAll()
        }
    }

    @Test("a task that is resumed after its loop's end runs to its end")
    func resumedAfterTheEnd() async throws {
        let (gate, task) = (Gate(), Outcome())
        try await run { loop in
            try await loop.runTask { poller in
                poller.spawn {
                    await gate.wait()
                    poller.assertIsolated()
                    task.finish(with: 42)
                }
            }
        }
        gate.open()
        #expect(await task.value() == 42)
    }

    @Test("long work in slices runs to its end after its loop has ended")
    func slicesAfterTheEnd() async throws {
        let tasks = [Outcome(), Outcome(), Outcome()]
        try await run { loop in
            try await loop.runTask { poller in
                for (number, task) in tasks.enumerated() {
                    poller.spawn {
                        for _ in 0..<10_000 { await poller.yieldSlice() }
                        task.finish(with: number)
                    }
                }
            }
        }
        for (number, task) in tasks.enumerated() { #expect(await task.value() == number) }
    }

    @Test("tasks on a loop that has ended still run and return")
    func askedAfterTheEnd() async throws {
        let loop = try EventLoop(name: "test")
        loop.stop()
        loop.run()
        let answers = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 1...100 {
                group.addTask {
                    try await loop.runTask { poller in
                        poller.assertIsolated()
                        return number
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(answers == 5_050)
    }

    @Test("a loop whose last reference ends in its own job ends with its descriptors", .timeLimit(.minutes(10)))
    func lastReference() async throws {
        for _ in 0..<Self.loops {
            let outcome = Outcome()
            do {
                let loop = try EventLoop(name: "test")
                try loop.start()
                // The job that is enqueued here holds the only reference that is left when `stop` lets the thread go.
                loop.post { loop in
                    loop.stop()
                    outcome.finish(with: 1)
                }
            }
            #expect(await outcome.value() == 1)
        }
    }
}

/// Lets waiting tasks go on once it is open.
private actor Gate {
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func wait() async {
        if isOpen { return }
        await withCheckedContinuation { waiting.append($0) }
    }

    nonisolated func open() { Task { await letAllPass() } }

    private func letAllPass() {
        isOpen = true
        waiting.forEach { $0.resume() }
        waiting = []
    }
}

/// What a task came to.
private actor Outcome {
    private var result: Int?
    private var waiting: [CheckedContinuation<Int, Never>] = []

    nonisolated func finish(with value: Int) { Task { await set(value) } }

    private func set(_ value: Int) {
        result = value
        waiting.forEach { $0.resume(returning: value) }
        waiting = []
    }

    func value() async -> Int {
        if let result { return result }
        return await withCheckedContinuation { waiting.append($0) }
    }
}
