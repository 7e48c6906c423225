import Testing

@testable import HTTP

private func network(_ host: String) throws -> RemoteAddress.Network { try #require(RemoteAddress(host: host)).network }

@Suite("Memory budgets and connection limits")
struct MemoryBudgetTests {
    private let budget = MemoryBudget(limit: 1_600, limitPerAddress: 600, maxSmallBytes: 50)

    @Test("one address cannot reserve the memory of all")
    func byAddress() throws {
        let (own, other) = (try network("192.0.2.1"), try network("192.0.2.2"))
        let first = budget.reserve(500, for: own)
        let second = budget.reserve(101, for: own)
        let third = budget.reserve(600, for: other)
        let granted = [first != nil, second != nil, third != nil]
        #expect(granted == [true, false, true] && budget.reservedBytes == 1_100)
    }

    @Test("an IPv6 /64 counts as one address")
    func sixtyFour() throws {
        let first = budget.reserve(500, for: try network("2001:db8::1"))
        let second = budget.reserve(500, for: try network("2001:db8::ffff:1"))
        let third = budget.reserve(500, for: try network("2001:db8:0:1::1"))
        let granted = [first != nil, second != nil, third != nil]
        #expect(granted == [true, false, true])
    }

    @Test("the last sixteenth of the memory is for small reservations, however many addresses there are")
    func small() throws {
        let all = budget.reserve(1_500, for: nil)
        let large = budget.reserve(51, for: nil)
        let first = budget.reserve(50, for: nil)
        let second = budget.reserve(50, for: nil)
        let third = budget.reserve(1, for: nil)
        let granted = [all != nil, large != nil, first != nil, second != nil, third != nil]
        #expect(granted == [true, false, true, true, false])
    }

    @Test("a reservation grows while there is memory, can always shrink, and ends with its owner")
    func resizing() throws {
        let own = try network("192.0.2.1")
        do {
            guard var held = budget.reserve(100, for: own) else { throw HTTPRequestError.memoryTaken }
            let resized = [held.resize(to: 600), held.resize(to: 601), held.resize(to: 10)]
            #expect(resized == [true, false, true] && budget.reservedBytes == 10)
            _ = consume held
        }
        #expect(budget.reservedBytes == 0)
        let again = budget.reserve(600, for: own) != nil
        #expect(again)
    }

    @Test("an address has at most twice as many connections as are free, so that others always find room")
    func connections() throws {
        var limits = Limits()
        limits.maxConnections = 90
        limits.maxConnectionsPerAddress = 80
        let limiter = ConnectionLimiter(limits: limits)
        func connect(_ network: RemoteAddress.Network) -> Int { (0..<100).count { _ in limiter.admit(network) } }
        let counts = try (1...4).map { connect(try network("192.0.2.\($0)")) }
        #expect(counts == [60, 20, 7, 2])
        for _ in 0..<60 { limiter.release(try network("192.0.2.1")) }
        #expect(connect(try network("192.0.2.9")) == 41)
    }

    @Test("by default one address cannot have all connections")
    func defaults() {
        let limits = Limits()
        #expect(limits.maxConnectionsPerAddress < limits.maxConnections)
        #expect(limits.maxRequestMemoryBytesPerAddress < limits.maxRequestMemoryBytes)
        #expect(limits.maxAnswerMemoryBytesPerAddress < limits.maxAnswerMemoryBytes)
    }
}
