import Domain
import JSON

/// Grants a consent.
public struct ConsentCreate: Hashable, WireObject {
    public var familyID: FamilyID?
    public var type: ConsentType

    public init(familyID: FamilyID? = nil, type: ConsentType) {
        self.familyID = familyID
        self.type = type
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        familyID = try fields.optional("family_id")
        type = try fields.required("consent_type")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.fieldIfPresent("family_id", familyID)
            json.field("consent_type", type)
        }
    }
}

/// Revokes a consent.
public struct ConsentUpdate: Hashable, WireObject {
    public var revoked: Bool

    public init(revoked: Bool = false) {
        self.revoked = revoked
    }

    /// Accepts `{"revoked": true}` or `{"status": "revoked"}`.
    public init(_ fields: FieldReader) throws(InvalidInput) {
        if let revoked: Bool = try fields.optional("revoked") {
            self.revoked = revoked
            return
        }
        guard let status: String = try fields.optional("status") else {
            throw InvalidInput("is required: send true to take the consent back", field: "revoked")
        }
        guard status == "revoked" else {
            throw InvalidInput("can only be revoked; a consent is given again with POST", field: "status")
        }
        revoked = true
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("revoked", revoked)
        }
    }
}

/// A consent in force.
public struct ConsentResponse: Hashable, WireObject {
    public var id: ConsentID
    public var userID: UserID
    public var familyID: FamilyID?
    public var type: ConsentType

    public init(id: ConsentID, userID: UserID, familyID: FamilyID?, type: ConsentType) {
        self.id = id
        self.userID = userID
        self.familyID = familyID
        self.type = type
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.required("id")
        userID = try fields.required("user_id")
        familyID = try fields.optional("family_id_nullable")
        type = try fields.required("consent_type")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id)
            json.field("user_id", userID)
            json.field("family_id_nullable", familyID)
            json.field("consent_type", type)
        }
    }
}
