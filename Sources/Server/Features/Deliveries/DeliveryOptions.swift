import Domain
import HTTPClient

/// The providers that send notifications, and their limits.
public struct DeliveryOptions: Sendable {
    /// The provider that sends the messages of a channel.
    public enum Provider: Sendable {
        /// Writes messages to the server's log, without their words.
        case log
        case webhook(Webhook)
        /// Sends push messages by Apple's push service; not for other channels.
        case apns(APNs)
    }

    /// An operator's URL to which messages are posted, and the secret that signs them.
    public struct Webhook: Sendable {
        let url: String
        let secret: [UInt8]

        /// - Parameter secret: signs the messages; at least 16 bytes.
        /// - Returns: nil for a shorter secret, and for a URL of more than 2,048 bytes or without `http` or `https`.
        public init?(url: String, secret: [UInt8]) {
            let isHTTP = url.lowercased().hasPrefix("http://") || url.lowercased().hasPrefix("https://")
            guard isHTTP, url.utf8.count <= 2_048, secret.count >= 16 else { return nil }
            (self.url, self.secret) = (url, secret)
        }
    }

    /// Apple's push service, with a token of the app's team.
    public struct APNs: Sendable {
        let key: ES256Key
        let keyID: String
        let teamID: String
        let topic: String
        let endpoint: String

        /// The address of the service for published builds of the app.
        public static let endpoint = "https://api.push.apple.com"
        /// The address of the service for development builds of the app.
        public static let sandboxEndpoint = "https://api.sandbox.push.apple.com"

        /// - Parameters:
        ///   - key: the .p8 file's text.
        ///   - topic: the app's bundle id.
        /// - Returns: nil if the key or an identifier has an invalid form, or if the endpoint is no `https` address.
        public init?(key: String, keyID: String, teamID: String, topic: String, endpoint: String = Self.endpoint) {
            func isIdentifier(_ text: String, _ lengths: ClosedRange<Int>) -> Bool {
                lengths.contains(text.utf8.count)
                    && text.unicodeScalars.allSatisfy {
                        $0.isASCII && ($0.properties.isAlphabetic || "0123456789.-_".unicodeScalars.contains($0))
                    }
            }
            guard let key = ES256Key(pem: key), isIdentifier(keyID, 1...32), isIdentifier(teamID, 1...32),
                isIdentifier(topic, 1...255),
                endpoint.hasPrefix("https://")
            else { return nil }
            (self.key, self.keyID, self.teamID, self.topic, self.endpoint) = (key, keyID, teamID, topic, endpoint)
        }
    }

    /// Messages to browsers, with a key of this server's.
    public struct WebPush: Sendable {
        let key: ES256Key
        /// The key in base64url, as browsers subscribe with it.
        public let publicKey: String
        /// The address at which a push service reaches the operator: a `mailto:` or `https:` address.
        let contact: String
        /// The networks of push services. Clients name the services, so only tests may allow private addresses.
        var networks = NetworkGuard()
        /// The time that a push service may take.
        var timeout = Duration.seconds(5)

        /// - Parameter key: a private key of the curve P-256 in PEM form.
        /// - Returns: nil if the key or the contact is invalid.
        public init?(key: String, contact: String) {
            guard let key = ES256Key(pem: key), let publicKey = key.publicKey,
                contact.hasPrefix("mailto:") || contact.hasPrefix("https://"), contact.utf8.count <= 200,
                contact.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
            else { return nil }
            (self.key, self.publicKey, self.contact) = (key, base64URL(publicKey), contact)
        }
    }

    public var push = Provider.log
    /// The push messages to browsers; nil where browsers get none.
    public var webPush: WebPush?
    /// Whether webhooks get the platforms and tokens of people's devices, and their telephone numbers.
    public var sendsTokensAndPhones = false
    public var sms = Provider.log
    /// The name of this server in text messages with codes; nil leaves it out.
    public var serverName: String?
    /// The networks that webhooks may connect to.
    public var networks = NetworkGuard()
    /// The path of a file with trusted certificates, for outgoing requests; nil for the system's.
    public var authorities: String?
    /// The time after which a due notification is too old to be sent.
    public var staleAfter = Timestamp.Span.hours(24)
    var retries = RetryPolicy()

    public init() {}

    /// The gateway that sends codes to telephone numbers; nil if no gateway sends text messages, or webhooks get no
    /// numbers.
    var codeGateway: Webhook? {
        guard sendsTokensAndPhones, case .webhook(let webhook) = sms else { return nil }
        return webhook
    }
}
