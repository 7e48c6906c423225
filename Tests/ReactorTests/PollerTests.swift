import Glibc
import Reactor
import SocketPairs
import Testing

@Suite("Readiness, descriptors and turns")
struct PollerTests {
    private func onLoop<Value: Sendable>(
        _ body: @escaping @Sendable (Poller) async throws -> Value
    ) async throws -> Value {
        let loop = try EventLoop(name: "test")
        try loop.start()
        defer { loop.stop() }
        return try await loop.runTask(body)
    }

    @Test("a handler is called until it has read everything, and not after unwatch")
    func levelTriggered() async throws {
        let told = try await onLoop { poller in
            let pipe = Pipe()
            pipe.write("ab")
            return try await withCheckedThrowingContinuation { done in
                var told: [String] = []
                let handler = Handler {
                    told.append(pipe.readByte())
                    if told.count == 2 {
                        poller.unwatch(pipe.reader)
                        pipe.write("c")
                        poller.schedule(at: poller.now + .milliseconds(1)) { done.resume(returning: told) }
                    }
                }
                do { try poller.watch(pipe.reader, for: .readable, handler) } catch { done.resume(throwing: error) }
            }
        }
        #expect(told == ["a", "b"])
    }

    @Test("an event of a closed descriptor is not delivered to the next owner of its number")
    func reusedDescriptor() async throws {
        let outcome = try await onLoop { poller in
            let pipes = [Pipe(), Pipe()]
            // Both are readable in one turn. Whichever is told first replaces the other under the same number.
            for pipe in pipes { pipe.write("x") }
            return try await withCheckedThrowingContinuation { done in
                var isReplaced = false
                var toldOfNew = false
                do {
                    for (pipe, other) in [(pipes[0], pipes[1]), (pipes[1], pipes[0])] {
                        try poller.watch(
                            pipe.reader, for: .readable,
                            Handler {
                                _ = pipe.readByte()
                                guard !isReplaced else { return }
                                isReplaced = true
                                poller.unwatch(other.reader)
                                let number = other.reader
                                // A pipe without content takes the number over; nothing is to be told of it.
                                let new = Pipe()
                                guard dup2(new.reader, number) == number else { return }
                                try? poller.watch(number, for: .readable, Handler { toldOfNew = true })
                                poller.schedule(at: poller.now + .milliseconds(1)) {
                                    withExtendedLifetime(new) { done.resume(returning: (isReplaced, toldOfNew)) }
                                }
                            })
                    }
                } catch { done.resume(throwing: error) }
            }
        }
        #expect(outcome == (true, false))
    }

    @Test("an action that a turn's last action queues runs, though nothing else happens")
    func endOfTurnAgain() async throws {
        let order = try await onLoop { poller in
            await withCheckedContinuation { (done: CheckedContinuation<[Int], Never>) in
                var order: [Int] = []
                poller.runAtEndOfTurn {
                    order.append(1)
                    poller.runAtEndOfTurn {
                        order.append(2)
                        poller.runAtEndOfTurn { done.resume(returning: order + [3]) }
                    }
                }
            }
        }
        #expect(order == [1, 2, 3])
    }
}

private final class Handler: ReadinessHandler {
    private let body: () -> Void

    init(_ body: @escaping () -> Void) { self.body = body }

    func handleReadiness(_ events: Readiness) { body() }
}

/// A pair of sockets that is closed with the value.
private final class Pipe {
    let reader: Int32
    private let writer: Int32

    init() { (reader, writer) = socketPair() }

    deinit {
        close(reader)
        close(writer)
    }

    func write(_ text: String) { _ = Glibc.write(writer, text, text.utf8.count) }

    /// One byte as text; empty where there is none.
    func readByte() -> String {
        var byte: UInt8 = 0
        return read(reader, &byte, 1) == 1 ? String(UnicodeScalar(byte)) : ""
    }
}
