import Domain
import JSON
import NagzAI

/// Stores a person's own key for a provider of models.
public struct AIKeyUpdate: Hashable, WireObject {
    /// 16…512 visible ASCII characters.
    public var key: Secret
    /// The model, as the provider names it, 1…200 characters.
    public var model: String
    /// The base URL, `https` only; for a custom provider, and for no other.
    public var endpoint: String?
    /// The style of schemas; nil for the provider's usual one.
    public var schemaStyle: SchemaStyle?
    /// The name of the limit of tokens; nil for the provider's usual one.
    public var tokensField: TokensField?
    /// The account's password.
    public var password: Secret

    public init(
        key: Secret, model: String, endpoint: String? = nil, schemaStyle: SchemaStyle? = nil,
        tokensField: TokensField? = nil, password: Secret
    ) {
        self.key = key
        self.model = model
        self.endpoint = endpoint
        self.schemaStyle = schemaStyle
        self.tokensField = tokensField
        self.password = password
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        key = try fields.secret("key", 16...512)
        // It becomes a header field.
        guard key.wireText.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw InvalidInput("must consist of visible ASCII characters", field: "key")
        }
        model = try fields.text("model", 1...200)
        endpoint = try fields.optionalText("endpoint", 9...500)
        schemaStyle = try fields.optional("schema_style")
        tokensField = try fields.optional("tokens_field")
        password = try fields.secret("password", 1...Secret.passwordLengths.upperBound)
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("key", key)
            json.field("model", model)
            json.fieldIfPresent("endpoint", endpoint)
            json.fieldIfPresent("schema_style", schemaStyle)
            json.fieldIfPresent("tokens_field", tokensField)
            json.field("password", password)
        }
    }
}

/// A stored key as its owner sees it, without its secret.
public struct AIKeyResponse: Hashable, WireObject {
    public var provider: KeyProvider
    /// `…` and the last four characters of the key.
    public var hint: String
    public var model: String
    public var endpoint: String
    public var schemaStyle: SchemaStyle
    public var tokensField: TokensField
    public var createdAt: Timestamp
    /// The time at which the server last called the provider with it; nil for never.
    public var lastUsedAt: Timestamp?

    public init(
        provider: KeyProvider, hint: String, model: String, endpoint: String, schemaStyle: SchemaStyle,
        tokensField: TokensField, createdAt: Timestamp, lastUsedAt: Timestamp?
    ) {
        self.provider = provider
        self.hint = hint
        self.model = model
        self.endpoint = endpoint
        self.schemaStyle = schemaStyle
        self.tokensField = tokensField
        self.createdAt = createdAt
        self.lastUsedAt = lastUsedAt
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        provider = try fields.required("provider")
        hint = try fields.required("hint")
        model = try fields.required("model")
        endpoint = try fields.required("endpoint")
        schemaStyle = try fields.required("schema_style")
        tokensField = try fields.required("tokens_field")
        createdAt = try fields.required("created_at")
        lastUsedAt = try fields.optional("last_used_at")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("provider", provider)
            json.field("hint", hint)
            json.field("model", model)
            json.field("endpoint", endpoint)
            json.field("schema_style", schemaStyle)
            json.field("tokens_field", tokensField)
            json.field("created_at", createdAt)
            json.field("last_used_at", lastUsedAt)
        }
    }
}

/// A person's stored keys.
public struct AIKeyList: Hashable, WireObject {
    /// The keys in the order of the providers' names.
    public var items: [AIKeyResponse]

    public init(items: [AIKeyResponse]) { self.items = items }

    public init(_ fields: FieldReader) throws(InvalidInput) { items = try fields.required("items") }

    public func write(to json: inout JSONWriter) { json.object { $0.field("items", items) } }
}

/// The provider's answer to a key.
public struct AIKeyCheck: Hashable, WireObject {
    public var isAvailable: Bool
    /// An `UnavailabilityReason`; nil if it is available.
    public var reason: String?

    public init(_ availability: Availability) {
        switch availability {
        case .available: (isAvailable, reason) = (true, nil)
        case .unavailable(let reason): (isAvailable, self.reason) = (false, reason.rawValue)
        }
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        isAvailable = try fields.required("available")
        reason = try fields.optional("reason")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("available", isAvailable)
            json.field("reason", reason)
        }
    }
}
