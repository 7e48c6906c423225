import Domain

extension API {
    /// Create a family.
    public static let createFamily = Endpoint<NoParameters, FamilyCreate, FamilyResponse>(
        Operation("createFamily", .post, "/api/v1/families", tag: .families, status: 201))

    /// List the caller's families: one, or none.
    public static let listFamilies = Endpoint<PageRequest, NoBody, Page<FamilyResponse>>(
        Operation("listFamilies", .get, "/api/v1/families", tag: .families))

    /// Read a family.
    public static let getFamily = Endpoint<FamilyPath, NoBody, FamilyResponse>(
        Operation("getFamily", .get, "/api/v1/families/{family_id}", tag: .families))

    /// Change a family's name or time zone.
    public static let updateFamily = Endpoint<FamilyPath, FamilyUpdate, FamilyResponse>(
        Operation("updateFamily", .patch, "/api/v1/families/{family_id}", tag: .families))

    /// Join a family with its invite code.
    public static let joinFamily = Endpoint<NoParameters, JoinRequest, MemberResponse>(
        Operation("joinFamily", .post, "/api/v1/families/join", tag: .families, status: 201))

    /// Join a given family with its invite code.
    public static let joinFamilyByID = Endpoint<FamilyPath, JoinRequest, MemberResponse>(
        Operation("joinFamilyByID", .post, "/api/v1/families/{family_id}/join", tag: .families, status: 201))

    /// Make a member a guardian, or add a removed family account again.
    public static let addMember = Endpoint<FamilyPath, MemberAdd, MemberResponse>(
        Operation("addMember", .post, "/api/v1/families/{family_id}/members", tag: .families, status: 201))

    /// List a family's members.
    public static let listMembers = Endpoint<FamilyMembersQuery, NoBody, Page<MemberDetail>>(
        Operation("listMembers", .get, "/api/v1/families/{family_id}/members", tag: .families))

    /// Create an account inside a family.
    public static let createMember = Endpoint<FamilyPath, MemberCreateAndAdd, MemberDetail>(
        Operation("createMember", .post, "/api/v1/families/{family_id}/members/create", tag: .families, status: 201))

    /// Remove a member.
    public static let removeMember = Endpoint<MemberPath, NoBody, MemberResponse>(
        Operation("removeMember", .delete, "/api/v1/families/{family_id}/members/{user_id}", tag: .families))

    /// Leave a family.
    public static let leaveFamily = Endpoint<FamilyPath, NoBody, MemberResponse>(
        Operation("leaveFamily", .post, "/api/v1/families/{family_id}/leave", tag: .families))

    /// Replace one of a family's codes.
    public static let renewFamilyCode = Endpoint<FamilyPath, CodeRenewal, FamilyResponse>(
        Operation("renewFamilyCode", .post, "/api/v1/families/{family_id}/codes/renew", tag: .families))

    /// Set a child's user name and PIN.
    public static let setChildCredentials = Endpoint<MemberPath, ChildCredentialsSet, MemberDetail>(
        Operation(
            "setChildCredentials", .put, "/api/v1/families/{family_id}/members/{user_id}/credentials", tag: .families))

    /// Unlock a child's sign-in after wrong PINs.
    public static let unlockMember = Endpoint<MemberPath, NoBody, MemberDetail>(
        Operation("unlockMember", .post, "/api/v1/families/{family_id}/members/{user_id}/unlock", tag: .families))

    /// Change a child's PIN.
    public static let changePIN = Endpoint<MemberPath, PinChangeRequest, StatusAnswer>(
        Operation("changePIN", .patch, "/api/v1/families/{family_id}/members/{user_id}/pin", tag: .families))

    /// Get a child's settings.
    public static let getChildSettings = Endpoint<MemberPath, NoBody, ChildSettingsResponse>(
        Operation("getChildSettings", .get, "/api/v1/families/{family_id}/children/{user_id}/settings", tag: .families))

    /// Change a child's settings.
    public static let updateChildSettings = Endpoint<MemberPath, ChildSettingsUpdate, ChildSettingsResponse>(
        Operation(
            "updateChildSettings", .patch, "/api/v1/families/{family_id}/children/{user_id}/settings", tag: .families))

    static let familiesOperations: [Operation] = [
        createFamily.operation, listFamilies.operation, getFamily.operation, updateFamily.operation,
        joinFamily.operation,
        joinFamilyByID.operation,
        addMember.operation, listMembers.operation, createMember.operation, removeMember.operation,
        leaveFamily.operation, renewFamilyCode.operation, setChildCredentials.operation, unlockMember.operation,
        changePIN.operation, getChildSettings.operation, updateChildSettings.operation,
    ]
}

// MARK: Parameters

/// Path parameter: one family.
public struct FamilyPath: WireParameters, Hashable {
    public var familyID: FamilyID

    public init(familyID: FamilyID) {
        self.familyID = familyID
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        familyID = try parameters.path("family_id")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.path("family_id", familyID)
    }
}

/// Query parameter: one family.
public struct FamilyQuery: WireParameters, Hashable {
    public var familyID: FamilyID

    public init(familyID: FamilyID) {
        self.familyID = familyID
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        familyID = try parameters.query("family_id")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.query("family_id", familyID)
    }
}

/// A page of a family's members.
public struct FamilyMembersQuery: WireParameters, Hashable {
    public var familyID: FamilyID
    public var page: PageRequest

    public init(familyID: FamilyID, page: PageRequest = PageRequest()) {
        self.familyID = familyID
        self.page = page
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        familyID = try parameters.path("family_id")
        page = try PageRequest(parameters)
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.path("family_id", familyID)
        page.write(to: &parameters)
    }
}

/// Path parameters: one member of a family.
public struct MemberPath: WireParameters, Hashable {
    public var familyID: FamilyID
    public var userID: UserID

    public init(familyID: FamilyID, userID: UserID) {
        self.familyID = familyID
        self.userID = userID
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        familyID = try parameters.path("family_id")
        userID = try parameters.path("user_id")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.path("family_id", familyID)
        parameters.path("user_id", userID)
    }
}
