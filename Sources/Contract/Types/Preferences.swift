import Domain
import JSON

/// Changes some preferences and keeps the others.
public struct PreferenceUpdate: Hashable, WireObject {
    /// The preferences to merge, by name; unknown names are kept.
    public var preferences: JSONObject

    public init(preferences: JSONObject) {
        self.preferences = preferences
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        preferences = try fields.required("prefs_json")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("prefs_json", preferences)
        }
    }
}

/// A member's preferences in a family, including defaults.
public struct PreferenceResponse: Hashable, WireObject {
    public var userID: UserID
    public var familyID: FamilyID
    public var schemaVersion: Int
    public var preferences: JSONObject
    public var etag: String
    public var updatedAt: Timestamp

    public init(
        userID: UserID, familyID: FamilyID, schemaVersion: Int, preferences: JSONObject, etag: String,
        updatedAt: Timestamp
    ) {
        self.userID = userID
        self.familyID = familyID
        self.schemaVersion = schemaVersion
        self.preferences = preferences
        self.etag = etag
        self.updatedAt = updatedAt
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        userID = try fields.required("user_id")
        familyID = try fields.required("family_id")
        schemaVersion = try fields.required("schema_version")
        preferences = try fields.required("prefs_json")
        etag = try fields.required("etag")
        updatedAt = try fields.required("updated_at")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("user_id", userID)
            json.field("family_id", familyID)
            json.field("schema_version", schemaVersion)
            json.field("prefs_json", preferences)
            json.field("etag", etag)
            json.field("updated_at", updatedAt)
        }
    }
}
