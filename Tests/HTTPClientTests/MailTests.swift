import Foundation
import HTTPClient
import Reactor
import TestHTTPServer
import Testing

/// Against a relay that is not ours (aiosmtpd).
@Suite("Mails")
struct MailTests {
    private struct Taken: Decodable {
        struct Mail: Decodable {
            let from: String
            let to: [String]
            let user: String?
            let tls: Bool
            let text: String
        }
        let port: Int
        let mails: [Mail]
    }

    private static func mail(to address: String = "nell@example.org", text: String = "one\n.\n.two") -> Mail {
        Mail(from: "nagz@example.org", to: address, headers: [("Subject", "A subject")], text: text)
    }

    private func withClient<Value: Sendable>(
        _ server: TestHTTPServer, networks: NetworkGuard = HTTPClientTests.loopback,
        _ body: @escaping @Sendable (HTTPClient) async throws -> Value
    ) async throws -> Value {
        let loop = try EventLoop(name: "test")
        try loop.start()
        defer { loop.stop() }
        return try await loop.runTask { poller in
            let client = HTTPClient(poller, networks: networks, authoritiesPath: server.authority)
            defer { client.close() }
            return try await body(client)
        }
    }

    private static func taken(_ client: HTTPClient, _ server: TestHTTPServer) async throws -> Taken {
        let answer = try await client.send(HTTPClientRequest("GET", server.url(host: "localhost") + "/mails"))
        return try JSONDecoder().decode(Taken.self, from: Data(answer.body))
    }

    /// What became of a mail: the relay's reply, or the error.
    private static func outcome(_ client: HTTPClient, _ mail: Mail, to relay: MailRelay) async -> String {
        do throws(HTTPClientError) { return "\(try await client.send(mail, to: relay))" } catch { return "\(error)" }
    }

    @Test(
        "a relay on this machine gets head and text unchanged, and its refusals are reported"
    )
    func plain() async throws {
        try await TestHTTPServer.with { server in
            let (outcomes, mails) = try await withClient(server) { client in
                let port = try await Self.taken(client, server).port
                let relay = try #require(MailRelay(url: "smtp://127.0.0.1:\(port)"))
                try await client.checkLogin(at: relay)
                var outcomes: [String] = []
                for address in ["nell@example.org", "no@example.org", "later@example.org", "later@example.org"] {
                    outcomes.append(await Self.outcome(client, Self.mail(to: address), to: relay))
                }
                return (outcomes, try await Self.taken(client, server).mails)
            }
            #expect(outcomes.first == "250" && outcomes.last == "250")
            #expect(!outcomes[1].contains("250") && !outcomes[2].contains("250"))
            #expect(mails.map(\.to) == [["nell@example.org"], ["later@example.org"]])
            #expect(mails.first?.from == "nagz@example.org")
            #expect(
                mails.first?.text
                    == "From: nagz@example.org\r\nTo: nell@example.org\r\nSubject: A subject\r\n\r\none\r\n.\r\n.two\r\n"
            )
        }
    }

    @Test(
        "to another host no mail goes without TLS or a matching certificate, and a password is used"
    )
    func tls() async throws {
        try await TestHTTPServer.with(.tls(name: "localhost")) { server in
            let port = try await withClient(server) { try await Self.taken($0, server).port }
            let outcomes = try await withClient(server) { client in
                func outcome(_ url: String, password: String? = nil) async throws -> String {
                    let relay = try #require(MailRelay(url: url, password: password))
                    return await Self.outcome(client, Self.mail(), to: relay)
                }
                return [
                    try await outcome("smtp://relay@localhost:\(port)", password: "relay password"),

                    try await outcome("smtp://relay@localhost:\(port)", password: "wrong"),
                    try await outcome("smtp://127.0.0.1:\(port)"),
                ]
            }
            let mails = try await withClient(server) { try await Self.taken($0, server).mails }
            #expect(outcomes[0] == "250")
            #expect(outcomes[1] == HTTPClientError.loginDenied.description)
            #expect(outcomes[2] == HTTPClientError.untrusted.description)
            #expect(mails.map(\.user) == ["relay"] && mails.map(\.tls) == [true])
        }
    }

    @Test("a relay in the own network is not called unless that is allowed")
    func ownNetwork() async throws {
        try await TestHTTPServer.with { server in
            let port = try await withClient(server) { try await Self.taken($0, server).port }
            let relay = try #require(MailRelay(url: "smtp://127.0.0.1:\(port)"))
            let outcome = try await withClient(server, networks: NetworkGuard()) { client in
                await Self.outcome(client, Self.mail(), to: relay)
            }
            #expect(outcome == HTTPClientError.forbiddenAddress.description)
        }
    }

    @Test(
        "a mail that could inject a recipient, field or command is not sent",
        arguments: [
            mail(to: "nell@example.org>\r\nRCPT TO:<otto@example.org"), mail(to: "nell@example.org,otto@example.org"),
            mail(to: "nell"), mail(text: "a\r\nb"), mail(text: "ä"), mail(text: String(repeating: "a", count: 901)),
            Mail(from: "nagz@example.org", to: "a@b.org", headers: [("Subject", "a\r\nBcc: b@b.org")], text: ""),
            Mail(from: "nagz@example.org", to: "a@b.org", headers: [("Sub: ject", "a")], text: ""),
        ])
    func injection(_ mail: Mail) async throws {
        let loop = try EventLoop(name: "test")
        try loop.start()
        defer { loop.stop() }
        let relay = try #require(MailRelay(url: "smtp://127.0.0.1:9"))
        let outcome = try await loop.runTask { poller in
            await Self.outcome(HTTPClient(poller, networks: HTTPClientTests.loopback), mail, to: relay)
        }
        #expect(outcome == HTTPClientError.malformedRequest.description)
    }

    @Test("the address of a relay has a host, and no password")
    func addresses() {
        for url in ["smtp://relay.example.org", "SMTPS://nell@example.org@relay.example.org:465", "smtp://u@[::1]:25"] {
            #expect(MailRelay(url: url) != nil, "\(url)")
        }
        for url in [
            "relay.example.org", "http://relay.example.org", "smtp://", "smtp://u:p@relay.example.org", "smtp://u@",
            "smtp://relay.example.org/path", "smtp://relay.example.org\r\n", "smtp://a@b@c@relay.example.org",
        ] { #expect(MailRelay(url: url) == nil, "\(url)") }
    }
}
