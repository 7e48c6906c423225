import ChildProcesses
import Foundation
import HTTPClient
import LoopbackClient
import Reactor
import TestHTTPServer
import Testing

@Suite("Loopback client")
struct LoopbackClientTests {
    private static func withClient<Value: Sendable>(
        authorities: String? = nil, _ body: @escaping @Sendable (LoopbackClient) async throws -> Value
    ) async throws -> Value {
        let loop = try EventLoop(name: "test")
        try loop.start()
        defer { loop.stop() }
        return try await loop.runTask { poller in
            let client = LoopbackClient(poller, authoritiesPath: authorities)
            defer { client.close() }
            return try await body(client)
        }
    }

    @Test("the loopback client reaches a service on 127.0.0.1, with a path before that of the request")
    func reaches() async throws {
        try await TestHTTPServer.with { server in
            let url = try #require(LoopbackURL(server.url()))
            let response = try await Self.withClient { try await $0.send("GET", url, "/hello") }
            #expect(response.status == 200 && String(decoding: response.body, as: UTF8.self) == "hello over HTTP/1.1")
            let below = try #require(LoopbackURL(server.url() + "/model/good/"))
            #expect(try await Self.withClient { try await $0.send("GET", below, "/models") }.status == 200)
        }
    }

    @Test("the loopback client verifies the certificate of a TLS service")
    func tls() async throws {
        try await TestHTTPServer.with(.tls(name: "127.0.0.1")) { server in
            let url = try #require(LoopbackURL(server.url()))
            let response = try await Self.withClient(authorities: server.authority) {
                try await $0.send("GET", url, "/hello")
            }
            #expect(response.status == 200)
            _ = await #expect(throws: HTTPClientError.untrusted) {
                try await Self.withClient { try await $0.send("GET", url, "/hello") }
            }
        }
    }

    @Test("the loopback client reaches a service on a Unix-domain socket")
    func unixSocket() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "nagz-\(UUID().uuidString.prefix(8))").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let script = """
            import http.server, socketserver, sys
            class Handler(http.server.BaseHTTPRequestHandler):
                def do_GET(self):
                    self.send_response(200)
                    self.send_header("Content-Length", "4")
                    self.end_headers()
                    self.wfile.write(b"unix")
                def address_string(self): return "-"
                def log_message(self, *arguments): pass
            server = socketserver.UnixStreamServer(sys.argv[1], Handler)
            print("ready", flush=True)
            server.serve_forever()
            """
        let process = try ChildProcess(
            URL(filePath: "/usr/bin/env"), ["python3", "-c", script, folder + "/socket"], in: URL(filePath: folder),
            hasErrorPipe: false)
        defer {
            process.send(SIGTERM)
            process.wait()
        }
        #expect(String(decoding: process.output.availableData, as: UTF8.self).hasPrefix("ready"))
        let url = try #require(LoopbackURL(unixSocket: folder + "/socket", path: "/v1"))
        let response = try await Self.withClient { try await $0.send("GET", url, "/models") }
        #expect(response.status == 200 && String(decoding: response.body, as: UTF8.self) == "unix")
    }

    @Test(
        "an address that is not loopback is no loopback URL",
        arguments: [
            "", "http://", "127.0.0.1:80", "http://localhost", "http://127.0.0.2", "http://127.0.0.10", "http://127.1",
            "http://0.0.0.0", "http://2130706433", "http://[::]", "http://[::ffff:127.0.0.1]", "http://example.com",
            "http://127.0.0.1.example.com", "http://127.0.0.1@example.com", "http://user@127.0.0.1",
            "http://127.0.0.1:80@example.com", "http://127.0.0.1:", "http://127.0.0.1:0", "http://127.0.0.1:65536",
            "http://127.0.0.1:+80", "http://127.0.0.1:80x", "http://127.0.0.1\\@example.com", "http://127.0.0.1/a?b",
            "http://127.0.0.1/a#b", "http://127.0.0.1/a b", "http://127.0.0.1/é", "http://127.0.0.1?x",
            "ftp://127.0.0.1", "HTTP://127.0.0.1", "unix:/run/x", "http://[::1", "http://[::1]x",
        ])
    func addresses(text: String) {
        #expect(LoopbackURL(text) == nil)
    }

    @Test("a loopback address or an absolute socket path is a loopback URL")
    func loopback() {
        for text in [
            "http://127.0.0.1", "https://127.0.0.1:8443", "http://[::1]:8081/v1", "http://127.0.0.1:65535/",
            "http://[::1]",
        ] {
            #expect(LoopbackURL(text) != nil, "\(text)")
        }
        #expect(LoopbackURL("http://127.0.0.1:80/v1/") == LoopbackURL("http://127.0.0.1/v1"))
        for path in ["", "/", "run/x", "/a\0b", "/" + String(repeating: "a", count: 108)] {
            #expect(LoopbackURL(unixSocket: path) == nil, "\(path)")
        }
        #expect(LoopbackURL(unixSocket: "/run/x", path: "v1") == nil)
    }

    @Test("a path cannot lead to another host or port")
    func paths() async throws {
        let url = try #require(LoopbackURL("http://127.0.0.1:1"))
        for path in ["", "23/x", "@example.com/", ".example.com/"] {
            _ = await #expect(throws: HTTPClientError.malformedRequest) {
                try await Self.withClient { try await $0.send("GET", url, path) }
            }
        }
    }
}
