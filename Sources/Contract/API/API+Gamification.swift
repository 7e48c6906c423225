import Domain

extension API {
    /// Get the caller's points and streak.
    public static let getGamificationSummary = Endpoint<FamilyQuery, NoBody, GamificationSummary>(
        Operation("getGamificationSummary", .get, "/api/v1/gamification/summary", tag: .gamification))

    /// Get the points of a family's members.
    public static let getLeaderboard = Endpoint<FamilyQuery, NoBody, LeaderboardResponse>(
        Operation("getLeaderboard", .get, "/api/v1/gamification/leaderboard", tag: .gamification))

    /// List the events that changed a member's points and streak.
    public static let listGamificationEvents = Endpoint<
        GamificationEventsQuery, NoBody, Page<GamificationEventResponse>
    >(
        Operation("listGamificationEvents", .get, "/api/v1/gamification/events", tag: .gamification))

    /// List a member's badges.
    public static let listBadges = Endpoint<UserInFamilyQuery, NoBody, [BadgeResponse]>(
        Operation("listBadges", .get, "/api/v1/gamification/badges", tag: .gamification))

    static let gamificationOperations: [Operation] = [
        getGamificationSummary.operation, getLeaderboard.operation, listGamificationEvents.operation,
        listBadges.operation,
    ]
}

// MARK: Parameters

/// A page of a member's events.
public struct GamificationEventsQuery: WireParameters, Hashable {
    public var userID: UserID
    public var familyID: FamilyID?
    public var page: PageRequest

    public init(userID: UserID, familyID: FamilyID? = nil, page: PageRequest = PageRequest()) {
        self.userID = userID
        self.familyID = familyID
        self.page = page
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        userID = try parameters.query("user_id")
        familyID = try parameters.optionalQuery("family_id")
        page = try PageRequest(parameters)
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.query("user_id", userID)
        parameters.query("family_id", familyID)
        page.write(to: &parameters)
    }
}

/// Query parameters: one member of a family.
public struct UserInFamilyQuery: WireParameters, Hashable {
    public var userID: UserID
    public var familyID: FamilyID

    public init(userID: UserID, familyID: FamilyID) {
        self.userID = userID
        self.familyID = familyID
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        userID = try parameters.query("user_id")
        familyID = try parameters.query("family_id")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.query("user_id", userID)
        parameters.query("family_id", familyID)
    }
}
