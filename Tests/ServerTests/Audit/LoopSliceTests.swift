import Postgres
import Reactor
import Testing

@testable import Server

@Suite("Long work on a loop")
struct LoopSliceTests {
    private final class Turns {
        var count = 0
        var isDone = false
    }

    @Test("the loop turns after every slice of lines")
    func turns() async throws {
        try await TestServer.run { server in
            let perTurn = try await server.database.run { database in
                let (turns, poller) = (Turns(), database.poller)
                func next() {
                    turns.count += 1
                    if !turns.isDone { poller.atEndOfTurn(next) }
                }
                poller.atEndOfTurn(next)
                var perTurn: [Int: Int] = [:]
                for index in 0..<(10 * LoopSlice.lines) {
                    await LoopSlice.endOfLine(index)
                    perTurn[turns.count, default: 0] += 1
                }
                turns.isDone = true
                return perTurn.values.sorted()
            }
            #expect(perTurn == [Int](repeating: LoopSlice.lines, count: 10))
        }
    }
}
