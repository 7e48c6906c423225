import Domain
import JSON

/// Invites somebody by email address.
public struct ConnectionInvite: Hashable, WireObject {
    public var inviteeEmail: EmailAddress
    /// Whether each party may nag the other's children.
    public var caregiver: Bool

    public init(inviteeEmail: EmailAddress, caregiver: Bool = false) {
        self.inviteeEmail = inviteeEmail
        self.caregiver = caregiver
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        inviteeEmail = try fields.required("invitee_email")
        caregiver = try fields.defaulted("caregiver", to: false)
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("invitee_email", inviteeEmail)
            json.field("caregiver", caregiver)
        }
    }
}

/// Lets the other party of a connection nag the caller's children, or ends that for both.
public struct ConnectionTypeUpdate: Hashable, WireObject {
    public var caregiver: Bool

    public init(caregiver: Bool) {
        self.caregiver = caregiver
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        caregiver = try fields.required("caregiver")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in json.field("caregiver", caregiver) }
    }
}

/// A child whom the caller may nag as a caregiver.
public struct CaregiverConnectionChild: Hashable, WireObject {
    public var userID: UserID
    public var displayName: String?
    public var familyID: FamilyID
    public var familyName: String
    public var connectionID: ConnectionID

    public init(
        userID: UserID, displayName: String?, familyID: FamilyID, familyName: String, connectionID: ConnectionID
    ) {
        self.userID = userID
        self.displayName = displayName
        self.familyID = familyID
        self.familyName = familyName
        self.connectionID = connectionID
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        userID = try fields.required("user_id")
        displayName = try fields.optional("display_name")
        familyID = try fields.required("family_id")
        familyName = try fields.required("family_name")
        connectionID = try fields.required("connection_id")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("user_id", userID)
            json.field("display_name", displayName)
            json.field("family_id", familyID)
            json.field("family_name", familyName)
            json.field("connection_id", connectionID)
        }
    }
}

/// A connection between adults of two families, as one of them sees it.
///
/// The inviter learns who the invitee is, and whether the address has an account, only once the invitation was accepted.
public struct ConnectionResponse: Hashable, WireObject {
    public var id: ConnectionID
    public var inviterID: UserID
    public var inviteeID: UserID?
    public var inviteeEmail: String
    public var status: ConnectionStatus
    public var caregiver: Bool
    public var createdAt: Timestamp
    public var respondedAt: Timestamp?
    public var otherPartyEmail: String?
    public var otherPartyDisplayName: String?

    public init(
        id: ConnectionID, inviterID: UserID, inviteeID: UserID?, inviteeEmail: String, status: ConnectionStatus,
        caregiver: Bool, createdAt: Timestamp, respondedAt: Timestamp?, otherPartyEmail: String?,
        otherPartyDisplayName: String?
    ) {
        self.id = id
        self.inviterID = inviterID
        self.inviteeID = inviteeID
        self.inviteeEmail = inviteeEmail
        self.status = status
        self.caregiver = caregiver
        self.createdAt = createdAt
        self.respondedAt = respondedAt
        self.otherPartyEmail = otherPartyEmail
        self.otherPartyDisplayName = otherPartyDisplayName
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.required("id")
        inviterID = try fields.required("inviter_id")
        inviteeID = try fields.optional("invitee_id")
        inviteeEmail = try fields.required("invitee_email")
        status = try fields.required("status")
        caregiver = try fields.defaulted("caregiver", to: false)
        createdAt = try fields.required("created_at")
        respondedAt = try fields.optional("responded_at")
        otherPartyEmail = try fields.optional("other_party_email")
        otherPartyDisplayName = try fields.optional("other_party_display_name")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id)
            json.field("inviter_id", inviterID)
            json.field("invitee_id", inviteeID)
            json.field("invitee_email", inviteeEmail)
            json.field("status", status)
            json.field("caregiver", caregiver)
            json.field("created_at", createdAt)
            json.field("responded_at", respondedAt)
            json.field("other_party_email", otherPartyEmail)
            json.field("other_party_display_name", otherPartyDisplayName)
        }
    }
}
