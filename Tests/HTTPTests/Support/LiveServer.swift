import Glibc
import HTTP
import Reactor

/// A server on a loopback port for the length of a test.
func withServer<Result>(
    _ application: Application, limits: Limits = Limits(), observer: (any RequestObserver)? = nil, loops count: Int = 1,
    _ body: (HTTPServer, UInt16) async throws -> Result
) async throws -> Result {
    let loops = try (0..<count).map { try EventLoop(name: "test-\($0)") }
    for loop in loops { try loop.start() }
    defer { for loop in loops { loop.stop() } }
    let server = HTTPServer(application, on: loops, limits: limits, observer: observer)
    let port = try await server.listen(on: "127.0.0.1", port: 0)
    let result = try await body(server, port)
    await server.drain(within: .zero)
    return result
}

/// A blocking client socket.
final class Client {
    let descriptor: Int32

    init(port: UInt16) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        // A test that would hang fails instead.
        var patience = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        precondition(connected == 0, "connect: \(errno)")
    }

    deinit { close(descriptor) }

    func send(_ octets: [UInt8]) {
        var sent = 0
        while sent < octets.count {
            let count = Glibc.send(descriptor, Array(octets[sent...]), octets.count - sent, Int32(MSG_NOSIGNAL))
            guard count > 0 else { return }
            sent += count
        }
    }
    func send(_ text: String) { send(octets(text)) }

    func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// One read; empty at the end of the stream.
    func receive(atMost count: Int = 65_536) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: count)
        let received = recv(descriptor, &buffer, count, 0)
        return Array(buffer.prefix(max(0, received)))
    }

    func receiveAll() -> [UInt8] {
        var all: [UInt8] = []
        while true {
            let piece = receive()
            if piece.isEmpty { return all }
            all += piece
        }
    }

    /// Reads until `text` has come.
    func receive(until text: String) -> [UInt8] {
        var all: [UInt8] = []
        while all.firstRange(of: Array(text.utf8)) == nil {
            let piece = receive()
            if piece.isEmpty { break }
            all += piece
        }
        return all
    }
}
