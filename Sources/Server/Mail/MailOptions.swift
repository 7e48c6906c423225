import Contract
import HTTPClient

/// The transport of mails, their sender, and the rules for the connection to the transport.
public struct MailOptions: Sendable {
    /// The service that forwards mails.
    public enum Transport: Sendable {
        case relay(MailRelay)
        case webhook(DeliveryOptions.Webhook)

        var url: String {
            switch self {
            case .relay(let relay): relay.url
            case .webhook(let webhook): webhook.url
            }
        }
    }

    public var transport: Transport
    /// The sender's address.
    public var from: String
    /// The address of this server as people know it, without a slash at its end: the base of links. Nil leaves links
    /// out.
    public var publicURL: String?
    /// The network addresses at which the relay or webhook may be; by default the public internet only.
    public var networks = NetworkGuard()
    /// The file of the certificate authorities that are trusted; nil for the system's.
    public var authorities: String?

    /// Returns an email address in the form in which it is compared; nil for anything else.
    public static func normalizedAddress(_ text: String) -> String? { (try? EmailAddress(wireText: text))?.wireText }

    public init(_ transport: Transport, from: String) {
        (self.transport, self.from) = (transport, from)
    }
}
