import Domain
import JSON

/// The caller: their account, their family, and what works for them now.
public struct MeResponse: Hashable, WireObject {
    public var id: UserID
    public var email: String?
    /// The number that text messages go to; nil until one is confirmed.
    public var phone: PhoneNumber?
    public var displayName: String?
    /// `active`, `pending_guardian_consent`, or a value of a later version.
    public var status: String
    public var createdAt: Timestamp
    public var isAdministrator: Bool
    /// The person's family; nil for somebody who is in none.
    public var family: MyFamily?
    /// The consents that are in force for the caller, given by themselves or by a guardian.
    public var consents: [ConsentType]
    public var switchedOn: SwitchedOn
    /// The key that a browser subscribes to push messages with, in base64url; nil where the server sends none to browsers.
    public var webPushKey: String?

    public init(
        id: UserID, email: String?, phone: PhoneNumber? = nil, displayName: String?, status: String,
        createdAt: Timestamp, isAdministrator: Bool, family: MyFamily?, consents: [ConsentType],
        switchedOn: SwitchedOn, webPushKey: String? = nil
    ) {
        self.id = id
        self.email = email
        self.phone = phone
        self.displayName = displayName
        self.status = status
        self.createdAt = createdAt
        self.isAdministrator = isAdministrator
        self.family = family
        self.consents = consents
        self.switchedOn = switchedOn
        self.webPushKey = webPushKey
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.required("id")
        email = try fields.optional("email")
        phone = try fields.optional("phone")
        displayName = try fields.optional("display_name")
        status = try fields.required("status")
        createdAt = try fields.required("created_at")
        isAdministrator = try fields.required("is_administrator")
        family = try fields.optional("family")
        consents = try fields.required("consents")
        switchedOn = try fields.required("switched_on")
        webPushKey = try fields.optional("web_push_key")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id)
            json.field("email", email)
            json.field("phone", phone)
            json.field("display_name", displayName)
            json.field("status", status)
            json.field("created_at", createdAt)
            json.field("is_administrator", isAdministrator)
            json.field("family", family)
            json.field("consents", consents)
            json.field("switched_on", switchedOn)
            json.field("web_push_key", webPushKey)
        }
    }
}

/// The caller's family and their role in it.
public struct MyFamily: Hashable, WireObject {
    public var familyID: FamilyID
    public var name: String
    public var role: FamilyRole
    public var joinedAt: Timestamp

    public init(familyID: FamilyID, name: String, role: FamilyRole, joinedAt: Timestamp) {
        self.familyID = familyID
        self.name = name
        self.role = role
        self.joinedAt = joinedAt
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        familyID = try fields.required("family_id")
        name = try fields.required("name")
        role = try fields.required("role")
        joinedAt = try fields.required("joined_at")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("family_id", familyID)
            json.field("name", name)
            json.field("role", role)
            json.field("joined_at", joinedAt)
        }
    }
}

/// The functions that are switched on for a person in their family, by consents and preferences together.
public struct SwitchedOn: Hashable, WireObject {
    /// Answers of the AI on the server.
    public var ai: Bool
    /// Points, streaks and badges.
    public var points: Bool
    /// Notifications by text message.
    public var sms: Bool

    public init(ai: Bool, points: Bool, sms: Bool) {
        self.ai = ai
        self.points = points
        self.sms = sms
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        ai = try fields.required("ai")
        points = try fields.required("points")
        sms = try fields.required("sms")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("ai", ai)
            json.field("points", points)
            json.field("sms", sms)
        }
    }
}

/// Changes the caller's name.
public struct MeUpdate: Hashable, WireObject {
    public var displayName: String

    public init(displayName: String) {
        self.displayName = displayName
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        displayName = try fields.name("display_name", 255)
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("display_name", displayName)
        }
    }
}

/// A session of the caller.
public struct SessionResponse: Hashable, WireObject {
    public var id: SessionID
    public var createdAt: Timestamp
    /// The last sign-in or refresh.
    public var lastUsedAt: Timestamp
    /// The time at which the session ends if it is not used again.
    public var expiresAt: Timestamp
    /// The `User-Agent` of the client that signed in; nil where it sent none.
    public var client: String?
    /// Whether it began with a family's child code.
    public var isChild: Bool
    /// Whether it is the session of this request.
    public var isCurrent: Bool

    public init(
        id: SessionID, createdAt: Timestamp, lastUsedAt: Timestamp, expiresAt: Timestamp, client: String?,
        isChild: Bool, isCurrent: Bool
    ) {
        self.id = id
        self.createdAt = createdAt
        self.lastUsedAt = lastUsedAt
        self.expiresAt = expiresAt
        self.client = client
        self.isChild = isChild
        self.isCurrent = isCurrent
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.required("id")
        createdAt = try fields.required("created_at")
        lastUsedAt = try fields.required("last_used_at")
        expiresAt = try fields.required("expires_at")
        client = try fields.optional("client")
        isChild = try fields.required("is_child")
        isCurrent = try fields.required("is_current")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id)
            json.field("created_at", createdAt)
            json.field("last_used_at", lastUsedAt)
            json.field("expires_at", expiresAt)
            json.field("client", client)
            json.field("is_child", isChild)
            json.field("is_current", isCurrent)
        }
    }
}
