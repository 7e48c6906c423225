import Contract
import Dispatch
import Foundation
import Reactor
import Synchronization
import Testing

@testable import Server

@Suite("Waiting for a password to be hashed")
struct HashingQueueTests {
    /// Runs `body` with a pool whose only thread is held until `release` is called.
    private func withHeldPool(
        _ body: (_ pool: BlockingPool, _ release: @Sendable () -> Void) async throws -> Void
    ) async throws {
        let pool = try BlockingPool(
            name: "test", threads: 1, lanes: PasswordHashing.Lane.allCases.count, queueLimit: 32)
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

    @Test("ninety addresses that sign up keep none of fifteen from signing in")
    func signUpsDoNotStarve() async throws {
        try await withHeldPool { pool, release in
            let hashing = PasswordHashing(pool, cost: .testing)
            let finished = Mutex<[String]>([])
            try await withThrowingTaskGroup(of: (what: String, isDone: Bool).self) { group in
                func attempt(_ what: String, _ body: @escaping @Sendable () async throws -> Void) {
                    group.addTask {
                        do {
                            try await body()
                            finished.withLock { $0.append(what) }
                            return (what, true)
                        } catch let error as APIError where error.status == 503 {
                            return (what, false)
                        }
                    }
                }
                for number in 0..<90 {
                    attempt("sign-up") { _ = try await hashing.hash("secret", .signUp, for: number) }
                }
                var refused: [String] = []
                while refused.count < 90 - 32, let next = try await group.next() { refused.append(next.what) }
                for number in 0..<15 {
                    attempt("sign-in") { _ = try await hashing.verify("x", against: nil, .signIn, for: number) }
                }
                while pool.waiting < 32 + 15 { await Task.yield() }
                release()
                while let next = try await group.next() { if !next.isDone { refused.append(next.what) } }
                #expect(refused == Array(repeating: "sign-up", count: 58))
            }
            #expect(finished.withLock { $0.count { $0 == "sign-in" } } == 15)
            #expect(finished.withLock { $0.count } == 47)
        }
    }

    @Test("whoever fills a lane makes room for others, and each call is answered once")
    func oneClientFillsTheLane() async throws {
        try await withHeldPool { pool, release in
            try await withThrowingTaskGroup(of: (client: Int, isDone: Bool).self) { group in
                func attempt(_ client: Int) {
                    group.addTask {
                        do {
                            try await pool.run(lane: 1, client: client) {}
                            return (client, true)
                        } catch {
                            return (client, false)
                        }
                    }
                }
                for _ in 0..<40 { attempt(1) }
                var refused: [Int] = []
                while refused.count < 8, let next = try await group.next() { refused.append(next.client) }
                for _ in 0..<10 { attempt(2) }
                while refused.count < 18, let next = try await group.next() { refused.append(next.client) }
                #expect(refused == Array(repeating: 1, count: 18))
                release()
                var served: [Int] = []
                while let next = try await group.next() { if next.isDone { served.append(next.client) } }
                #expect(served.count == 32 && served.count { $0 == 2 } == 10)
            }
        }
    }
}
