import Domain
import JSON

/// An account without its families.
public struct AccountResponse: Hashable, WireObject {
    public var id: UserID
    public var email: String?
    public var displayName: String?
    public var status: String
    public var createdAt: Timestamp

    public init(id: UserID, email: String?, displayName: String?, status: String, createdAt: Timestamp) {
        self.id = id
        self.email = email
        self.displayName = displayName
        self.status = status
        self.createdAt = createdAt
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.required("id")
        email = try fields.optional("email")
        displayName = try fields.optional("display_name")
        status = try fields.required("status")
        createdAt = try fields.required("created_at")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id)
            json.field("email", email)
            json.field("display_name", displayName)
            json.field("status", status)
            json.field("created_at", createdAt)
        }
    }
}
