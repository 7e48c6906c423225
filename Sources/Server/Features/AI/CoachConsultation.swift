import Audit
import Contract
import Domain
import NagzAI
import Postgres
import SQL
import TimeZones

extension CoachQuestion: FamilyRelatedQuestion {
    /// Returns nil: every member may ask about themselves.
    package func denial(of _: Member, _: Caller) -> Denial? { nil }

    package var continuesSession: Bool { true }

    package func consult(
        for member: Member, _ caller: Caller, _ zone: any ZoneRules, after turns: [SessionTurn], _ queries: any Queries
    ) async throws -> (facts: Snapshot<CoachFacts>, subject: Pseudonym?) {
        let nags = try await queries.query(
            AIStatements.openAndResolvedNags(
                of: familyID, subject: member.userID, from: FactWindow.recent.start(caller.now), to: caller.now)
        ).map { row throws(PostgresError) in
            CoachFacts.Nag(
                id: try row["id"], category: try row["category"], status: try row["status"], dueAt: try row["due_at"],
                closedAt: try row["closed_at"])
        }
        let row = try await queries.query(
            AIStatements.coachFacts(of: member.userID, in: familyID, at: caller.now)
        ).onlyRow()
        let stored: StoredPreferences = try row["prefs"]
        var facts = CoachFacts(
            familyID: familyID, userID: member.userID, nags: nags, missCount7d: try row["misses"],
            streak: try row["streak"], tone: stored.effective(familyZone: member.familyZone).tone)
        facts.sessionTurns = turns
        return (Snapshot(facts, now: caller.now, zone: zone), member.pseudonym)
    }
}

extension AIStatements {
    /// Reads the facts that decide on the tone towards a member, and the member's preferences.
    static func coachFacts(of user: UserID, in family: FamilyID, at now: Timestamp) -> SQL {
        """
        SELECT (SELECT count(*) FROM nag_events e WHERE e.family_id = m.family_id AND e.recipient_id = m.user_id
                    AND e.event_type = 'nag_missed' AND e.at > \(FactWindow.recent.start(now)) AND e.at <= \(now))
                   AS misses,
               coalesce(t.streak, 0) AS streak,
               \(PreferenceStatements.preferences(of: "m.user_id", in: "m.family_id")) AS prefs
        FROM memberships m LEFT JOIN member_totals t ON t.family_id = m.family_id AND t.user_id = m.user_id
        WHERE m.family_id = \(family) AND m.user_id = \(user)
        """
    }
}
