import Dispatch
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

/// A client's socket.
final class Client {
    let descriptor: Int32

    /// - Parameters:
    ///   - host: the last byte of the address to come from, 127.0.0.x.
    ///   - receiveBuffer: what the kernel may keep for a slow reader; nil leaves it at its default.
    init(port: UInt16, from host: UInt32? = nil, receiveBuffer: Int32? = nil) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        bePatient()
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        if let host {
            var own = address
            own.sin_port = 0
            own.sin_addr.s_addr = (UInt32(0x7F00_0000) | host).bigEndian
            let bound = withUnsafePointer(to: &own) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            precondition(bound == 0, "bind: \(errno)")
        }
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        precondition(connected == 0, "connect: \(errno)")
    }

    /// Takes a connected socket over.
    init(descriptor: Int32) {
        self.descriptor = descriptor
        bePatient()
    }

    /// A test that would hang fails instead.
    private func bePatient() {
        var timeout = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = Glibc.send(descriptor, Array(bytes[sent...]), bytes.count - sent, Int32(MSG_NOSIGNAL))
            guard count > 0 else { return }
            sent += count
        }
    }
    func send(_ text: String) { send(bytes(text)) }

    /// Ends the connection at once; what was sent and not read is lost.
    func reset() {
        var linger = Glibc.linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        // Connecting to no address ends a connection; the descriptor is closed with this value.
        var nobody = sockaddr()
        nobody.sa_family = sa_family_t(AF_UNSPEC)
        _ = connect(descriptor, &nobody, socklen_t(MemoryLayout<sockaddr>.size))
    }

    func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Everything until the peer ends the stream.
    func receiveAll() async -> [UInt8] { await receive { _ in false } }

    /// Reads until `text` has come.
    func receive(until text: String) async -> [UInt8] {
        await receive { $0.firstRange(of: Array(text.utf8)) != nil }
    }

    /// Waits on a thread of its own: the tasks of the server under test need those of the pool.
    private func receive(until isEnough: @escaping @Sendable ([UInt8]) -> Bool) async -> [UInt8] {
        let descriptor = descriptor
        return await withCheckedContinuation { continuation in
            DispatchQueue(label: "client").async {
                var all: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 65_536)
                while !isEnough(all) {
                    let count = recv(descriptor, &buffer, buffer.count, 0)
                    if count <= 0 { break }
                    all += buffer.prefix(count)
                }
                continuation.resume(returning: all)
            }
        }
    }
}
