import Postgres
import Reactor
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Long work on a loop")
struct CooperativeYieldTests {
    private final class Turns {
        var count = 0
        var isDone = false
    }

    @Test(
        "long work yields to its loop after every slice of lines, and a turn has one slice, however many work",
        arguments: [1, 16])
    func turns(workers: Int) async throws {
        try await TestServer.run { server in
            let perTurn = try await server.database.run { database in
                let (turns, poller) = (Turns(), database.poller)
                func next() {
                    turns.count += 1
                    if !turns.isDone { poller.runAtEndOfTurn(next) }
                }
                poller.runAtEndOfTurn(next)
                let work = Work()
                let slice = CooperativeYield(poller: poller)
                await slice.poller.yieldSlice()
                let tasks = (0..<workers).map { _ in
                    poller.spawnCancellable {
                        await poller.yieldSlice()
                        for index in 0..<(10 * CooperativeYield.linesPerTurn) {
                            await slice.yieldIfDue(after: index)
                            work.perTurn[turns.count, default: 0] += 1
                        }
                    }
                }
                for task in tasks { await task.value }
                turns.isDone = true
                return work.perTurn.values.sorted()
            }
            #expect(perTurn == [Int](repeating: CooperativeYield.linesPerTurn, count: 10 * workers))
        }
    }

    private final class Work {
        var perTurn: [Int: Int] = [:]
    }
}
