import Glibc
import SocketPairs

@testable import HTTP
@testable import Reactor

/// A connection of the server over a pair of sockets, on a loop that is turned by hand: after each step all that it
/// calls for has happened. For immediate routes only: the loop runs no task.
struct ScriptedConnection {
    private let pair: ScriptedPair

    init(_ application: Application) throws { pair = try ScriptedPair(application) }

    /// All that the server has sent.
    var output: [UInt8] { pair.output }

    func receive(_ input: [UInt8]) { pair.send(input) }

    /// The peer sends no more.
    func endInput() { pair.endSending() }
}

/// The loop, the peer's socket, and what has come from it.
private final class ScriptedPair {
    private(set) var output: [UInt8] = []
    private let loop: EventLoop
    private var peer: Int32
    private var buffer = [UInt8](repeating: 0, count: 16 << 10)

    init(_ application: Application) throws {
        loop = try EventLoop(name: "scripted")
        let (own, peer) = socketPair()
        _ = fcntl(own, F_SETFL, O_NONBLOCK)
        self.peer = peer
        loop.executor.adoptCurrentThread()
        loop.assumeIsolated { HTTPWorker(application, on: $0.poller).open(own, .loopback) }
    }

    /// The server's side ends with the peer's.
    deinit {
        close(peer)
        turn()
    }

    func send(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = min(bytes.count - sent, 64 << 10)
            // The server may have ended the connection: then there is nobody to send to.
            guard Glibc.send(peer, Array(bytes[sent..<sent + count]), count, Int32(MSG_NOSIGNAL)) == count else {
                break
            }
            sent += count
            runTwoTurns()
        }
        runTwoTurns()
    }

    func endSending() {
        shutdown(peer, Int32(SHUT_WR))
        runTwoTurns()
    }

    /// One turn takes what has come, and the next sends what found the socket full.
    private func runTwoTurns() {
        for _ in 0..<2 {
            turn()
            while case let count = recv(peer, &buffer, buffer.count, Int32(MSG_DONTWAIT)), count > 0 {
                output += buffer.prefix(count)
            }
        }
    }

    /// A turn that does not wait.
    private func turn() {
        loop.executor.adoptCurrentThread()
        loop.assumeIsolated { loop in
            loop.poller.schedule(at: loop.poller.now) {}
            loop.poller.turn()
        }
    }
}
