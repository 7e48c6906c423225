import Domain
import JSON

/// Registers the push token of the device that the caller uses.
public struct DeviceTokenRegister: Hashable, WireObject {
    public var platform: DevicePlatform
    /// 1…512 characters; a browser's is its subscription's endpoint.
    public var token: Secret
    /// A browser's, and no other device's.
    public var subscription: WebPushSubscription?

    /// The token as it is stored and compared: Apple's are hexadecimal numbers, in lower case; others stay as they are.
    public var storedToken: Secret {
        let text = token.wireText
        return platform.isApples
            && text.utf8.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit } ? Secret(text.lowercased()) : token
    }

    public init(platform: DevicePlatform, token: Secret) {
        self.platform = platform
        self.token = token
    }

    /// A browser.
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
                throw InvalidInput("is for the platform web only", field: "subscription")
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
