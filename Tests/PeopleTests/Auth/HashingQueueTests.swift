import Contract
import Dispatch
import Reactor
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("The queue of password hashing", .timeLimit(.minutes(10)))
struct HashingQueueTests {
    /// Runs `body` with a pool whose only thread is held until `release` is called.
    private func withHeldPool(
        _ body: (_ pool: BlockingPool, _ release: @Sendable () -> Void) async throws -> Void
    ) async throws {
        let pool = try BlockingPool(
            name: "test", threads: 1, lanes: PasswordHashing.Purpose.allCases.count, queueLimitPerLane: 32)
        defer { pool.stop() }
        let semaphore = DispatchSemaphore(value: 0)
        await withCheckedContinuation { (isHeld: CheckedContinuation<Void, Never>) in
            Task {
                try await pool.run {
                    isHeld.resume()
                    semaphore.wait()
                }
            }
        }
        try await body(pool) { semaphore.signal() }
    }

    /// What became of a call: refused with 503, or served.
    private static func outcome(
        _ what: String, _ body: () async throws -> Void
    ) async throws -> (what: String, isServed: Bool) {
        do {
            try await body()
            return (what, true)
        } catch let error as APIError where error.status == 503 {
            return (what, false)
        } catch is BlockingPool.BusyError {
            return (what, false)
        }
    }

    @Test("sign-ups from 90 addresses do not keep 15 addresses from signing in")
    func signUpsDoNotStarve() async throws {
        try await withHeldPool { pool, release in
            let hashing = PasswordHashing(pool, cost: .testing)
            try await withThrowingTaskGroup(of: (what: String, isServed: Bool).self) { group in
                for number in 0..<90 {
                    group.addTask {
                        try await Self.outcome("sign-up") { _ = try await hashing.hash("x", .signUp, for: number) }
                    }
                }
                var refused: [String] = []
                while refused.count < 90 - 32, let next = try await group.next() { refused.append(next.what) }
                for number in 0..<15 {
                    group.addTask {
                        try await Self.outcome("sign-in") {
                            _ = try await hashing.matches("x", against: nil, .signIn, for: number)
                        }
                    }
                }
                while pool.waitingCalls < 32 + 15 { await Task.yield() }
                release()
                var served: [String] = []
                while let next = try await group.next() {
                    if next.isServed { served.append(next.what) } else { refused.append(next.what) }
                }
                #expect(refused == Array(repeating: "sign-up", count: 58))
                #expect(served.count == 47 && served.count { $0 == "sign-in" } == 15)
            }
        }
    }

    @Test("sign-ins from one address that fill the queue make room for another address")
    func oneAddressFillsTheLane() async throws {
        try await withHeldPool { pool, release in
            let hashing = PasswordHashing(pool, cost: .testing)
            try await withThrowingTaskGroup(of: (what: String, isServed: Bool).self) { group in
                func signIn(_ address: String) {
                    group.addTask {
                        try await Self.outcome(address) {
                            _ = try await hashing.matches("x", against: nil, .signIn, for: address)
                        }
                    }
                }
                for _ in 0..<33 { signIn("many") }
                var ended = [try await group.next()]
                signIn("one")
                ended.append(try await group.next())
                #expect(ended.map { $0?.what } == ["many", "many"] && ended.allSatisfy { $0?.isServed == false })
                release()
                var served: [String] = []
                while let next = try await group.next() { if next.isServed { served.append(next.what) } }
                #expect(served.count == 32 && served.count { $0 == "one" } == 1)
            }
        }
    }

    @Test("a client that fills a lane makes room for another, and each call is answered once")
    func oneClientFillsTheLane() async throws {
        try await withHeldPool { pool, release in
            try await withThrowingTaskGroup(of: (what: String, isServed: Bool).self) { group in
                for _ in 0..<40 {
                    group.addTask { try await Self.outcome("many") { try await pool.run(lane: 1, client: 1) {} } }
                }
                var refused: [String] = []
                while refused.count < 8, let next = try await group.next() { refused.append(next.what) }
                for _ in 0..<10 {
                    group.addTask { try await Self.outcome("few") { try await pool.run(lane: 1, client: 2) {} } }
                }
                while refused.count < 18, let next = try await group.next() { refused.append(next.what) }
                #expect(refused == Array(repeating: "many", count: 18))
                release()
                var served: [String] = []
                while let next = try await group.next() { if next.isServed { served.append(next.what) } }
                #expect(served.count == 32 && served.count { $0 == "few" } == 10)
            }
        }
    }
}
