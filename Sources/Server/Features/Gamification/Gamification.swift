import Audit
import Contract
import Domain
import Postgres
import TimeZones

/// Points, streaks and badges of a family's members. These operations show nothing, and nothing is accrued, without
/// the consent `gamification_participation` of the person concerned.
package final class Gamification {
    let services: Services

    package init(_ services: Services) { self.services = services }

    /// Registers the operations of the tag `gamification`: points, streaks and badges.
    func register(in routes: RouteTable) {
        routes.signedIn(API.getGamificationSummary, getSummary)
        routes.signedIn(API.getLeaderboard, getLeaderboard)
        routes.signedIn(API.listGamificationEvents, listEvents)
        routes.signedIn(API.listBadges, listBadges)
    }

    /// Returns the caller's own totals.
    func getSummary(_ caller: Caller, _ call: Call<FamilyQuery, NoBody>) async throws -> GamificationSummary {
        let family = call.parameters.familyID
        _ = try await services.access.member(caller, of: family, services.database)
        let record = try await ownEnabledRecord(caller, in: family)
        return GamificationSummary(
            familyID: family, userID: caller.userID, totalPoints: record.points, currentStreak: record.streak,
            eventCount: record.eventCount)
    }

    /// Returns the points in the family's current local week, of the members who take part.
    func getLeaderboard(_ caller: Caller, _ call: Call<FamilyQuery, NoBody>) async throws -> LeaderboardResponse {
        let family = call.parameters.familyID
        let member = try await services.access.member(caller, of: family, services.database)
        _ = try await ownEnabledRecord(caller, in: family)
        let week = services.zones.zoneOrUTC(member.familyZone).week(containing: caller.now)
        let rows = try await services.database.query(GamificationStatements.leaderboard(of: family, week))
        return LeaderboardResponse(
            familyID: family, periodStart: week.lowerBound,
            entries: try rows.map { row throws(PostgresError) in
                LeaderboardEntry(userID: try row["user_id"], totalPoints: try row["points"])
            })
    }

    /// Lists a member's gamification events, newest first, for the member and the guardians.
    func listEvents(
        _ caller: Caller, _ call: Call<GamificationEventsQuery, NoBody>
    ) async throws -> Page<GamificationEventResponse> {
        let query = call.parameters
        let member: Member
        if let family = query.familyID {
            member = try await services.access.member(caller, of: family, services.database)
        } else {
            member = try await services.access.member(
                caller, orThrow: .noSuchMember, services.database)
        }
        try await requireInsight(caller, member, into: query.userID)
        let rows = try await services.database.query(
            GamificationStatements.events(of: query.userID, in: member.familyID, query.page))
        return try Page(rows, answering: query.page) { row in
            guard let id: EventID = try row["id"] else { return nil }
            return GamificationEventResponse(
                id: id, familyID: member.familyID, userID: query.userID, eventType: try row["event_type"],
                deltaPoints: try row["delta_points"], streakDelta: try row["streak_delta"], at: try row["at"])
        }
    }

    /// Lists a member's badges in the order in which they were earned, for the member and the guardians. Badges that
    /// clients do not know are left out.
    func listBadges(_ caller: Caller, _ call: Call<UserInFamilyQuery, NoBody>) async throws -> [BadgeResponse] {
        let (user, family) = (call.parameters.userID, call.parameters.familyID)
        let member = try await services.access.member(caller, of: family, services.database)
        try await requireInsight(caller, member, into: user)
        return try await services.database.query(GamificationStatements.clientBadges(of: user, in: family))
            .map { row throws(PostgresError) in
                BadgeResponse(
                    id: try row["id"], userID: user, familyID: family, badgeType: try row["badge_type"],
                    earnedAt: try row["earned_at"])
            }
    }

    /// Requires that the caller, as `member`, may see the points of `user`, and that `user` has given the consent.
    private func requireInsight(_ caller: Caller, _ member: Member, into user: UserID) async throws {
        if let denial = RoleMatrix.denialOfMemberData(
            isSelf: user == member.userID, by: MemberState(role: member.role))
        {
            try await services.refuse(caller, member, .gamificationReadDenied, denial)
        }
        _ = try await consentedRecord(of: user, in: member.familyID)
    }

    /// Returns the caller's record.
    /// - Throws: 403 without the consent, and for a member who has switched gamification off.
    private func ownEnabledRecord(_ caller: Caller, in family: FamilyID) async throws -> Record {
        let record = try await consentedRecord(of: caller.userID, in: family)
        guard record.isEnabled else { throw APIError.pointsAreOff }
        return record
    }

    /// Returns a member's record.
    /// - Throws: 403 without the consent, 404 for somebody who never was a member.
    private func consentedRecord(of user: UserID, in family: FamilyID) async throws -> Record {
        let rows = try await services.database.query(GamificationStatements.record(of: user, in: family))
        guard let row = rows.first else { throw APIError.noSuchMember }
        let record = try Record(row)
        guard record.hasConsent else { throw APIError.pointsNeedConsent }
        return record
    }
}

extension Gamification {
    /// A member's totals and badges, whether they take part, and what their family gives for a completed nag.
    struct Record {
        let hasConsent: Bool
        /// Whether the member has switched gamification on.
        let isEnabled: Bool
        let points: Int
        /// The number of nags completed on time without a missed one in between.
        let streak: Int
        /// The number of the member's gamification events, including those that retention has deleted.
        let eventCount: Int
        /// The number of completed nags, including late ones.
        let completions: Int
        let badges: Set<BadgeType>
        /// The factor of the family's policy for points.
        let multiplier: Double
        /// The active incentive rules of the family.
        let activeRules: [RuleVersion]
        /// Whether the person is an active member of the family.
        let isMember: Bool

        init(_ row: Row) throws(PostgresError) {
            hasConsent = try row["has_consent"]
            isEnabled = try row["is_enabled"]
            points = try row["points"]
            streak = try row["streak"]
            eventCount = try row["events"]
            completions = try row["completions"]
            let names: [String] = try row.list("badges") ?? []
            badges = Set(names.compactMap(BadgeType.init(rawValue:)))
            multiplier = try row["points_multiplier"]
            activeRules = try RuleVersion.parseList(try row["rules"])
            isMember = try row["is_member"]
        }
    }
}
