import Contract
import Domain
import HTTPClient
import JSON
import Reactor

/// Sends codes by text message, through the operator's gateway, beside the requests that cause them. Used on one loop
/// only.
///
/// Neither numbers nor codes are logged.
final class TextMessenger {
    private let gateway: DeliveryOptions.Webhook
    private let serverName: String?
    private let client: HTTPClient
    private let handover: MessageHandover
    private let clock: any WallClock
    private let random: any Randomness
    private let log: Log

    /// Creates the messenger; nil where the operator has configured no gateway for codes.
    init?(_ options: DeliveryOptions, _ clock: any WallClock, _ random: any Randomness, _ log: Log, _ poller: Poller) {
        guard let gateway = options.codeGateway else { return nil }
        (self.gateway, self.clock, self.random, self.log) = (gateway, clock, random, log)
        serverName = options.serverName
        client = HTTPClient(poller, networks: options.networks, authoritiesPath: options.authorities)
        handover = MessageHandover(poller)
    }

    /// Sends a code in the background.
    func send(code: String, to phone: PhoneNumber) {
        let message = PhoneCodeMessage(
            id: random.identifier(at: clock.now()), phone: phone, code: code, serverName: serverName)
        handover.begin { [weak self] in
            await self?.handOver(message)
        } orReport: { [log] reason in
            log.write(.error, "code_not_sent") { $0.field("reason", reason) }
        }
    }

    /// Ends the running attempts.
    func close() { client.close() }

    private func handOver(_ message: PhoneCodeMessage) async -> MessageHandover.Fault? {
        let request = gateway.request(message.id, message.webhookBody, at: clock.now())
        do throws(HTTPClientError) {
            return MessageHandover.Fault(try await client.send(request))
        } catch {
            return MessageHandover.Fault(error)
        }
    }
}

/// A text message with a code. It contains nothing about the person except the telephone number.
struct PhoneCodeMessage {
    /// The name of the event, for gateways.
    static let event = "phone_code"

    let id: DeliveryID
    let phone: PhoneNumber
    let code: String
    /// The server's name; nil leaves it out.
    let serverName: String?

    var text: String {
        """
        \(code) is your code for Nagz\(serverName.map { " at \($0)" } ?? ""). It is valid for 10 minutes. \
        If you did not ask for it, ignore this message.
        """
    }

    /// The message as the gateway gets it.
    var webhookBody: [UInt8] {
        JSONWriter.document { json in
            json.object { json in
                json.field("delivery_id", id)
                json.field("channel", DeliveryChannel.sms)
                json.field("event", Self.event)
                json.field("phone", phone)
                json.field("text", text)
            }
        }
    }
}
