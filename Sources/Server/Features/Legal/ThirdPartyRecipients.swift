import HTTPClient

/// The third parties that receive data about people from a server with this configuration, as the privacy policy names
/// them. The policy also says whether the server has a language model of its own.
struct ThirdPartyRecipients: Sendable {
    /// The name of the service that forwards push messages; nil if none are sent.
    var pushService: String?
    /// Whether the push service gets the push tokens of devices. If not, it gets only people's IDs.
    var pushLearnsDeviceAddresses = true
    /// Whether messages are sent to browsers, through the push services of the browsers' makers.
    var hasWebPush = false
    /// The name of the service that forwards text messages; nil if none are sent.
    var smsService: String?
    /// Whether the service for text messages also sends codes to telephone numbers that people enter.
    var sendsPhoneCodes = false
    /// The name of the service that forwards mails about accounts; nil if none are sent.
    var mailService: String?
    /// Whether a language model runs on the server's machine. It is no third party.
    var hasServerModel = false
}

extension ThirdPartyRecipients {
    init(_ configuration: Configuration) {
        if configuration.runsDeliveries {
            pushService = Self.serviceName(configuration.deliveries.push)
            smsService = Self.serviceName(configuration.deliveries.sms)
            hasWebPush = configuration.deliveries.webPush != nil
            if case .webhook = configuration.deliveries.push {
                pushLearnsDeviceAddresses = configuration.deliveries.sendsTokensAndPhones
            }
        }
        // Codes are sent by every instance.
        if let gateway = configuration.deliveries.codeGateway {
            (smsService, sendsPhoneCodes) = (Self.serviceName(.webhook(gateway)), true)
        }
        switch configuration.mail?.transport {
        case .relay(let relay): mailService = Self.host(of: relay.url).map { "the relay at \($0)" }
        case .webhook(let webhook): mailService = Self.serviceName(.webhook(webhook))
        case nil: mailService = nil
        }
        hasServerModel = configuration.models.gateway != nil
    }

    private static func serviceName(_ provider: DeliveryOptions.Provider) -> String? {
        switch provider {
        case .log: nil
        case .apns: "Apple's push service"
        case .webhook(let webhook): host(of: webhook.url).map { "the service at \($0)" } ?? "a service"
        }
    }

    /// Returns the host of a URL: the part between the scheme and the path, without a user and a port. The result is
    /// nil for a URL without a scheme.
    private static func host(of url: String) -> String? {
        guard let start = url.firstRange(of: "://")?.upperBound else { return nil }
        let authority = url[start...].prefix { !"/?#".contains($0) }
        let host = authority.split(separator: "@").last ?? ""
        return host.hasPrefix("[") ? host.prefix { $0 != "]" } + "]" : String(host.prefix { $0 != ":" })
    }
}
