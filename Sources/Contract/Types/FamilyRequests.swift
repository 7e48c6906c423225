import Domain
import JSON

/// Creates a family; the caller becomes its guardian.
public struct FamilyCreate: Hashable, WireObject {
    public var name: String
    /// The name of a zone in the IANA time zone database; nil for the default.
    public var timeZone: String?

    public init(name: String, timeZone: String? = nil) {
        self.name = name
        self.timeZone = timeZone
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        name = try fields.name("name", 255)
        timeZone = try fields.optionalText("time_zone", 1...64)
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("name", name)
            json.fieldIfPresent("time_zone", timeZone)
        }
    }
}

/// Changes a family. Fields left out do not change.
public struct FamilyUpdate: Hashable, WireObject {
    public var name: String?
    /// The name of a zone in the IANA time zone database.
    public var timeZone: String?

    public init(name: String? = nil, timeZone: String? = nil) {
        self.name = name
        self.timeZone = timeZone
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        name = try fields.optionalName("name", 255)
        timeZone = try fields.optionalText("time_zone", 1...64)
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.fieldIfPresent("name", name)
            json.fieldIfPresent("time_zone", timeZone)
        }
    }
}

/// Joins the family with this code as a participant.
public struct JoinRequest: Hashable, WireObject {
    /// The family's invite code, as `FieldReader.code` reads it.
    public var inviteCode: String

    public init(inviteCode: String) {
        self.inviteCode = inviteCode
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        inviteCode = try fields.code("invite_code", 0...Self.longestCode)
    }

    /// In characters. One that is no code is unknown, as any other.
    private static let longestCode = 64

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("invite_code", inviteCode)
        }
    }
}

/// Replaces one of the family's codes.
public struct CodeRenewal: Hashable, WireObject {
    public var code: FamilyCode

    public init(code: FamilyCode) {
        self.code = code
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        code = try fields.required("code")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("code", code)
        }
    }
}

/// Makes a participant a guardian, or adds a removed family account again.
public struct MemberAdd: Hashable, WireObject {
    public var userID: UserID
    public var role: FamilyRole

    public init(userID: UserID, role: FamilyRole) {
        self.userID = userID
        self.role = role
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        userID = try fields.required("user_id")
        role = try fields.required("role")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("user_id", userID)
            json.field("role", role)
        }
    }
}

/// Creates an account inside a family, usually for a child.
public struct MemberCreateAndAdd: Hashable, WireObject {
    public var displayName: String
    public var role: FamilyRole
    public var username: String?
    public var pin: PIN?

    public init(displayName: String, role: FamilyRole, username: String? = nil, pin: PIN? = nil) {
        self.displayName = displayName
        self.role = role
        self.username = username
        self.pin = pin
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        displayName = try fields.name("display_name", 255)
        role = try fields.required("role")
        username = try fields.optionalName("username", 64)
        pin = try fields.optional("pin")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("display_name", displayName)
            json.field("role", role)
            json.fieldIfPresent("username", username)
            json.fieldIfPresent("pin", pin)
        }
    }
}

/// Sets or replaces a child's sign-in.
public struct ChildCredentialsSet: Hashable, WireObject {
    public var username: String
    public var pin: PIN

    public init(username: String, pin: PIN) {
        self.username = username
        self.pin = pin
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        username = try fields.name("username", 64)
        pin = try fields.required("pin")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("username", username)
            json.field("pin", pin)
        }
    }
}

/// Changes a child's PIN.
public struct PinChangeRequest: Hashable, WireObject {
    public var currentPin: PIN
    public var newPin: PIN

    public init(currentPin: PIN, newPin: PIN) {
        self.currentPin = currentPin
        self.newPin = newPin
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        currentPin = try fields.required("current_pin")
        newPin = try fields.required("new_pin")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("current_pin", currentPin)
            json.field("new_pin", newPin)
        }
    }
}

/// Changes a child's settings. Fields left out do not change.
public struct ChildSettingsUpdate: Hashable, WireObject {
    public var canSnooze: Bool?
    public var maxSnoozesPerDay: Int?
    public var canSubmitExcuses: Bool?
    /// Null clears it.
    public var quietHoursStart: Patch<TimeOfDay>
    /// Null clears it.
    public var quietHoursEnd: Patch<TimeOfDay>

    public init(
        canSnooze: Bool? = nil, maxSnoozesPerDay: Int? = nil, canSubmitExcuses: Bool? = nil,
        quietHoursStart: Patch<TimeOfDay> = .absent, quietHoursEnd: Patch<TimeOfDay> = .absent
    ) {
        self.canSnooze = canSnooze
        self.maxSnoozesPerDay = maxSnoozesPerDay
        self.canSubmitExcuses = canSubmitExcuses
        self.quietHoursStart = quietHoursStart
        self.quietHoursEnd = quietHoursEnd
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        canSnooze = try fields.optional("can_snooze")
        maxSnoozesPerDay = try fields.optionalInteger("max_snoozes_per_day", 0...99)
        canSubmitExcuses = try fields.optional("can_submit_excuses")
        quietHoursStart = try fields.patch("quiet_hours_start")
        quietHoursEnd = try fields.patch("quiet_hours_end")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.fieldIfPresent("can_snooze", canSnooze)
            json.fieldIfPresent("max_snoozes_per_day", maxSnoozesPerDay)
            json.fieldIfPresent("can_submit_excuses", canSubmitExcuses)
            json.patch("quiet_hours_start", quietHoursStart)
            json.patch("quiet_hours_end", quietHoursEnd)
        }
    }
}
