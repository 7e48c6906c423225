import Domain
import HTTPClient
import JSON
import TestHTTPServer
import Testing

@testable import Server

/// A text message that a test's gateway received.
struct ReceivedText: Sendable {
    let message: JSONValue

    var phone: String? { message["phone"]?.stringValue }
    var text: String { message["text"]?.stringValue ?? "" }
    /// The six digits at the beginning of the text.
    var code: String { String(text.prefix(6)) }
}

extension TestServer {
    /// Runs `body` with a server that sends codes to a gateway, and with a function that waits until a number of
    /// messages was received.
    static func runWithTexts(
        configure: @escaping @Sendable (inout Configuration) -> Void = { _ in },
        _ body: @Sendable (TestServer, @Sendable (Int) async throws -> [ReceivedText]) async throws -> Void
    ) async throws {
        try await TestHTTPServer.with { gateway in
            var options = DeliveryOptions()
            options.sms = try gateway.webhook()
            options.networks = NetworkGuard(allowing: [try #require(NetworkBlock("127.0.0.0/8"))])
            options.sendsTokensAndPhones = true
            options.serverName = "nagz.example.org"
            let deliveries = options
            try await TestServer.run {
                $0.deliveries = deliveries
                configure(&$0)
            } _: { server in
                try await body(server) { count in
                    while true {
                        let texts = try await gateway.received().compactMap { $0["body"].map(ReceivedText.init) }
                        if texts.count >= count { return texts }
                    }
                }
            }
        }
    }
}
