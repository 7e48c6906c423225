import Audit
import Contract
import Domain
import HTTPClient
import JSON

/// Posts messages as JSON to an operator's URL. Any status 2xx acknowledges a message.
///
/// `Nagz-Signature` is `v1=` and the HMAC-SHA256 of `Nagz-Timestamp`, a full stop and the body, in hexadecimal digits.
/// `Nagz-Delivery-Id` names the message; a receiver discards a message that it already has.
final class WebhookProvider: MessageProvider {
    let sendsPerPerson = true
    let maxConcurrentSends = 64
    private let options: DeliveryOptions.Webhook
    private let client: HTTPClient
    private let clock: any WallClock

    init(_ options: DeliveryOptions.Webhook, _ client: HTTPClient, _ clock: any WallClock) {
        (self.options, self.client, self.clock) = (options, client, clock)
    }

    func supportsDevices(_: DevicePlatform) -> Bool { false }

    func send(_ message: DeliveryMessage, to _: DeviceTarget?) async -> SendingOutcome {
        let request = options.request(message.id, Self.body(message), at: clock.now())
        do throws(HTTPClientError) {
            return Self.outcome(try await client.send(request))
        } catch {
            return SendingOutcome(error)
        }
    }

    static func outcome(_ response: HTTPClientResponse) -> SendingOutcome {
        switch response.status {
        case 200..<300: .acknowledged(reference: nil)
        case 408, 425, 429, 500...: .retry(reason: "status \(response.status)", after: response.retryAfter)
        default: .rejected(reason: "status \(response.status)")
        }
    }

    private static func body(_ message: DeliveryMessage) -> [UInt8] {
        JSONWriter.document { json in
            json.object { json in
                json.field("delivery_id", message.id)
                json.field("channel", message.channel)
                json.field("event", message.event)
                json.field("phase", message.phase)
                json.field("nag_id", message.nagID)
                json.field("family_id", message.familyID)
                json.field("target_user_id", message.recipientID)
                json.field("title", message.title)
                json.field("text", message.text)
                json.field("created_at", message.createdAt)
                json.field("attempt", message.attempt)
                if message.isRepeat { json.field("repeat", true) }
                json.fieldIfPresent("phone", message.phone)
                guard let devices = message.devices else { return }
                json.key("devices")
                json.array { json in
                    for device in devices {
                        json.object { json in
                            json.field("platform", device.platform)
                            json.field("token", device.token)
                        }
                    }
                }
            }
        }
    }
}

extension DeliveryOptions.Webhook {
    /// Returns the signed request that carries a message.
    func request(_ id: DeliveryID, _ body: [UInt8], at now: Timestamp) -> HTTPClientRequest {
        let timestamp = String(now.seconds)
        let signature = hmacSHA256(Array("\(timestamp).".utf8) + body, key: secret)
        return HTTPClientRequest(
            "POST", url,
            headers: [
                ("Content-Type", "application/json"), ("User-Agent", "nagz/\(NagzVersion.current)"),
                ("Nagz-Delivery-Id", id.description), ("Nagz-Timestamp", timestamp),
                ("Nagz-Signature", "v1=" + hexadecimal(signature)),
            ], body: body, limits: .providerResponse)
    }
}

extension HTTPClientRequest.Limits {
    /// The limits of a response from a provider, which is short.
    static var providerResponse: Self {
        var limits = Self()
        (limits.maxResponseHeadBytes, limits.maxResponseBodyBytes) = (32 << 10, 64 << 10)
        return limits
    }
}

extension HTTPClientResponse {
    /// The time that the provider asks to wait; nil where it names none.
    var retryAfter: Timestamp.Span? { retryAfterSeconds.map { .seconds(Int64($0)) } }
}

extension SendingOutcome {
    /// Creates a retry for any error: network faults can pass, and the operator can correct other faults meanwhile.
    init(_ error: HTTPClientError) { self = .retry(reason: error.description) }
}
