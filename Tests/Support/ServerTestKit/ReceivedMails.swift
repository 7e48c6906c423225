import Domain
import Foundation
import HTTPClient
import TestHTTPServer
import Testing

@testable import Server

/// The mails that a test's relay received.
struct ReceivedMails: Decodable, Sendable {
    struct Mail: Decodable, Sendable {
        let from: String
        let to: [String]
        let text: String

        /// The code in the mail's text; nil without one.
        var code: String? {
            text.split(separator: "\r\n").first { $0.hasPrefix("Your code: ") }.map { String($0.dropFirst(11)) }
        }
    }
    let port: Int
    let mails: [Mail]
}

extension TestServer {
    /// Runs `body` with a server that sends mails, and with a function that waits until a number of mails was received.
    static func runWithMail(
        _ body: @Sendable (TestServer, @Sendable (Int) async throws -> [ReceivedMails.Mail]) async throws -> Void
    ) async throws {
        try await TestHTTPServer.with { receiver in
            let mails: @Sendable () async throws -> ReceivedMails = {
                try JSONDecoder().decode(ReceivedMails.self, from: Data(try await receiver.content(of: "/mails")))
            }
            let relay = MailRelay(url: "smtp://127.0.0.1:\(try await mails().port)")
            let configure: @Sendable (inout Configuration) -> Void = { configuration in
                guard let relay else { return }
                var options = MailOptions(.relay(relay), from: "nagz@example.org")
                options.networks = NetworkGuard(allowing: [NetworkBlock("127.0.0.0/8")].compactMap { $0 })
                options.publicURL = "https://nagz.example.org"
                configuration.mail = options
            }
            try await TestServer.run(configure: configure) { server in
                try await body(server) { count in
                    while true {
                        let now = try await mails().mails
                        if now.count >= count { return now }
                    }
                }
            }
        }
    }
}
