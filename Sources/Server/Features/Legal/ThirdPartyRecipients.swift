import HTTPClient

/// The third parties that receive data about people, by this server's configuration. The privacy policy names each of
/// them.
struct ThirdPartyRecipients: Sendable {
    /// The service that forwards push messages; nil if none are sent.
    var push: String?
    /// Whether the push service learns the addresses of devices.
    var pushLearnsDeviceAddresses = true
    /// Whether messages are sent to browsers, through the push services of the browsers' makers.
    var hasWebPush = false
    /// The service that forwards text messages; nil if none are sent.
    var sms: String?
    /// Whether the service for text messages also sends codes to telephone numbers that people enter.
    var sendsCodes = false
    /// The service that forwards mails about accounts; nil if none are sent.
    var mail: String?
    /// Whether a language model runs on the server's machine.
    var hasModel = false
}

extension ThirdPartyRecipients {
    init(_ configuration: Configuration) {
        if configuration.runsDeliveries {
            push = Self.name(configuration.deliveries.push)
            sms = Self.name(configuration.deliveries.sms)
            hasWebPush = configuration.deliveries.webPush != nil
            if case .webhook = configuration.deliveries.push {
                pushLearnsDeviceAddresses = configuration.deliveries.passesTokens
            }
        }
        // Codes are sent by every instance.
        if let gateway = configuration.deliveries.codeGateway {
            (sms, sendsCodes) = (Self.name(.webhook(gateway)), true)
        }
        switch configuration.mail?.transport {
        case .relay(let relay): mail = Self.host(of: relay.url).map { "the relay at \($0)" }
        case .webhook(let webhook): mail = Self.name(.webhook(webhook))
        case nil: mail = nil
        }
        hasModel = configuration.models.gateway != nil
    }

    private static func name(_ provider: DeliveryOptions.Provider) -> String? {
        switch provider {
        case .log: nil
        case .apns: "Apple's push service"
        case .webhook(let webhook): host(of: webhook.url).map { "the service at \($0)" } ?? "a service"
        }
    }

    /// Returns the host of a URL: the part between the scheme and the path, without a user and a port.
    private static func host(of url: String) -> String? {
        guard let start = url.firstRange(of: "://")?.upperBound else { return nil }
        let authority = url[start...].prefix { !"/?#".contains($0) }
        let host = authority.split(separator: "@").last ?? ""
        return host.hasPrefix("[") ? host.prefix { $0 != "]" } + "]" : String(host.prefix { $0 != ":" })
    }
}
