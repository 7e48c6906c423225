import Server
import Testing

@testable import ServerTestKit

@Suite("Randomness")
struct RandomnessTests {
    @Test("prefetched random bytes are handed out once")
    func once() async {
        let random = SystemRandomness()
        let lengths = [0, 10, 16, 24, 32, 127, 128, 129, 600]
        #expect(lengths.allSatisfy { random.bytes($0).count == $0 })
        let taken = await withTaskGroup(of: [[UInt8]].self) { group in
            for _ in 0..<4 { group.addTask { (0..<500).map { _ in random.bytes(16) } } }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(Set(taken).count == 2_000)
    }
}
