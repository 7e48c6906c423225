import Domain
import JSON

/// A connection between adults of two families, as one of them sees it.
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
