import Reactor
import Testing

@Suite("Values bound to a loop")
struct LoopBoundTests {
    @Test("a value bound to a loop can be read on it")
    func onTheLoop() async throws {
        let loop = try EventLoop(name: "test")
        try loop.start()
        defer { loop.stop() }
        let bound = try await loop.runTask { _ in LoopBound(value: [1, 2]) }
        #expect(try await loop.runTask { _ in bound.value } == [1, 2])
    }

    @Test("reading a bound value on another loop ends a debug build")
    func elsewhere() async {
        await #expect(processExitsWith: .failure) {
            let loops = (try EventLoop(name: "one"), try EventLoop(name: "two"))
            try loops.0.start()
            try loops.1.start()
            let bound = try await loops.0.runTask { _ in LoopBound(value: 1) }
            _ = try await loops.1.runTask { _ in bound.value }
        }
    }

    @Test("binding a value outside a loop ends a debug build")
    func nowhere() async {
        await #expect(processExitsWith: .failure) { _ = LoopBound(value: 1) }
    }
}
