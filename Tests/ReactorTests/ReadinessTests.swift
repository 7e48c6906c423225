import Glibc
import Reactor
import SocketPairs
import Testing

@Suite("Readiness events of a descriptor")
struct ReadinessTests {
    /// What is told first of one end of a pair of sockets, after `act` was done to the other.
    private func told(
        _ interest: Interest, _ act: @escaping @Sendable (_ own: Int32, _ peer: Int32) -> Void
    ) async throws -> Readiness {
        let loop = try EventLoop(name: "test")
        try loop.start()
        defer { loop.stop() }
        return try await loop.runTask { poller in
            let (own, peer) = socketPair()
            defer { close(own) }
            act(own, peer)
            return try await withCheckedThrowingContinuation { done in
                let handler = FirstEvent { events in
                    poller.unwatch(own)
                    done.resume(returning: events)
                }
                do { try poller.watch(own, for: interest, handler) } catch { done.resume(throwing: error) }
            }
        }
    }

    @Test("when the peer has finished sending, the events are readable and peer closed, without hang-up")
    func halfClose() async throws {
        let events = try await told(.readable) { _, peer in
            shutdown(peer, Int32(SHUT_WR))
            // Kept open to the end of the process: a close would be more than a half-close.
            _ = dup(peer)
        }
        #expect(events == [.readable, .peerClosed])
    }

    @Test("when the peer is gone, hang-up is reported even to an owner with no interest")
    func hangUp() async throws {
        let interested = try await told(.readable) { _, peer in close(peer) }
        #expect(interested == [.readable, .peerClosed, .hangUp])
        let indifferent = try await told([]) { _, peer in close(peer) }
        #expect(indifferent == [.hangUp])
    }

    @Test("when the peer left without reading, an error is reported even to an owner with no interest")
    func reset() async throws {
        let events = try await told([]) { own, peer in
            _ = send(own, "x", 1, 0)
            close(peer)
        }
        #expect(events == [.hangUp, .error])
    }

    @Test("a socket is writable until it is full")
    func writable() async throws {
        let empty = try await told(.writable) { _, _ in }
        #expect(empty == [.writable])
        let full = try await told([.writable, .readable]) { own, peer in
            let piece = [UInt8](repeating: 0, count: 1 << 16)
            while send(own, piece, piece.count, Int32(MSG_DONTWAIT)) > 0 {}
            _ = send(peer, "x", 1, 0)
        }
        #expect(full == [.readable])
    }
}

private final class FirstEvent: ReadinessHandler {
    private let body: (Readiness) -> Void

    init(_ body: @escaping (Readiness) -> Void) { self.body = body }

    func handleReadiness(_ events: Readiness) { body(events) }
}
