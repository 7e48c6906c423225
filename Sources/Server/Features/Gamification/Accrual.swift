import Audit
import Contract
import Domain
import Postgres
import SQL
import TimeZones

/// The points, badges and incentives that a nag's end earns or costs its recipient, as parts of the act that ends it.
struct Accrual {
    let statements: [SQL]
    /// The details for the audit log.
    let details: AuditBody
    /// The number of gamification events that the statements insert.
    let eventCount: Int
}

extension Gamification {
    /// The number of finished weeks before the present one that are examined for `perfect_week`.
    private static let examinedWeekCount = 8

    /// Returns the points, the streak, the badges and the incentives for a nag that ends now; nil if the recipient has
    /// not given the consent. A person who has switched gamification off keeps a streak, but gets no points, badges or
    /// incentives. A nag scores once: the act MUST require that nothing has changed since the sums were read.
    func accrual(
        of outcome: Punctuality, nag: NagResponse, in family: FamilyID, zone: String, at now: Timestamp,
        _ queries: any Queries
    ) async throws -> Accrual? {
        let user = nag.recipientID
        let record = try Record(try await queries.query(GamificationStatements.record(of: user, in: family)).onlyRow())
        guard record.hasConsent else { return nil }
        let laterCompletions =
            outcome == .missed ? try await countLaterOnTimeCompletions(nag, in: family, zone: zone, queries) : 0
        let score = Score(
            outcome, multiplier: record.multiplier, currentStreak: record.streak - min(laterCompletions, record.streak),
            givesPoints: record.isEnabled)
        let facts = BadgeFacts(
            completions: record.completions + (outcome == .missed ? 0 : 1),
            streak: max(0, record.streak + score.streakDelta))
        let incentives =
            outcome == .missed || !record.isEnabled ? [] : incentives(record, facts, nag: nag.id, for: user, at: now)
        let grantedIncentives = incentives.filter { $0.terms.approvalMode == .auto }
        var increments = TotalIncrements(
            points: score.points, streakDelta: score.streakDelta, events: 1, completions: outcome == .missed ? 0 : 1)
        increments.add(grantedIncentives)
        var statements = [
            GamificationStatements.insertEvent(
                score, outcome, services.random.identifier(at: now), nag: nag.id, for: user, at: now),
            GamificationStatements.addToTotals(increments, for: user),
        ]
        var details: AuditBody = ["points": "\(score.points)", "streak_delta": "\(score.streakDelta)"]
        if !incentives.isEmpty {
            statements.append(IncentiveStatements.insertEvents(incentives, at: now))
            details.merge(IncentiveNote.details(incentives.map(\.note)))
        }
        if !grantedIncentives.isEmpty {
            statements.append(GamificationStatements.insertEvents(grantedIncentives, at: now))
        }
        var earnedBadges = record.isEnabled ? BadgeType.newlyEarned(facts, already: record.badges) : []
        if record.isEnabled, outcome != .missed, !record.badges.contains(.perfectWeek),
            try await hasPerfectWeek(facts, user, in: family, zone: zone, at: now, queries)
        {
            earnedBadges.append(.perfectWeek)
        }
        if grantedIncentives.contains(where: { $0.terms.reward == .badge }) { earnedBadges.append(.familyAward) }
        if !earnedBadges.isEmpty {
            statements.append(GamificationStatements.insertBadges(earnedBadges, to: user, at: now))
            details["badges"] = earnedBadges.map(\.rawValue).joined(separator: ",")
        }
        return Accrual(statements: statements, details: details, eventCount: 1 + grantedIncentives.count)
    }

    /// Counts the on-time completions of series instances that are due on a later day than the missed nag. They count
    /// for that later day, so the miss does not remove them from the streak.
    private func countLaterOnTimeCompletions(
        _ missedNag: NagResponse, in family: FamilyID, zone: String, _ queries: any Queries
    ) async throws -> Int {
        let day = services.zones.zoneOrUTC(zone).day(containing: missedNag.dueAt)
        return try await queries.query(
            GamificationStatements.countInstancesOnTime(
                of: missedNag.recipientID, in: family, dueFrom: day.upperBound)
        ).onlyRow()["count"]
    }

    /// Returns the incentives that the family's active rules give for a completion, or propose for a guardian's
    /// approval.
    private func incentives(
        _ record: Record, _ facts: BadgeFacts, nag: NagID, for user: UserID, at now: Timestamp
    ) -> [Incentive] {
        record.activeRules.filter { rule in
            rule.terms.applies(
                completions: facts.completions, streaks: (record.streak, facts.streak), badges: record.badges)
        }.map { rule in
            Incentive(id: services.random.identifier(at: now), nag: nag, user: user, rule: rule)
        }
    }

    /// Returns whether one of the last finished weeks was perfect. Only finished weeks are examined, because nags can
    /// be added to a week until it ends. So the badge is given with a completion in a later week.
    private func hasPerfectWeek(
        _ facts: BadgeFacts, _ user: UserID, in family: FamilyID, zone: String, at now: Timestamp,
        _ queries: any Queries
    ) async throws -> Bool {
        let weeks = services.zones.zoneOrUTC(zone).weekStarts(upTo: now, count: Self.examinedWeekCount + 1)
        let rows = try await queries.query(GamificationStatements.weekCounts(of: user, in: family, between: weeks))
        return try rows.map { row throws(PostgresError) in
            var facts = facts
            facts.dueInWeek = try row["due"]
            facts.onTimeInWeek = try row["on_time"]
            return BadgeType.perfectWeek.isReached(by: facts)
        }.contains(true)
    }
}
