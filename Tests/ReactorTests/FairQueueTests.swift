import Reactor
import Testing

@Suite("A fair queue with lanes")
struct FairQueueTests {
    private func drained(_ queue: FairQueue<String>) -> [String] {
        var queue = queue
        var order: [String] = []
        while let element = queue.popFirst() { order.append(element) }
        return order
    }

    @Test("lanes take turns, and within a lane its clients do")
    func turns() {
        var queue = FairQueue<String>(lanes: 3, limitPerLane: 10)
        for number in 1...3 { #expect(queue.append("a\(number)", lane: 0, client: 1) == nil) }
        #expect(queue.append("b1", lane: 0, client: 2) == nil)
        for number in 1...2 { #expect(queue.append("c\(number)", lane: 2, client: 1) == nil) }
        #expect(queue.count == 6)
        #expect(drained(queue) == ["a1", "c1", "b1", "c2", "a2", "a3"])
    }

    @Test("many entries of one lane delay another lane by one of theirs at most")
    func crowd() {
        var queue = FairQueue<String>(lanes: 2, limitPerLane: 100)
        for number in 0..<90 { #expect(queue.append("sign-up", lane: 1, client: number) == nil) }
        for number in 0..<15 { #expect(queue.append("sign-in", lane: 0, client: number) == nil) }
        let order = drained(queue)
        #expect(order.prefix(30).count { $0 == "sign-in" } == 15)
        #expect(order.count == 105)
    }

    @Test("a full lane refuses its largest client, and makes room for others at that one's cost")
    func room() {
        var queue = FairQueue<String>(lanes: 2, limitPerLane: 4)
        for number in 1...4 { #expect(queue.append("a\(number)", lane: 0, client: 1) == nil) }
        #expect(queue.append("a5", lane: 0, client: 1) == "a5")
        #expect(queue.append("b1", lane: 0, client: 2) == "a4")
        #expect(queue.append("c1", lane: 0, client: 3) == "a3")
        #expect(queue.append("d1", lane: 0, client: 4) == "a2")
        #expect(queue.append("e1", lane: 0, client: 5) == "e1", "everybody has one place")
        #expect(queue.append("f1", lane: 1, client: 1) == nil, "the other lane is not full")
        #expect(queue.count == 5)
        #expect(drained(queue) == ["a1", "f1", "b1", "c1", "d1"])
    }

    @Test("the queue never exceeds its limit, and loses no entry")
    func accounting() {
        var queue = FairQueue<Int>(lanes: 3, limitPerLane: 5)
        var (given, served, refused) = (0, 0, 0)
        for number in 0..<5_000 {
            let client = (number &* 7919) % 11
            given += 1
            if queue.append(number, lane: (number / 3) % 3, client: client) != nil { refused += 1 }
            #expect(queue.count <= 15)
            if number % 4 == 0, queue.popFirst() != nil { served += 1 }
        }
        #expect(given == served + refused + queue.count)
        var empty = FairQueue<Int>(lanes: 1, limitPerLane: 0)
        #expect(empty.append(1, lane: 0, client: 0) == 1 && empty.popFirst() == nil)
    }
}
