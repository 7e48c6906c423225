import Domain

extension API {
    /// Get the caller's preferences.
    public static let getPreferences = Endpoint<FamilyQuery, NoBody, PreferenceResponse>(
        Operation("getPreferences", .get, "/api/v1/preferences", tag: .preferences))

    /// Change the caller's preferences.
    public static let updatePreferences = Endpoint<FamilyQuery, PreferenceUpdate, PreferenceResponse>(
        Operation("updatePreferences", .patch, "/api/v1/preferences", tag: .preferences))

    /// Get a member's preferences.
    public static let getMemberPreferences = Endpoint<MemberPreferencesPath, NoBody, PreferenceResponse>(
        Operation("getMemberPreferences", .get, "/api/v1/preferences/{user_id}", tag: .preferences))

    /// Change a member's preferences.
    public static let updateMemberPreferences = Endpoint<MemberPreferencesPath, PreferenceUpdate, PreferenceResponse>(
        Operation("updateMemberPreferences", .patch, "/api/v1/preferences/{user_id}", tag: .preferences))

    static let preferencesOperations: [Operation] = [
        getPreferences.operation, updatePreferences.operation, getMemberPreferences.operation,
        updateMemberPreferences.operation,
    ]
}

// MARK: Parameters

/// A member, by path and query parameter.
public struct MemberPreferencesPath: WireParameters, Hashable {
    public var userID: UserID
    public var familyID: FamilyID

    public init(userID: UserID, familyID: FamilyID) {
        self.userID = userID
        self.familyID = familyID
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        userID = try parameters.path("user_id")
        familyID = try parameters.query("family_id")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.path("user_id", userID)
        parameters.query("family_id", familyID)
    }
}
