import Glibc

/// A port of this machine where connections are taken and nothing is ever said.
final class SilentListener: Sendable {
    let port: UInt16
    private let socket: Int32

    init() throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let (socket, size) = (socket, length)
        let isListening = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                bind(socket, name, size) == 0 && listen(socket, 8) == 0 && getsockname(socket, name, &length) == 0
            }
        }
        guard isListening else { throw Fault(errno: errno) }
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(socket) }

    /// Takes the next connection and reads until its client ends it; false where that takes more than ten seconds.
    func nextConnectionEnds() -> Bool {
        var timeout = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        let connection = accept(socket, nil, nil)
        guard connection >= 0, fcntl(connection, F_SETFD, FD_CLOEXEC) == 0 else { return false }
        defer { close(connection) }
        setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var bytes = [UInt8](repeating: 0, count: 256)
        while true {
            let count = read(connection, &bytes, bytes.count)
            // A reset is an end, too.
            if count <= 0 { return count == 0 || errno == ECONNRESET }
        }
    }

    struct Fault: Error {
        let errno: Int32
    }
}
