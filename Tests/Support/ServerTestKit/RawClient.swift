import Foundation
import JSON

/// An HTTP response as the server sent it.
struct Reply: Sendable {
    var status: Int
    var headers: [(name: String, value: String)]
    var body: [UInt8]
    /// The body as JSON; nil if its type is not JSON or it is invalid. It is parsed at each use.
    var json: JSONValue? {
        guard header("content-type")?.hasPrefix("application/json") == true else { return nil }
        return try? JSONValue(parsing: body.span)
    }

    /// Returns the first value of a header. The case of its name is ignored.
    func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    var text: String { String(decoding: body, as: UTF8.self) }
    /// The `code` of an error envelope.
    var errorCode: String? { json?["error"]?["code"]?.stringValue }
    /// The `details.reason` of an error envelope.
    var errorReason: String? { json?["error"]?["details"]?["reason"]?.stringValue }

    /// Returns the first name with an underscore in a message for people; nil if there is none, or if the message is
    /// about names.
    func wireName(in message: String) -> String? {
        if ["one of", "is called", "Did you mean"].contains(where: { message.contains($0) }) { return nil }
        return message.firstMatch(of: /\b[a-z0-9]+(?:_[a-z0-9]+)+\b/).map { String($0.output) }
    }
}

/// Sends HTTP/1.1 requests. Each has its own socket and its own thread, so a test may send any number at once.
enum RawClient {
    struct Fault: Error { let what: String }

    static func send(_ request: [UInt8], to port: UInt16) async throws -> Reply {
        let bytes = try await exchange(request, port)
        guard let reply = Reply(bytes) else { throw Fault(what: "unreadable answer of \(bytes.count) bytes") }
        return reply
    }

    /// Sends bytes as they are and returns all that comes back until the server closes.
    static func exchange(_ request: [UInt8], _ port: UInt16) async throws -> [UInt8] {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try blockingExchange(request, port) })
            }
        }
    }

    private static func blockingExchange(_ request: [UInt8], _ port: UInt16) throws -> [UInt8] {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Fault(what: "socket: \(errno)") }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        // A test that would hang fails instead.
        var timeout = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, Int32(SO_RCVTIMEO), &timeout, socklen_t(MemoryLayout<timeval>.size))
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw Fault(what: "connect: \(errno)") }
        var rest = request[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard sent > 0 else { break }
            rest = rest.dropFirst(sent)
        }
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count >= 0 else { throw Fault(what: "recv: \(errno)") }
            if count == 0 { return all }
            all += buffer.prefix(count)
        }
    }
}

extension Reply {
    /// Parses a whole response; nil if it is invalid.
    fileprivate init?(_ wire: [UInt8]) {
        guard let end = wire.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: wire[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count >= 2, let status = Int(words[1]) else { return nil }
        self.status = status
        headers = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (String(parts[0]), parts.count > 1 ? String(parts[1].drop { $0 == " " }) : "")
        }
        body = Array(wire[end.upperBound...])
        if header("transfer-encoding") == "chunked" { body = Self.unchunked(body) }
    }

    private static func unchunked(_ wire: [UInt8]) -> [UInt8] {
        var rest = wire[...]
        var body: [UInt8] = []
        while let line = rest.firstRange(of: Array("\r\n".utf8)),
            let size = Int(String(decoding: rest[..<line.lowerBound], as: UTF8.self), radix: 16), size > 0,
            rest.endIndex - line.upperBound >= size + 2
        {
            body += rest[line.upperBound..<line.upperBound + size]
            rest = rest[(line.upperBound + size + 2)...]
        }
        return body
    }
}
