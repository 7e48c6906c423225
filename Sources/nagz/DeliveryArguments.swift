import Foundation
import HTTPClient
import Server

// The options of `nagz serve` about how notifications are sent.
extension DeliveryOptions {
    init(_ given: GivenOptions) throws {
        self.init()
        push = try Self.readProvider(given, Options.push, allowsAPNs: true)
        sms = try Self.readProvider(given, Options.sms, allowsAPNs: false)
        webPush = try Self.readWebPush(given)
        sendsTokensAndPhones = try given[Options.sendsTokensAndPhones] ?? false
        serverName = try given[Options.publicURL].flatMap { URL(string: $0)?.host() }
        if let networks = try given[Options.deliveryNetworks] { self.networks = networks }
    }

    /// Parses the private networks into which webhooks and mails may lead: addresses and blocks, with commas.
    @Sendable
    static func parseNetworks(_ text: String) throws -> NetworkGuard {
        let blocks = text.split(separator: ",").map { (name: $0, block: NetworkBlock($0)) }
        if let invalid = blocks.first(where: { $0.block == nil }) {
            throw OptionError("takes addresses and blocks such as 192.168.0.0/16, with commas; not “\(invalid.name)”")
        }
        return NetworkGuard(allowing: blocks.compactMap(\.block))
    }

    /// Reads the provider of push or text messages; `.log` if the option was not given.
    /// - Parameter allowsAPNs: whether the provider may be Apple's.
    private static func readProvider(_ given: GivenOptions, _ option: Option<String>, allowsAPNs: Bool) throws
        -> Provider
    {
        guard let value = given.value(of: option), value.text != "log" else { return .log }
        if allowsAPNs, value.text.hasPrefix("apns:") { return .apns(try readAPNs(value, given)) }
        guard let secret = try given[Options.webhookSecret] else {
            throw Stop(
                .configuration, "no secret for the webhook: set NAGZ_WEBHOOK_SECRET_FILE to a file with 32 characters")
        }
        guard let webhook = Webhook(url: value.text, secret: secret) else {
            let others = allowsAPNs ? "log, apns:KEY,TEAM,TOPIC" : "log"
            throw value.error(OptionError("takes \(others) or the http(s) URL of a webhook"))
        }
        return .webhook(webhook)
    }

    private static func readWebPush(_ given: GivenOptions) throws -> WebPush? {
        guard let (path, key) = try given[Options.vapidKey] else { return nil }
        guard let contact = try given[Options.vapidContact] else {
            throw Stop(
                .configuration,
                "no contact for push services: pass --vapid-contact mailto:YOU@EXAMPLE.ORG or an https address")
        }
        guard let webPush = WebPush(key: key, contact: contact) else {
            throw Stop(
                .configuration,
                "“\(path)” is not a private P-256 key, or --vapid-contact is not a mailto: or https: address")
        }
        return webPush
    }

    /// Reads the webhook's secret from a file.
    @Sendable
    static func readWebhookSecret(_ path: String) throws -> [UInt8] {
        let text = try KeyFile.read(path, name: "the webhook's secret file")
        let secret = Array(text.trimmingCharacters(in: .whitespacesAndNewlines).utf8)
        guard secret.count >= 32 else {
            throw Stop(
                .configuration, "“\(path)” must hold a secret of 32 characters or more, as “openssl rand -hex 32”")
        }
        return secret
    }

    /// Reads `KEY,TEAM,TOPIC`, and `,sandbox` for development builds.
    private static func readAPNs(_ value: GivenValue, _ given: GivenOptions) throws -> APNs {
        let words = value.text.dropFirst(5).split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard words.count == 3 || words.count == 4 && words[3] == "sandbox" else {
            throw value.error(
                OptionError("apns:KEY,TEAM,TOPIC takes a key ID, a team ID, a bundle ID and, optionally, “sandbox”"))
        }
        guard let (path, key) = try given[Options.apnsKey] else {
            throw Stop(.configuration, "no key for APNs: set NAGZ_APNS_KEY_FILE to Apple's .p8 file")
        }
        let endpoint = words.count == 4 ? APNs.sandboxEndpoint : APNs.endpoint
        let provider = APNs(key: key, keyID: words[0], teamID: words[1], topic: words[2], endpoint: endpoint)
        guard let provider else {
            throw Stop(.configuration, "“\(path)” is not a P-256 key of Apple, or an ID in \(value.origin) is invalid")
        }
        return provider
    }
}
