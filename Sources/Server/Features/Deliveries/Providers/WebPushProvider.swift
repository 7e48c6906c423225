import Contract
import Domain
import HTTPClient
import JSON
import Reactor

/// Sends push messages to browsers, by the push service that each subscription names (RFC 8030), with a token of this
/// server's key (VAPID, RFC 8292).
///
/// Clients register the endpoints, so their hosts may be slow or hostile. Requests go to the public internet only, take
/// five seconds at most, and wait in a queue with a limit for each person, so that one person's requests do not delay
/// others'.
final class WebPushProvider: MessageProvider {
    let sendsPerPerson = false
    let maxConcurrentSends = 64
    /// The outcome when too many messages are waiting, or this one has waited too long. The person's other browsers are
    /// not tried then, because they would wait as well.
    static let queueFullOutcome = SendingOutcome.retry(reason: "too many messages to browsers wait")
    /// The multiple of bytes to which the length of a text is rounded up.
    private static let lengthMultiple = 1_024
    private static let tokenLifetime = Timestamp.Span.hours(12)

    private let options: DeliveryOptions.WebPush
    private let client: HTTPClient
    private let requestLimiter: KeyedLimiter<UserID>
    private let clock: any WallClock
    private let random: any Randomness
    private let staleAfter: Timestamp.Span

    init(
        _ options: DeliveryOptions.WebPush, _ client: HTTPClient, _ poller: Poller, _ clock: any WallClock,
        _ random: any Randomness, staleAfter: Timestamp.Span
    ) {
        (self.options, self.client, self.clock, self.random) = (options, client, clock, random)
        self.staleAfter = staleAfter
        requestLimiter = KeyedLimiter(poller, limit: 32, limitPerKey: 2)
    }

    func supportsDevices(_ platform: DevicePlatform) -> Bool { platform == .web }

    func send(_ message: DeliveryMessage, to device: DeviceTarget?) async -> SendingOutcome {
        guard let device, let keys = device.keys, let audience = WebPushEndpoint(device.token)?.origin else {
            return .deviceGone
        }
        guard let token = token(for: audience) else { return .retry(reason: "the token could not be signed") }
        guard
            let body = WebPushEncryption.encryptedBody(
                payload(message), for: keys, lengthMultiple: Self.lengthMultiple, random)
        else {
            return .rejected(reason: "the message could not be encrypted")
        }
        var limits = HTTPClientRequest.Limits.providerResponse
        limits.totalTimeout = options.timeout
        let request = HTTPClientRequest(
            "POST", device.token,
            headers: [
                ("Authorization", "vapid t=\(token), k=\(options.publicKey)"),
                ("Content-Type", "application/octet-stream"), ("Content-Encoding", "aes128gcm"),
                ("TTL", String(staleAfter.microseconds / 1_000_000)), ("Urgency", "high"),
                // A repeated message or a reminder replaces the first one while that waits at the push service.
                ("Topic", message.collapseID.description.replacing("-", with: "")),
            ], body: body, limits: limits)
        do {
            return outcome(try await requestLimiter.run(message.recipientID) { try await client.send(request) })
        } catch let error as HTTPClientError {
            let isPermanent = error == .forbiddenAddress || error == .malformedRequest
            return isPermanent ? .rejected(reason: error.description) : SendingOutcome(error)
        } catch {
            return Self.queueFullOutcome
        }
    }

    private func outcome(_ response: HTTPClientResponse) -> SendingOutcome {
        switch response.status {
        case 404, 410: .deviceGone
        default: WebhookProvider.outcome(response)
        }
    }

    /// Returns the JSON that the service worker reads.
    private func payload(_ message: DeliveryMessage) -> [UInt8] {
        JSONWriter.document { json in
            json.object { json in
                json.field("title", message.title)
                json.field("body", message.text)
                json.field("event", message.event)
                json.field("nag_id", message.nagID)
                json.field("target_user_id", message.recipientID)
                json.field("tag", message.collapseID)
                if message.isRepeat { json.field("repeat", true) }
            }
        }
    }

    private func token(for audience: String) -> String? {
        let claims = JSONWriter.document { json in
            json.object { json in
                json.field("aud", audience)
                json.field("exp", Int((clock.now() + Self.tokenLifetime).seconds))
                json.field("sub", options.contact)
            }
        }
        return options.key.signedToken(
            header: #"{"typ":"JWT","alg":"ES256"}"#, claims: String(decoding: claims, as: UTF8.self))
    }
}

/// The address of a subscription at a push service: `https` only.
struct WebPushEndpoint {
    /// Scheme, host and port, in lower case; without the port 443.
    let origin: String

    init?(_ text: String) {
        guard text.hasPrefix("https://"), text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
            !text.contains(where: { "#@\\".contains($0) })
        else { return nil }
        let authority = text.dropFirst("https://".utf8.count).prefix { !"/?".contains($0) }.lowercased()
        guard !authority.isEmpty, !authority.hasPrefix(":") else { return nil }
        origin = "https://\(authority.hasSuffix(":443") ? String(authority.dropLast(4)) : authority)"
    }
}
