import Contract
import Domain
import HTTPClient
import JSON

/// Sends push messages through Apple's service, over HTTP/2 with a token of the app's team.
final class APNsProvider: MessageProvider {
    let sendsPerPerson = false
    let maxConcurrentSends = 64
    /// The time for which a token is used. Apple accepts a token for an hour, and a new one at most every 20 minutes.
    private static let tokenLifetime = Timestamp.Span.minutes(40)

    private let options: DeliveryOptions.APNs
    private let client: HTTPClient
    private let clock: any WallClock
    private let staleAfter: Timestamp.Span
    private var token: (text: String, issuedAt: Timestamp)?

    init(
        _ options: DeliveryOptions.APNs, _ client: HTTPClient, _ clock: any WallClock, staleAfter: Timestamp.Span
    ) {
        (self.options, self.client, self.clock, self.staleAfter) = (options, client, clock, staleAfter)
    }

    func supportsDevices(_ platform: DevicePlatform) -> Bool { platform.isApple }

    func send(_ message: DeliveryMessage, to device: DeviceTarget?) async -> SendingOutcome {
        guard let device, Self.isPathSafe(device.token) else { return .deviceGone }
        guard let token = currentToken() else { return .retry(reason: "the token could not be signed") }
        let now = clock.now()
        let request = HTTPClientRequest(
            "POST", "\(options.endpoint)/3/device/\(device.token)",
            headers: [
                ("Authorization", "bearer \(token)"), ("Content-Type", "application/json"),
                ("apns-topic", options.topic),
                ("apns-push-type", "alert"), ("apns-priority", "10"), ("apns-id", message.id.description),
                // A repeated message or a reminder replaces the first one on the device.
                ("apns-collapse-id", message.collapseID.description),
                ("apns-expiration", String((now + staleAfter).seconds)),
            ], body: Self.payload(message), limits: .providerResponse)
        do throws(HTTPClientError) {
            return outcome(try await client.send(request))
        } catch {
            return SendingOutcome(error)
        }
    }

    /// Returns the outcome that a response means. A token that Apple refuses is not used again.
    private func outcome(_ response: HTTPClientResponse) -> SendingOutcome {
        if response.status == 200 { return .acknowledged(reference: response.header("apns-id")) }
        let document = try? JSONValue(parsing: response.body.span)
        let reason = String(
            (document?.objectValue?["reason"]?.stringValue ?? "").unicodeScalars
                .filter { $0.isASCII && $0.properties.isAlphabetic }.prefix(60).map(Character.init))
        let summary = "status \(response.status) \(reason)"
        switch (response.status, reason) {
        case (410, _), (400, "BadDeviceToken"): return .deviceGone
        case (403, "ExpiredProviderToken"), (403, "InvalidProviderToken"):
            token = nil
            return .retry(reason: summary)
        case (429, _), (500..., _): return .retry(reason: summary, after: response.retryAfter)
        default: return .rejected(reason: summary)
        }
    }

    /// Returns the JSON that the app reads: both ids in upper case, as Swift prints them.
    private static func payload(_ message: DeliveryMessage) -> [UInt8] {
        JSONWriter.document { json in
            json.object { json in
                json.key("aps")
                json.object { json in
                    json.key("alert")
                    json.object { json in
                        json.field("title", message.title)
                        json.field("body", message.text)
                    }
                    json.field("sound", "default")
                    json.field("category", "NAG")
                }
                if let nag = message.nagID { json.field("nag_id", nag.description.uppercased()) }
                json.field("target_user_id", message.recipientID.description.uppercased())
                if message.isRepeat { json.field("repeat", true) }
            }
        }
    }

    /// Returns whether a device's token can be part of a path. Apple's tokens are hexadecimal digits.
    private static func isPathSafe(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }

    // MARK: The token

    /// Returns the team's token (RFC 7519), a new one every 40 minutes; nil if it cannot be signed.
    private func currentToken() -> String? {
        let now = clock.now()
        if let token, now >= token.issuedAt, now - token.issuedAt < Self.tokenLifetime { return token.text }
        let header = #"{"alg":"ES256","kid":"\#(options.keyID)"}"#
        let claims = #"{"iss":"\#(options.teamID)","iat":\#(now.seconds)}"#
        guard let text = options.key.signedToken(header: header, claims: claims) else { return nil }
        token = (text, now)
        return text
    }
}
