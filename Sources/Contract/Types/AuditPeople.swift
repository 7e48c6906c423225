import Domain
import JSON

/// The people that an audit log may name.
public struct AuditPeople: Hashable, WireObject {
    public var items: [AuditPerson]

    public init(items: [AuditPerson]) { self.items = items }

    public init(_ fields: FieldReader) throws(InvalidInput) { items = try fields.required("items") }

    public func write(to json: inout JSONWriter) { json.object { $0.field("items", items) } }
}

/// A person in an audit log, with the log's pseudonym.
public struct AuditPerson: Hashable, WireObject {
    public var person: Pseudonym
    public var userID: UserID?
    /// A member's display name (for guardians of the family), an administrator's address (for administrators), or the
    /// name of a system component; nil otherwise.
    public var name: String?
    /// `guardian`, `participant` or `child` of the family; `former_member`, `administrator`, `former_administrator`,
    /// `system`.
    public var role: String

    public init(person: Pseudonym, userID: UserID?, name: String?, role: String) {
        self.person = person
        self.userID = userID
        self.name = name
        self.role = role
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        person = try fields.required("person")
        userID = try fields.optional("user_id")
        name = try fields.optional("name")
        role = try fields.required("role")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("person", person)
            json.field("user_id", userID)
            json.field("name", name)
            json.field("role", role)
        }
    }
}

/// Consents in force in a family.
public struct AuditConsents: Hashable, WireObject {
    public var items: [AuditConsent]

    public init(items: [AuditConsent]) { self.items = items }

    public init(_ fields: FieldReader) throws(InvalidInput) { items = try fields.required("items") }

    public func write(to json: inout JSONWriter) { json.object { $0.field("items", items) } }
}

/// A consent in force for one member. A consent given by several people is listed once for each.
public struct AuditConsent: Hashable, WireObject {
    /// The member.
    public var person: Pseudonym
    public var userID: UserID
    public var type: ConsentType
    /// The person who gave it: the member, or a guardian for the family.
    public var givenBy: Pseudonym
    public var givenByID: UserID
    public var grantedAt: Timestamp

    public init(
        person: Pseudonym, userID: UserID, type: ConsentType, givenBy: Pseudonym, givenByID: UserID,
        grantedAt: Timestamp
    ) {
        self.person = person
        self.userID = userID
        self.type = type
        self.givenBy = givenBy
        self.givenByID = givenByID
        self.grantedAt = grantedAt
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        person = try fields.required("person")
        userID = try fields.required("user_id")
        type = try fields.required("consent_type")
        givenBy = try fields.required("given_by")
        givenByID = try fields.required("given_by_id")
        grantedAt = try fields.required("granted_at")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("person", person)
            json.field("user_id", userID)
            json.field("consent_type", type)
            json.field("given_by", givenBy)
            json.field("given_by_id", givenByID)
            json.field("granted_at", grantedAt)
        }
    }
}

/// The kinds of entries that this version of the server writes.
public struct AuditKindList: Hashable, WireObject {
    public var kinds: [String]

    public init(kinds: [String]) { self.kinds = kinds }

    public init(_ fields: FieldReader) throws(InvalidInput) { kinds = try fields.required("kinds") }

    public func write(to json: inout JSONWriter) { json.object { $0.field("kinds", kinds) } }
}
