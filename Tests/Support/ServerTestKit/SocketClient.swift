import Domain
import Foundation
import JSON

@testable import Server

/// A WebSocket client with its own socket. Each wait has its own thread. Only one task at a time may use the client.
final class SocketClient: @unchecked Sendable {
    /// A frame from the server, or an end.
    enum Incoming: Hashable, Sendable {
        case frame(JSONValue)
        case close(Int)
        /// The connection ended.
        case end
    }

    /// The status of the response to the opening request.
    let status: Int
    /// The body of that response; empty if it opened a WebSocket.
    let body: String
    private let descriptor: Int32
    private var rest: [UInt8]

    private init(_ descriptor: Int32, _ status: Int, _ body: String, _ rest: [UInt8]) {
        (self.descriptor, self.status, self.body, self.rest) = (descriptor, status, body, rest)
    }

    deinit { close(descriptor) }

    /// - Parameters:
    ///   - query: the query of `/api/v1/ws`.
    ///   - host: the last byte of the address to come from, 127.0.0.x.
    ///   - receiveBuffer: the size of the kernel's receive buffer in bytes; nil for the default.
    static func open(
        _ port: UInt16, query: String, origin: String? = nil, host: UInt32 = 1, receiveBuffer: Int32? = nil
    ) async throws -> SocketClient {
        let head =
            "GET /api/v1/ws?\(query) HTTP/1.1\r\nHost: test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            + (origin.map { "Origin: \($0)\r\n" } ?? "") + "\r\n"
        return try await onThread {
            let descriptor = try connected(port, host, receiveBuffer)
            try write(Array(head.utf8), to: descriptor)
            var bytes: [UInt8] = []
            while bytes.firstRange(of: Array("\r\n\r\n".utf8)) == nil {
                guard let more = try read(from: descriptor) else { throw RawClient.Fault(what: "no answer") }
                bytes += more
            }
            let end = bytes.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound ?? bytes.count
            let words = String(decoding: bytes[..<end], as: UTF8.self).split(separator: " ")
            let status = Int(words[1]) ?? 0
            let rest = Array(bytes[end...])
            return SocketClient(descriptor, status, status == 101 ? "" : String(decoding: rest, as: UTF8.self), rest)
        }
    }

    /// Returns the next text or close frame. Other frames, such as pings, are ignored.
    func next() async throws -> Incoming {
        try await Self.onThread { [self] in
            while true {
                if let incoming = parse() { return incoming }
                guard let more = try Self.read(from: descriptor) else { return .end }
                rest += more
            }
        }
    }

    /// Returns the next event.
    func event() async throws -> JSONValue {
        let incoming = try await next()
        guard case .frame(let event) = incoming else { throw RawClient.Fault(what: "\(incoming) instead of an event") }
        return event
    }

    /// Waits for the close frame, answers it, and returns its code; nil if the connection ends without one. Events
    /// before it are ignored.
    func closeCode() async throws -> Int? {
        while true {
            switch try await next() {
            case .frame: continue
            case .close(let code):
                try send(0x88, [UInt8(code >> 8), UInt8(code & 0xFF)])
                return code
            case .end: return nil
            }
        }
    }

    func send(text: String) throws { try send(0x81, Array(text.utf8)) }

    /// Sends a `ping` event, and waits for its answer. Everything that the server sent before has then arrived.
    /// - Returns: the events before the answer.
    func eventsBeforePong() async throws -> [JSONValue] {
        try send(text: "ping")
        var events: [JSONValue] = []
        while true {
            let event = try await event()
            if event["event"]?.stringValue == "pong" { return events }
            events.append(event)
        }
    }

    private func send(_ first: UInt8, _ payload: [UInt8]) throws {
        let key: [UInt8] = [1, 2, 3, 4]
        let masked = payload.enumerated().map { $1 ^ key[$0 % 4] }
        try Self.write([first, 0x80 | UInt8(payload.count)] + key + masked, to: descriptor)
    }

    private func parse() -> Incoming? {
        while rest.count >= 2 {
            var (start, count) = (2, Int(rest[1]))
            if count == 126 {
                guard rest.count >= 4 else { return nil }
                (start, count) = (4, Int(rest[2]) << 8 | Int(rest[3]))
            }
            guard rest.count >= start + count else { return nil }
            let (opcode, payload) = (rest[0] & 0x0F, Array(rest[start..<start + count]))
            rest.removeFirst(start + count)
            switch opcode {
            case 0x1: return .frame((try? JSONValue(parsing: payload.span)) ?? .null)
            case 0x8: return .close(payload.count == 2 ? Int(payload[0]) << 8 | Int(payload[1]) : 1005)
            default: continue
            }
        }
        return nil
    }

    // MARK: System calls

    private static func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value
    {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
        }
    }

    private static func connected(_ port: UInt16, _ host: UInt32, _ receiveBuffer: Int32?) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var timeout = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, Int32(SO_RCVTIMEO), &timeout, socklen_t(MemoryLayout<timeval>.size))
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        func address(_ host: UInt32, _ port: UInt16) -> sockaddr_in {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = (UInt32(0x7F00_0000) | host).bigEndian
            return address
        }
        func withSocketAddress(
            _ address: sockaddr_in, _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32
        ) -> Int32 {
            withUnsafePointer(to: address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    call($0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
        guard withSocketAddress(address(host, 0), { bind(descriptor, $0, $1) }) == 0,
            withSocketAddress(address(1, port), { connect(descriptor, $0, $1) }) == 0
        else {
            close(descriptor)
            throw RawClient.Fault(what: "connect: \(errno)")
        }
        return descriptor
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard sent > 0 else { throw RawClient.Fault(what: "send: \(errno)") }
            rest = rest.dropFirst(sent)
        }
    }

    /// Reads bytes; nil at the end of the connection.
    private static func read(from descriptor: Int32) throws -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count < 0, errno == EAGAIN { throw RawClient.Fault(what: "nothing came in two minutes") }
        return count > 0 ? Array(buffer.prefix(count)) : nil
    }
}

extension TestServer {
    /// Opens a person's WebSocket; by default for their own family.
    func socket(
        _ person: TestPerson, family: FamilyID? = nil, token: String? = nil, origin: String? = nil, host: UInt32 = 1,
        receiveBuffer: Int32? = nil
    ) async throws -> SocketClient {
        let family = (family ?? person.familyID)?.description ?? ""
        return try await SocketClient.open(
            port, query: "token=\(token ?? self.token(person))&family_id=\(family)", origin: origin, host: host,
            receiveBuffer: receiveBuffer)
    }
}
