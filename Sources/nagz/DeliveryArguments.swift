import Foundation
import HTTPClient
import Server

/// The options of `nagz serve` that say how notifications leave the server.
extension DeliveryOptions {
    init(_ arguments: inout Arguments) throws {
        self.init()
        push = try Self.provider(&arguments, "--push", apns: true)
        sms = try Self.provider(&arguments, "--sms", apns: false)
        if let names = try arguments.value("--delivery-networks") {
            let blocks = names.split(separator: ",").map { (name: $0, block: NetworkBlock($0)) }
            if let wrong = blocks.first(where: { $0.block == nil }) {
                throw Stop(
                    .usage,
                    "--delivery-networks takes addresses and blocks such as 192.168.0.0/16, with commas; not “\(wrong.name)”"
                )
            }
            networks = NetworkGuard(allowing: blocks.compactMap(\.block))
        }
    }

    private static func provider(_ arguments: inout Arguments, _ name: String, apns: Bool) throws -> Provider {
        guard let value = try arguments.value(name), value != "log" else { return .log }
        if apns, value.hasPrefix("apns:") { return .apns(try self.apns(value.dropFirst(5), name)) }
        guard let webhook = Webhook(url: value, secret: try webhookSecret()) else {
            let others = apns ? "log, apns:KEY,TEAM,TOPIC" : "log"
            throw Stop(.usage, "\(name) takes \(others) or the http(s) URL of a webhook")
        }
        return .webhook(webhook)
    }

    /// The first line of the file.
    private static func webhookSecret() throws -> [UInt8] {
        guard let path = ProcessInfo.processInfo.environment["NAGZ_WEBHOOK_SECRET_FILE"] else {
            throw Stop(
                .configuration, "no secret for the webhook: set NAGZ_WEBHOOK_SECRET_FILE to a file with 32 characters")
        }
        let text = try KeyFile.read(path, name: "the webhook's secret file")
        let secret = Array(text.trimmingCharacters(in: .whitespacesAndNewlines).utf8)
        guard secret.count >= 32 else {
            throw Stop(
                .configuration, "“\(path)” must hold a secret of 32 characters or more, as “openssl rand -hex 32”")
        }
        return secret
    }

    /// `KEY,TEAM,TOPIC`, and `,sandbox` for development builds.
    private static func apns(_ text: Substring, _ name: String) throws -> APNs {
        let words = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard words.count == 3 || words.count == 4 && words[3] == "sandbox" else {
            throw Stop(
                .usage, "\(name) apns:KEY,TEAM,TOPIC takes a key id, a team id, a bundle id, and “sandbox” or nothing")
        }
        guard let path = ProcessInfo.processInfo.environment["NAGZ_APNS_KEY_FILE"] else {
            throw Stop(.configuration, "no key for APNs: set NAGZ_APNS_KEY_FILE to Apple's .p8 file")
        }
        let key = try KeyFile.read(path, name: "the APNs key file")
        let endpoint = words.count == 4 ? APNs.sandboxEndpoint : APNs.endpoint
        let made = APNs(key: key, keyID: words[0], teamID: words[1], topic: words[2], endpoint: endpoint)
        guard let made else {
            throw Stop(.configuration, "“\(path)” is no P-256 key of Apple's, or an id in \(name) is not one")
        }
        return made
    }
}
