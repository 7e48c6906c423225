import Contract
import Dispatch
import Domain
import Foundation

/// HTTP/1.1 over a socket: one connection and one deadline for each request.
///
/// It follows no redirects, caches nothing and asks for no encoding. The blocking calls run on a queue of their own.
public final class SocketTransport: Transport {
    public let server: ServerAddress
    private let deadline: Duration
    private let queue = DispatchQueue(label: "nagz-device-http", attributes: .concurrent)

    public init(_ server: ServerAddress, deadline: Duration = .seconds(20)) {
        self.server = server
        self.deadline = deadline
    }

    public func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        let bytes = try bytes(of: request)
        let request = ClientRequest(server, endingAt: .now + deadline)
        let outcome: Result<TransportResponse, TransportError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                queue.async {
                    continuation.resume(returning: Result { () throws(TransportError) in try request.run(bytes) })
                }
            }
        } onCancel: {
            request.cancel()
        }
        return try outcome.get()
    }

    private func bytes(of request: TransportRequest) throws(TransportError) -> [UInt8] {
        var head = "\(request.method.rawValue) \(request.target) HTTP/1.1\r\nHost: \(server.authority)\r\n"
        head += "Connection: close\r\nAccept: application/json\r\n"
        if let token = request.token?.wireText {
            // Whatever the session's file contains, it cannot add a header field.
            guard token.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else { throw .garbled }
            head += "Authorization: Bearer \(token)\r\n"
        }
        if !request.body.isEmpty || request.method != .get {
            head += "Content-Type: application/json\r\nContent-Length: \(request.body.count)\r\n"
        }
        return Array("\(head)\r\n".utf8) + request.body
    }
}

/// One request on a connection of its own.
private final class ClientRequest: @unchecked Sendable {
    private let server: ServerAddress
    private let end: ContinuousClock.Instant
    private let lock = NSLock()
    /// Guarded by the lock, so that a cancellation never shuts down somebody else's descriptor.
    private var descriptor: Int32 = -1
    private var isCancelled = false

    init(_ server: ServerAddress, endingAt end: ContinuousClock.Instant) {
        self.server = server
        self.end = end
    }

    func cancel() {
        lock.withLock {
            isCancelled = true
            if descriptor >= 0 { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    func run(_ request: [UInt8]) throws(TransportError) -> TransportResponse {
        defer {
            lock.withLock {
                if descriptor >= 0 { close(descriptor) }
                descriptor = -1
            }
        }
        do throws(TransportError) {
            try connect()
            try send(request)
            return try receive()
        } catch {
            throw lock.withLock { isCancelled } ? .cancelled : error
        }
    }

    private func connect() throws(TransportError) {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(server.host, "\(server.port)", &hints, &list) == 0 else { throw .unreachable }
        defer { freeaddrinfo(list) }
        var next = list
        var fault = TransportError.unreachable
        while let address = next?.pointee {
            do throws(TransportError) { return try connect(to: address) } catch { fault = error }
            next = address.ai_next
        }
        throw fault
    }

    private func connect(to address: addrinfo) throws(TransportError) {
        let type = address.ai_socktype | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let opened = socket(address.ai_family, type, address.ai_protocol)
        guard opened >= 0 else { throw .unreachable }
        let isWanted = lock.withLock {
            if descriptor >= 0 { close(descriptor) }
            descriptor = opened
            return !isCancelled
        }
        guard isWanted else { throw .cancelled }
        if Foundation.connect(opened, address.ai_addr, address.ai_addrlen) == 0 { return }
        guard errno == EINPROGRESS else { throw .unreachable }
        try wait(for: Int16(POLLOUT))
        var (code, length) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
        guard getsockopt(opened, SOL_SOCKET, SO_ERROR, &code, &length) == 0, code == 0 else { throw .unreachable }
    }

    private func send(_ request: [UInt8]) throws(TransportError) {
        var sent = 0
        while sent < request.count {
            try wait(for: Int16(POLLOUT))
            let count = request[sent...].withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EAGAIN || errno == EINTR { continue }
            // A server may answer before it has read everything.
            guard count > 0 else { return }
            sent += count
        }
    }

    private func receive() throws(TransportError) -> TransportResponse {
        var parser = ResponseParser()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            try wait(for: Int16(POLLIN))
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EAGAIN || errno == EINTR { continue }
            guard count >= 0 else { throw .garbled }
            if count == 0 { return try parser.end() }
            if let response = try parser.take(buffer[..<count]) { return response }
        }
    }

    private func wait(for events: Int16) throws(TransportError) {
        while true {
            let left = end - .now
            guard left > .zero else { throw .timedOut }
            var request = pollfd(fd: descriptor, events: events, revents: 0)
            let milliseconds = Int32(clamping: Int64(left / .milliseconds(1)) + 1)
            let ready = poll(&request, 1, milliseconds)
            if ready > 0 { return }
            guard ready == 0 || errno == EINTR else { throw .unreachable }
        }
    }
}
