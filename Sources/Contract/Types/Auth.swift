import Domain
import JSON

/// Creates an account for an adult or, with a date of birth, for a young person.
public struct SignupRequest: Hashable, WireObject {
    public var email: EmailAddress
    public var password: Secret
    public var displayName: String?
    /// The date of birth. Only its date part is used.
    public var dateOfBirth: DateOfBirth?

    public init(email: EmailAddress, password: Secret, displayName: String? = nil, dateOfBirth: DateOfBirth? = nil) {
        self.email = email
        self.password = password
        self.displayName = displayName
        self.dateOfBirth = dateOfBirth
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        email = try fields.required("email")
        password = try fields.newPassword("password")
        displayName = try fields.optionalName("display_name", 255)
        dateOfBirth = try fields.optional("date_of_birth")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("email", email)
            json.field("password", password)
            json.fieldIfPresent("display_name", displayName)
            json.fieldIfPresent("date_of_birth", dateOfBirth)
        }
    }
}

/// Signs in with email and password.
public struct LoginRequest: Hashable, WireObject {
    public var email: EmailAddress
    public var password: Secret
    /// The secret that an earlier sign-in of this device returned: attempts with it are counted by themselves.
    public var deviceSecret: Secret?

    public init(email: EmailAddress, password: Secret, deviceSecret: Secret? = nil) {
        self.email = email
        self.password = password
        self.deviceSecret = deviceSecret
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        email = try fields.required("email")
        password = try fields.secret("password", 1...Secret.passwordLengths.upperBound)
        deviceSecret = try fields.optionalText("device_secret", 1...200).map { Secret($0) }
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("email", email)
            json.field("password", password)
            json.fieldIfPresent("device_secret", deviceSecret)
        }
    }
}

/// A refresh token, to get new tokens or to end its session.
public struct RefreshRequest: Hashable, WireObject {
    public var refreshToken: Secret

    public init(refreshToken: Secret) {
        self.refreshToken = refreshToken
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        refreshToken = try fields.required("refresh_token")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("refresh_token", refreshToken)
        }
    }
}

/// Signs a child in with the family's child code, a user name and a PIN.
public struct ChildLoginRequest: Hashable, WireObject {
    /// The family's child code, as `FieldReader.code` reads it.
    public var familyCode: String
    public var username: String
    public var pin: PIN

    public init(familyCode: String, username: String, pin: PIN) {
        self.familyCode = familyCode
        self.username = username
        self.pin = pin
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        familyCode = try fields.code("family_code", 6...8)
        username = try fields.name("username", 64)
        pin = try fields.required("pin")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("family_code", familyCode)
            json.field("username", username)
            json.field("pin", pin)
        }
    }
}

/// A signed-in session: its tokens and its account.
public struct AuthResponse: Hashable, WireObject {
    public var accessToken: Secret
    public var refreshToken: Secret
    public var tokenType: String
    /// Seconds from the tokens' issue to the end of the access token.
    public var expiresIn: Int
    public var user: AuthUser
    public var familyID: FamilyID?
    public var familyRole: FamilyRole?
    /// The secret for the device to send with its next sign-in. Nil but after a sign-up and a sign-in with a password.
    public var deviceSecret: Secret?

    public init(
        accessToken: Secret, refreshToken: Secret, tokenType: String = "bearer", expiresIn: Int, user: AuthUser,
        familyID: FamilyID?, familyRole: FamilyRole?, deviceSecret: Secret? = nil
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.tokenType = tokenType
        self.expiresIn = expiresIn
        self.user = user
        self.familyID = familyID
        self.familyRole = familyRole
        self.deviceSecret = deviceSecret
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        accessToken = try fields.required("access_token")
        refreshToken = try fields.required("refresh_token")
        tokenType = try fields.defaulted("token_type", to: "bearer")
        expiresIn = try fields.required("expires_in")
        user = try fields.required("user")
        familyID = try fields.optional("family_id")
        familyRole = try fields.optional("family_role")
        deviceSecret = try fields.optional("device_secret")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("access_token", accessToken)
            json.field("refresh_token", refreshToken)
            json.field("token_type", tokenType)
            json.field("expires_in", expiresIn)
            json.field("user", user)
            json.field("family_id", familyID)
            json.field("family_role", familyRole)
            json.field("device_secret", deviceSecret)
        }
    }
}

/// The account of a session.
public struct AuthUser: Hashable, WireObject {
    public var id: UserID
    public var email: String?
    public var displayName: String?
    /// `active`, `pending_guardian_consent`, or a value of a later version.
    public var status: String
    public var createdAt: Timestamp
    public var familyMemberships: [FamilyMembership]

    public init(
        id: UserID, email: String?, displayName: String?, status: String, createdAt: Timestamp,
        familyMemberships: [FamilyMembership]
    ) {
        self.id = id
        self.email = email
        self.displayName = displayName
        self.status = status
        self.createdAt = createdAt
        self.familyMemberships = familyMemberships
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.required("id")
        email = try fields.optional("email")
        displayName = try fields.optional("display_name")
        status = try fields.required("status")
        createdAt = try fields.required("created_at")
        familyMemberships = try fields.required("family_memberships")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id)
            json.field("email", email)
            json.field("display_name", displayName)
            json.field("status", status)
            json.field("created_at", createdAt)
            json.field("family_memberships", familyMemberships)
        }
    }
}

/// A role in a family.
public struct FamilyMembership: Hashable, WireObject {
    public var familyID: FamilyID
    public var role: FamilyRole

    public init(familyID: FamilyID, role: FamilyRole) {
        self.familyID = familyID
        self.role = role
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        familyID = try fields.required("family_id")
        role = try fields.required("role")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("family_id", familyID)
            json.field("role", role)
        }
    }
}
