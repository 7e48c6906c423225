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

/// A browser's subscription to push messages, as `PushSubscription.toJSON()` writes it.
public struct WebPushSubscription: Hashable, WireObject {
    /// The `https` URL at the browser's push service; at most 1,024 characters.
    public var endpoint: String
    public var keys: WebPushSubscriptionKeys

    public init(endpoint: String, keys: WebPushSubscriptionKeys) {
        self.endpoint = endpoint
        self.keys = keys
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        endpoint = try fields.text("endpoint", 1...1_024)
        keys = try fields.required("keys")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("endpoint", endpoint)
            json.field("keys", keys)
        }
    }
}

/// The keys that messages to a browser are encrypted with, in base64url.
public struct WebPushSubscriptionKeys: Hashable, WireObject {
    public var p256dh: String
    public var auth: Secret

    public init(p256dh: String, auth: Secret) {
        self.p256dh = p256dh
        self.auth = auth
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        p256dh = try fields.text("p256dh", 1...100)
        auth = try fields.secret("auth", 1...40)
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("p256dh", p256dh)
            json.field("auth", auth)
        }
    }
}

/// A device with its push token, as its owner sees it.
public struct DeviceTokenResponse: Hashable, WireObject {
    public var id: DeviceID
    public var userID: UserID
    public var platform: DevicePlatform
    public var token: Secret
    public var createdAt: Timestamp
    /// The time at which the token was last registered again; nil if it never was.
    public var lastUsedAt: Timestamp?

    public init(
        id: DeviceID, userID: UserID, platform: DevicePlatform, token: Secret, createdAt: Timestamp,
        lastUsedAt: Timestamp?
    ) {
        self.id = id
        self.userID = userID
        self.platform = platform
        self.token = token
        self.createdAt = createdAt
        self.lastUsedAt = lastUsedAt
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.required("id")
        userID = try fields.required("user_id")
        platform = try fields.required("platform")
        token = try fields.required("token")
        createdAt = try fields.required("created_at")
        lastUsedAt = try fields.optional("last_used_at")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id)
            json.field("user_id", userID)
            json.field("platform", platform)
            json.field("token", token)
            json.field("created_at", createdAt)
            json.field("last_used_at", lastUsedAt)
        }
    }
}
