import Reactor
import Synchronization
import TestHTTPServer
import Testing
import WebSocketProtocol

@testable import HTTPClient

/// Against a server that is not ours.
@Suite("WebSocket client")
struct WebSocketClientTests {
    /// What a socket received, and how it ended.
    private struct Hearing: Hashable, Sendable {
        var isOpen = false
        var messages: [String] = []
        var end: Result<WebSocketCloseCode?, HTTPClientError>?
    }

    private static func hear(
        _ url: String, authorities: String? = nil, limits: WebSocketClient.Limits = .init(),
        networks: NetworkGuard = HTTPClientTests.loopback, cancelsWhenOpen: Bool = false
    ) async throws -> Hearing {
        let loop = try EventLoop(name: "test")
        try loop.start()
        defer { loop.stop() }
        let hearing = Mutex(Hearing())
        let task = Mutex<Task<Void, Never>?>(nil)
        await withCheckedContinuation { continuation in
            loop.post { loop in
                let poller = loop.poller
                let listening = poller.spawnCancellable {
                    let socket = WebSocketClient(
                        poller, networks: networks, authoritiesPath: authorities, limits: limits)
                    let end: Result<WebSocketCloseCode?, HTTPClientError>
                    do throws(HTTPClientError) {
                        end = .success(
                            try await socket.receiveMessages(from: HTTPClientRequest("GET", url)) {
                                hearing.withLock { $0.isOpen = true }
                                if cancelsWhenOpen { task.withLock(\.self)?.cancel() }
                            } _: { message in
                                hearing.withLock { $0.messages.append(String(decoding: message, as: UTF8.self)) }
                            })
                    } catch {
                        end = .failure(error)
                    }
                    hearing.withLock { $0.end = end }
                    continuation.resume()
                }
                task.withLock { $0 = listening }
            }
        }
        return hearing.withLock(\.self)
    }

    private static let words = Hearing(
        isOpen: true, messages: ["one", "two", String(repeating: "é", count: 40_000)], end: .success(4_001))

    @Test("the WebSocket client receives messages of all lengths, and the close code")
    func plain() async throws {
        try await TestHTTPServer.with { server in
            let heard = try await Self.hear(server.url() + "/ws/words")
            #expect(heard == Self.words)
        }
    }

    @Test("the WebSocket client accepts TLS with a known authority, and refuses another")
    func tls() async throws {
        try await TestHTTPServer.with(.tls(name: "127.0.0.1")) { server in
            let url = server.url() + "/ws/words"
            let trusted = try await Self.hear(url, authorities: server.authority)
            #expect(trusted == Self.words)
            let untrusted = try await Self.hear(url)
            #expect(untrusted == Hearing(end: .failure(.untrusted)))
        }
    }

    @Test("a refused, too large, forbidden, unreachable or malformed WebSocket request ends in an error")
    func faults() async throws {
        try await TestHTTPServer.with { server in
            let refused = try await Self.hear(server.url() + "/nothing")
            #expect(refused == Hearing(end: .failure(.interrupted)))
            let large = try await Self.hear(server.url() + "/ws/large")
            #expect(large == Hearing(isOpen: true, end: .failure(.interrupted)))
            var limits = WebSocketClient.Limits()
            limits.maxMessageBytes = 300_000
            let allowed = try await Self.hear(server.url() + "/ws/large", limits: limits)
            let message = String(repeating: "a", count: 300_000)
            #expect(allowed == Hearing(isOpen: true, messages: [message], end: .success(4_001)))
            limits.maxMessageBytes -= 1
            let longer = try await Self.hear(server.url() + "/ws/large", limits: limits)
            #expect(longer == large)
            let own = NetworkGuard(allowing: [])
            let forbidden = try await Self.hear(server.url() + "/ws/words", networks: own)
            #expect(forbidden == Hearing(end: .failure(.forbiddenAddress)))
        }
        let nobody = try await Self.hear("http://127.0.0.1:1/ws")
        #expect(nobody == Hearing(end: .failure(.unreachable)))
        let malformed = try await Self.hear("http://a b/")
        #expect(malformed == Hearing(end: .failure(.malformedRequest)))
    }

    @Test("a cancelled task ends its WebSocket at once, and a silent server's is given up")
    func ends() async throws {
        try await TestHTTPServer.with { server in
            let cancelled = try await Self.hear(server.url() + "/ws/silent", cancelsWhenOpen: true)
            #expect(cancelled == Hearing(isOpen: true, end: .failure(.cancelled)))
            var limits = WebSocketClient.Limits()
            limits.silenceTimeout = .zero
            let silent = try await Self.hear(server.url() + "/ws/silent", limits: limits)
            #expect(silent.end == .failure(.timedOut))
        }
    }

    @Test("the answer to a WebSocket request must prove that the server read the key")
    func acceptance() throws {
        let key = try #require(WebSocketKey("dGhlIHNhbXBsZSBub25jZQ=="))
        let good =
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: upgrade\r\n"
            + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
        #expect(HandshakeResponse.isAcceptance(good, of: key))
        let bad = [
            good.replacing("101", with: "200"), good.replacing("s3p", with: "s3q"),
            good.replacing("\r\nUpgrade: WebSocket", with: ""),
            good.replacing("Connection: upgrade", with: "Connection: close"),
            good + "\r\nSec-WebSocket-Extensions: permessage-deflate", good + "\r\nno colon", "",
        ]
        for head in bad { #expect(!HandshakeResponse.isAcceptance(head, of: key), "\(head)") }
    }
}
