import Domain
import NagzAI
import Testing

@Suite("State of the network")
struct NetworkWatchTests {
    private func state(_ faults: [(seconds: Int64, isConnectionFault: Bool)], at seconds: Int64) -> NetworkState {
        var watch = NetworkWatch()
        for fault in faults {
            watch.record(.init(at: noon + .seconds(fault.seconds), isConnectionFault: fault.isConnectionFault))
        }
        return watch.state(at: noon + .seconds(seconds))
    }

    @Test("after a failed connection the network is offline for ten seconds")
    func offline() {
        #expect(state([(0, true)], at: 0) == .offline)
        #expect(state([(0, true)], at: 9) == .offline)
        #expect(state([(0, true)], at: 10) == .online)
        #expect(state([(0, true)], at: -1) == .online, "the clock was set back")
    }

    @Test("three faults in a minute make the network degraded for half a minute, and two do not")
    func degraded() {
        #expect(state([(0, false), (1, false)], at: 1) == .online)
        #expect(state([(0, false), (30, false), (59, false)], at: 60) == .degraded)
        #expect(state([(0, false), (30, false), (59, false)], at: 89) == .online)
        #expect(state([(0, false), (30, false), (60, false)], at: 60) == .online, "the first is a minute old")
        #expect(state([(0, true), (1, true), (2, true)], at: 20) == .degraded)
    }

    @Test("an answer makes the network online again")
    func answered() {
        var watch = NetworkWatch()
        watch.record(.init(at: noon, isConnectionFault: true))
        watch.recordAnswer()
        #expect(watch.state(at: noon) == .online && watch.faults.isEmpty)
    }
}
