import Foundation
import Reactor
import Testing

@testable import Server
@testable import ServerTestKit

/// Three servers over one database, writers that sleep, crash and burst, clocks that jump, consent that comes and goes,
/// sessions that are killed: and every reader ends up with every row it was entitled to.
@Suite("The feed under load without loss", .serialized)
struct FeedLossTests {
    /// How many runs: `NAGZ_LOSS_RUNS` for a longer look.
    private static let runs = ProcessInfo.processInfo.environment["NAGZ_LOSS_RUNS"].flatMap { Int($0) } ?? 2

    @Test("both kinds of clients receive every acknowledged write", arguments: 1...runs)
    func nothingIsLost(_ seed: Int) async throws {
        try await TestServer.run(toleratesFaults: true) { server in
            let account = try await LossHarness(seed: seed).run(server)
            #expect(account.lost == [])
            #expect(account.faults == [])
            #expect(account.acknowledged > 60 && account.rows > 1_500, "enough happened")
            print("loss harness, seed \(seed): \(account.summary)")
        }
    }

    @Test(
        "the loss test can fail: rows stamped before the lock, and the usual reader, lose events",
        arguments: [LossHarness.Flaw.stampedBeforeTheLock, .usualReader])
    func flawsAreFound(_ flaw: LossHarness.Flaw) async throws {
        // Whether a row slips past depends on who comes first on a busy machine: some run must show it, not each.
        let isFound = Locked(false)
        for seed in 3..<13 where !isFound.withLock({ $0 }) {
            try await TestServer.run(toleratesFaults: true) { server in
                let account = try await LossHarness(seed: seed, flaw: flaw).run(server)
                isFound.withLock { $0 = account.lost.contains { $0.contains("event") } }
            }
        }
        #expect(isFound.withLock { $0 })
    }
}
