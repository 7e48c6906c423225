import HTTPClient
import Server

// The options of `nagz serve` about how mails are sent.
extension MailOptions {
    /// Reads the options; nil without `--mail`, or if it is `none`.
    init?(_ given: GivenOptions) throws {
        guard let value = given.value(of: Options.mail), value.text != "none" else { return nil }
        guard let sender = try given[Options.mailFrom] else {
            throw Stop(.configuration, "no sender for mails: pass --mail-from ADDRESS")
        }
        self.init(try Self.readTransport(value, given), from: sender)
        publicURL = try given[Options.publicURL]
        if let networks = try given[Options.deliveryNetworks] { self.networks = networks }
    }

    private static func readTransport(_ value: GivenValue, _ given: GivenOptions) throws -> Transport {
        if let relay = MailRelay(url: value.text, password: try given[Options.mailPassword]) { return .relay(relay) }
        let isWebhook = value.text.lowercased().hasPrefix("http")
        if isWebhook, let secret = try given[Options.webhookSecret],
            let webhook = DeliveryOptions.Webhook(url: value.text, secret: secret)
        {
            return .webhook(webhook)
        }
        throw value.error(
            isWebhook
                ? OptionError("takes a webhook only with NAGZ_WEBHOOK_SECRET_FILE, which signs the mails")
                : OptionError(
                    "takes smtps://[USER@]HOST, smtp://[USER@]HOST[:PORT] or a webhook's URL; a password goes into --mail-password-file"
                ))
    }
}
