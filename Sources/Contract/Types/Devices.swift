import Domain
import JSON

/// The request that registers the push token of the caller's device.
public struct DeviceTokenRegister: Hashable, WireObject {
    public var platform: DevicePlatform
    /// The token: 1 to 512 characters. For a browser it is the endpoint of the subscription.
    public var token: Secret
    /// The subscription of a browser; nil for other devices.
    public var subscription: WebPushSubscription?

    /// The token in the form in which it is stored and compared. Apple's hexadecimal tokens are in lower case.
    public var storedToken: Secret {
        let text = token.wireText
        return platform.isApple
            && text.utf8.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit } ? Secret(text.lowercased()) : token
    }

    public init(platform: DevicePlatform, token: Secret) {
        self.platform = platform
        self.token = token
    }

    /// Creates the request of a browser.
    public init(_ subscription: WebPushSubscription) {
        platform = .web
        token = Secret(subscription.endpoint)
        self.subscription = subscription
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        let platform: DevicePlatform = try fields.required("platform")
        if platform == .web {
            let subscription: WebPushSubscription = try fields.required("subscription")
            self.init(subscription)
        } else {
            self.init(platform: platform, token: try fields.secret("token", 1...512))
            guard try fields.optional("subscription") as WebPushSubscription? == nil else {
                throw .subscriptionIsForBrowsers
            }
        }
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("platform", platform)
            json.field("token", token)
            json.field("subscription", subscription)
        }
    }
}
