import Testing

@testable import Server
@testable import ServerTestKit

@Suite("The queue of turns")
struct TurnQueueTests {
    /// Lets each key enter so often that all but the first few wait, and then one after another leave.
    private func order(limit: Int, limitPerKey: Int, _ wanted: [(key: String, count: Int)]) -> [String] {
        var turns = TurnQueue<String>(limit: limit, limitPerKey: limitPerKey, queueLimit: 1_000)
        var keys: [UInt64: String] = [:]
        var running: [String] = []
        var order: [String] = []
        for (key, count) in wanted {
            for _ in 0..<count {
                if turns.tryEnter(key) {
                    running.append(key)
                    order.append(key)
                } else {
                    let ticket = UInt64(keys.count)
                    keys[ticket] = key
                    let waits = turns.enqueue(key, ticket: ticket)
                    #expect(waits)
                }
            }
        }
        while !running.isEmpty {
            let next = turns.leave(running.removeFirst()).compactMap { keys[$0] }
            running += next
            order += next
        }
        #expect(turns.runningCount == 0 && turns.waitingCount == 0)
        return order
    }

    @Test("keys take turns, however many of one key wait")
    func roundRobin() {
        let order = order(limit: 1, limitPerKey: 1, [("a", 6), ("b", 2), ("c", 1)])
        #expect(order.joined() == "aabcabaaa")
    }

    @Test("a key has its limit of turns at a time, with any free capacity")
    func perKey() {
        var turns = TurnQueue<String>(limit: .max, limitPerKey: 2, queueLimit: 10)
        let entered = ["a", "a", "a", "b"].map { turns.tryEnter($0) }
        #expect(entered == [true, true, false, true])
        let waits = turns.enqueue("a", ticket: 1)
        let next = [turns.leave("b"), turns.leave("a")]
        #expect(waits && next == [[], [1]])
        // Who comes while others of the key wait does not go before them.
        let later = turns.enqueue("a", ticket: 2)
        let overtakes = turns.tryEnter("a")
        #expect(later && !overtakes)
    }

    @Test("a key may fill a quarter of the queue, and a withdrawn ticket leaves it")
    func bounds() {
        var turns = TurnQueue<String>(limit: 1, limitPerKey: 1, queueLimit: 8)
        _ = turns.tryEnter("x")
        let own = (0..<3).map { turns.enqueue("a", ticket: $0) }
        #expect(own == [true, true, false])
        let others = ["b", "b", "c", "c", "d", "d", "e"].enumerated().map { turns.enqueue($1, ticket: UInt64(10 + $0)) }
        #expect(others == [true, true, true, true, true, true, false])
        let withdrawn = [
            turns.withdraw("a", ticket: 0), turns.withdraw("a", ticket: 0), turns.withdraw("a", ticket: 1),
        ]
        #expect(withdrawn == [true, false, true])
        let next = turns.leave("x")
        #expect(next == [10] && turns.waitingCount == 5)
    }
}
