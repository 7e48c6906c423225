import Domain
import JSON

/// A family as one of its members sees it.
public struct FamilyResponse: Hashable, WireObject {
    public var id: FamilyID
    public var name: String
    /// Empty, never null, for everyone except guardians.
    public var inviteCode: String
    public var childCode: String?
    /// The name of a zone in the IANA time zone database.
    public var timeZone: String
    public var createdAt: Timestamp

    public init(
        id: FamilyID, name: String, inviteCode: String, childCode: String?, timeZone: String, createdAt: Timestamp
    ) {
        self.id = id
        self.name = name
        self.inviteCode = inviteCode
        self.childCode = childCode
        self.timeZone = timeZone
        self.createdAt = createdAt
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.required("family_id")
        name = try fields.required("name")
        inviteCode = try fields.required("invite_code")
        childCode = try fields.optional("child_code")
        timeZone = try fields.defaulted("time_zone", to: Preferences.standardTimeZone)
        createdAt = try fields.required("created_at")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("family_id", id)
            json.field("name", name)
            json.field("invite_code", inviteCode)
            json.field("child_code", childCode)
            json.field("time_zone", timeZone)
            json.field("created_at", createdAt)
        }
    }
}

/// A membership: a person and their role in a family.
public struct MemberResponse: Hashable, WireObject {
    public var userID: UserID
    public var familyID: FamilyID
    public var role: FamilyRole
    public var status: MembershipStatus
    public var joinedAt: Timestamp

    public init(userID: UserID, familyID: FamilyID, role: FamilyRole, status: MembershipStatus, joinedAt: Timestamp) {
        self.userID = userID
        self.familyID = familyID
        self.role = role
        self.status = status
        self.joinedAt = joinedAt
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        userID = try fields.required("user_id")
        familyID = try fields.required("family_id")
        role = try fields.required("role")
        status = try fields.required("status")
        joinedAt = try fields.required("joined_at")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("user_id", userID)
            json.field("family_id", familyID)
            json.field("role", role)
            json.field("status", status)
            json.field("joined_at", joinedAt)
        }
    }
}

/// A membership with the person's details for other members.
public struct MemberDetail: Hashable, WireObject {
    public var userID: UserID
    public var displayName: String?
    public var familyID: FamilyID
    public var role: FamilyRole
    public var status: MembershipStatus
    public var joinedAt: Timestamp
    public var hasChildLogin: Bool
    /// The time at which a sign-in locked by wrong PINs is unlocked; nil if it is not locked, and for everyone except
    /// guardians.
    public var loginLockedUntil: Timestamp?

    public init(
        userID: UserID, displayName: String?, familyID: FamilyID, role: FamilyRole, status: MembershipStatus,
        joinedAt: Timestamp, hasChildLogin: Bool = false, loginLockedUntil: Timestamp? = nil
    ) {
        self.userID = userID
        self.displayName = displayName
        self.familyID = familyID
        self.role = role
        self.status = status
        self.joinedAt = joinedAt
        self.hasChildLogin = hasChildLogin
        self.loginLockedUntil = loginLockedUntil
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        userID = try fields.required("user_id")
        displayName = try fields.optional("display_name")
        familyID = try fields.required("family_id")
        role = try fields.required("role")
        status = try fields.required("status")
        joinedAt = try fields.required("joined_at")
        hasChildLogin = try fields.defaulted("has_child_login", to: false)
        loginLockedUntil = try fields.optional("login_locked_until")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("user_id", userID)
            json.field("display_name", displayName)
            json.field("family_id", familyID)
            json.field("role", role)
            json.field("status", status)
            json.field("joined_at", joinedAt)
            json.field("has_child_login", hasChildLogin)
            json.field("login_locked_until", loginLockedUntil)
        }
    }
}

/// A child's permissions in a family.
public struct ChildSettingsResponse: Hashable, WireObject {
    public var childID: UserID
    public var familyID: FamilyID
    public var canSnooze: Bool
    public var maxSnoozesPerDay: Int
    public var canSubmitExcuses: Bool
    public var quietHoursStart: TimeOfDay?
    public var quietHoursEnd: TimeOfDay?

    public init(
        childID: UserID, familyID: FamilyID, canSnooze: Bool, maxSnoozesPerDay: Int, canSubmitExcuses: Bool,
        quietHoursStart: TimeOfDay?, quietHoursEnd: TimeOfDay?
    ) {
        self.childID = childID
        self.familyID = familyID
        self.canSnooze = canSnooze
        self.maxSnoozesPerDay = maxSnoozesPerDay
        self.canSubmitExcuses = canSubmitExcuses
        self.quietHoursStart = quietHoursStart
        self.quietHoursEnd = quietHoursEnd
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        childID = try fields.required("child_user_id")
        familyID = try fields.required("family_id")
        canSnooze = try fields.required("can_snooze")
        maxSnoozesPerDay = try fields.required("max_snoozes_per_day")
        canSubmitExcuses = try fields.required("can_submit_excuses")
        quietHoursStart = try fields.optional("quiet_hours_start")
        quietHoursEnd = try fields.optional("quiet_hours_end")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("child_user_id", childID)
            json.field("family_id", familyID)
            json.field("can_snooze", canSnooze)
            json.field("max_snoozes_per_day", maxSnoozesPerDay)
            json.field("can_submit_excuses", canSubmitExcuses)
            json.field("quiet_hours_start", quietHoursStart)
            json.field("quiet_hours_end", quietHoursEnd)
        }
    }
}
