import Contract
import Device
import Domain
import Foundation
import TestHTTPServer
import Testing

/// A server that takes one connection after the other and answers each with the same bytes, or not at all.
private final class CrudeServer: @unchecked Sendable {
    let port: UInt16
    private let listener: Int32

    /// - Parameter linger: whether the connection stays open after the bytes.
    init(_ answer: String, linger: Bool = false) throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { plain in
                bind(listener, plain, length) == 0 && listen(listener, 8) == 0
                    && getsockname(listener, plain, &length) == 0
            }
        }
        try #require(bound)
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread {
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { break }
                _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
                var buffer = [UInt8](repeating: 0, count: 4_096)
                _ = recv(connection, &buffer, buffer.count, 0)
                _ = answer.withCString { send(connection, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
                if linger {
                    _ = recv(connection, &buffer, buffer.count, 0)
                }
                close(connection)
            }
            // Only the thread knows when nobody accepts from this number any more, and another socket may get it.
            close(listener)
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }
}

@Suite("HTTP to the server")
struct TransportTests {
    private func send(_ answer: String, linger: Bool = false) async throws -> TransportResponse {
        let server = try CrudeServer(answer, linger: linger)
        let address = try #require(ServerAddress("http://127.0.0.1:\(server.port)"))
        let transport = try HTTPTransport(address, timeout: linger ? .milliseconds(600) : .seconds(120))
        defer { _ = server }
        return try await transport.send(TransportRequest(method: .get, target: "/x?y=1", token: nil, body: []))
    }

    @Test("the transport returns status, body, Retry-After and the server's date")
    func fine() async throws {
        let response = try await send(
            "HTTP/1.1 503 Busy\r\nDate: Tue, 10 Mar 2026 12:00:00 GMT\r\nRetry-After: 9\r\nContent-Length: 2\r\n\r\nhi")
        #expect(response.status == 503 && response.body == Array("hi".utf8) && response.retryAfter == 9)
        #expect(response.date == Timestamp(seconds: 1_773_144_000))
    }

    @Test("a redirect is returned as an answer, and not followed")
    func redirect() async throws {
        let response = try await send(
            "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")
        #expect(response.status == 302)
    }

    @Test(
        "a malformed, a cut, a stalled and a missing answer each end in a transport error",
        arguments: [
            ("SSH-2.0-nonsense\r\n", false), ("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf", false),
            ("", true), ("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nslow", true), ("", false),
        ])
    func faults(answer: String, linger: Bool) async throws {
        do {
            let response = try await send(answer, linger: linger)
            Issue.record("an answer: \(response)")
        } catch let error as TransportError {
            #expect(linger ? error == .timedOut : error == .garbled || error == .unreachable, "\(error)")
        }
    }

    @Test("TLS with a known authority is accepted, and another's certificate is refused")
    func tls() async throws {
        try await TestHTTPServer.with(.tls(name: "127.0.0.1")) { server in
            let address = try #require(ServerAddress(server.url()))
            let request = TransportRequest(method: .get, target: "/hello", token: nil, body: [])
            let known = try HTTPTransport(address, authorities: server.authority)
            let response = try await known.send(request)
            #expect(response.status == 200 && response.body == Array("hello over HTTP/2".utf8))
            await #expect(throws: TransportError.untrusted) { try await HTTPTransport(address).send(request) }
        }
    }

    @Test("a response over the limit is refused before it is stored")
    func tooLarge() async throws {
        await #expect(throws: TransportError.tooLarge) {
            try await send("HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n")
        }
    }

    @Test("a port without a server is unreachable, and a cancelled request ends at once")
    func nobody() async throws {
        let address = try #require(ServerAddress("http://127.0.0.1:1"))
        let request = TransportRequest(method: .get, target: "/", token: nil, body: [])
        await #expect(throws: TransportError.unreachable) { try await HTTPTransport(address).send(request) }
        let server = try CrudeServer("", linger: true)
        let slow = try HTTPTransport(try #require(ServerAddress("http://127.0.0.1:\(server.port)")))
        let task = Task { try await slow.send(request) }
        task.cancel()
        await #expect(throws: TransportError.cancelled) { try await task.value }
        _ = server
    }
}
