import Contract
import Domain
import HTTP
import JSON
import OpenAPICheck
import TestHTTPServer
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Webhooks and WebSockets in the OpenAPI document")
struct WebhookDocumentTests {
    @Test("a notification of an event and of a phase fits the schema of its webhook")
    func notifications() async throws {
        let schema = try #require(TestServer.document.webhookSchema("notification"))
        try await TestHTTPServer.with { gateway in
            try await TestServer.run(isOfActs: false) { server in
                let family = try await server.family()
                let nag = try await server.nag(from: family.guardian, to: family.child)
                for (event, phase) in [("nag_created", nil), ("nag_escalated", EscalationPhase.dueSoon)] {
                    try await server.delivery(of: nag.id, to: family.child, event, phase: phase)
                    try await server.withWorker(gateway.options()) { try await $0.run() }
                    server.clock.advance(by: .seconds(10))
                }
                let received = try await gateway.received()
                #expect(received.map { $0["body"]?["event"]?.stringValue } == ["nag_created", "nag_escalated"])
                for message in received {
                    let violations = TestServer.document.check(try #require(message["body"]), schema: schema)
                    #expect(
                        Set(violations.map(\.description)) == [
                            "/: lacks repeat", "/: lacks devices", "/: lacks phone",
                        ],
                        "which only reminders have, and operators who pass tokens and numbers")
                }
            }
        }
    }

    @Test(
        "a mail of each kind fits the schema of its webhook",
        arguments: [
            AccountMail.passwordReset(code: "ABCDEFGHJKLMNPQRSTUV"), .passwordChanged,
            .emailConfirmation(code: "ABCDEFGHJKLMNPQRSTUV"),
            .emailChanged, .deviceMoved, .coOwnerProposed,
        ])
    func mails(mail: AccountMail) throws {
        let schema = try #require(TestServer.document.webhookSchema("accountMail"))
        let body = mail.webhookBody(
            DeliveryID(high: 1, low: 2), from: "nagz@example.org", to: "ada@example.org", publicURL: nil)
        #expect(TestServer.document.check(try JSONValue(parsing: body), schema: schema) == [])
    }

    @Test(
        "a code by text message fits the schema of its webhook, and says nothing of the person",
        arguments: [nil, "n.org"])
    func codes(server: String?) throws {
        let schema = try #require(TestServer.document.webhookSchema("phoneCode"))
        let message = PhoneCodeMessage(
            id: DeliveryID(high: 1, low: 2), phone: try PhoneNumber(wireText: "+4930123456"), code: "012345",
            serverName: server)
        let body = try JSONValue(parsing: message.webhookBody)
        #expect(TestServer.document.check(body, schema: schema) == [])
        #expect(
            body["text"]?.stringValue?.hasPrefix("012345 is your code for Nagz\(server.map { " at \($0)" } ?? ""). ")
                == true)
    }

    @Test("the schema of a notification refuses another body")
    func checkerCanFail() throws {
        let schema = try #require(TestServer.document.webhookSchema("notification"))
        #expect(!TestServer.document.check(["channel": "push", "token": "t"], schema: schema).isEmpty)
    }

    @Test("the documented limits of a client's frames are those in force")
    func frames() {
        let (limits, text) = (WebSocketLimits(), TestServer.document.introduction)
        #expect(text.contains("larger than \(limits.maxMessageBytes >> 10) KB"))
        #expect(text.contains("\(limits.frameBurst) at once are allowed"))
        #expect(text.contains("every \(Int(limits.frameInterval / .milliseconds(1))) ms"))
    }
}
