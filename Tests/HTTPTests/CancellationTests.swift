import HTTP
import Synchronization
import Testing

/// Waits for something that never comes, as a request waits for a session of a full pool; told of cancellation.
private final class Waiting: Sendable {
    private enum State {
        case new
        case waiting(CheckedContinuation<Void, Never>)
        case ended
    }

    private let state = Mutex(State.new)

    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let hasEnded = state.withLock { state in
                    if case .ended = state { return true }
                    state = .waiting(continuation)
                    return false
                }
                if hasEnded { continuation.resume() }
            }
        } onCancel: {
            state.withLock { state in
                if case .waiting(let continuation) = state { continuation.resume() }
                state = .ended
            }
        }
    }
}

@Suite("Cancellation of handlers", .timeLimit(.minutes(10)))
struct CancellationTests {
    private let gate = Gate()
    private let ended = Gate()

    private func application() throws -> Application {
        let (gate, ended) = (gate, ended)
        return Application(
            router: try Router([
                Route(.get, "/handler") { _ in
                    await gate.open()
                    await gate.pass()
                    await Waiting().wait()
                    await ended.open()
                    await ended.pass()
                    return .noContent
                },
                Route(.get, "/stream") { _ in
                    Response(
                        .ok, .text,
                        body: .stream { writer in
                            try await writer.write(bytes("part"))
                            await gate.open()
                            await gate.pass()
                            await Waiting().wait()
                            await ended.open()
                            await ended.pass()
                        })
                },
                Route(.get, "/alive") { _ in .text(.ok, Task.isCancelled ? "cancelled" : "alive") },
            ]))
    }

    @Test("a handler is cancelled when the peer resets the connection", arguments: ["/handler", "/stream"])
    func reset(_ path: String) async throws {
        try await withServer(try application()) { _, port in
            let client = Client(port: port)
            client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
            await gate.arrived()
            client.reset()
            await ended.arrived()
        }
    }

    @Test("a handler is cancelled when a drain's deadline has passed", arguments: ["/handler", "/stream"])
    func drain(_ path: String) async throws {
        try await withServer(try application()) { server, port in
            let client = Client(port: port)
            client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
            await gate.arrived()
            await server.drain(within: .zero)
            await ended.arrived()
            withExtendedLifetime(client) {}
        }
    }

    @Test("a handler is not cancelled when the peer has only finished sending")
    func halfClose() async throws {
        try await withServer(try application()) { _, port in
            let client = Client(port: port)
            client.send(String(repeating: "GET /alive HTTP/1.1\r\nHost: a\r\n\r\n", count: 3))
            client.endSending()
            #expect(answers(in: await client.receiveAll()).map(\.text) == ["alive", "alive", "alive"])
        }
    }
}
