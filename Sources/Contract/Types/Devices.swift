import Domain
import JSON

/// Registers the push token of the device that the caller uses.
public struct DeviceTokenRegister: Hashable, WireObject {
    public var platform: DevicePlatform
    /// 1…512 characters.
    public var token: Secret

    public init(platform: DevicePlatform, token: Secret) {
        self.platform = platform
        self.token = token
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        platform = try fields.required("platform")
        token = try fields.secret("token", 1...512)
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("platform", platform)
            json.field("token", token)
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
    /// When the token was registered again; nil if it never was.
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
