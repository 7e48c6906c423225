import Audit
import Contract
import Domain
import NagzAI
import Postgres
import TimeZones

/// A question about a family or one of its members, with its authorisation and its facts from PostgreSQL.
package protocol FamilyRelatedQuestion: AIQuestion {
    var familyID: FamilyID { get }

    /// Returns the reason for which the member gets no answer; nil when they get one.
    func denial(of member: Member, _ caller: Caller) -> Denial?

    /// Whether the answer builds on the turns of an AI session.
    var continuesSession: Bool { get }

    /// Reads the facts that a member may see, and the pseudonym of the person whom the facts are about; nil for the
    /// whole family.
    /// - Parameter turns: the session's turns, oldest first; empty unless `continuesSession`.
    /// - Throws: 404 when the person is not a member; `PostgresError`.
    func consult(
        for member: Member, _ caller: Caller, _ zone: any ZoneRules, after turns: [SessionTurn], _ queries: any Queries
    ) async throws -> (facts: Facts, subject: Pseudonym?)
}

extension FamilyRelatedQuestion {
    package var continuesSession: Bool { false }
}

extension MemberQuestion: FamilyRelatedQuestion {
    package func denial(of member: Member, _ caller: Caller) -> Denial? {
        RoleMatrix.denialOfMemberData(isSelf: userID == caller.userID, by: MemberState(role: member.role))
    }

    package func consult(
        for _: Member, _ caller: Caller, _ zone: any ZoneRules, after _: [SessionTurn], _ queries: any Queries
    ) async throws -> (facts: Snapshot<PatternFacts>, subject: Pseudonym?) {
        let rows = try await queries.query(
            AIStatements.misses(
                of: userID, in: familyID, from: FactWindow.patterns.start(caller.now), to: caller.now))
        guard let subject = try rows.first?["pseudonym"] as Pseudonym? else { throw APIError.noSuchMember }
        let misses = try rows.map { row throws(PostgresError) -> PatternFacts.Miss? in
            guard let dueAt: Timestamp = try row["due_at"], let missedAt: Timestamp = try row["at"] else {
                return nil
            }
            return PatternFacts.Miss(dueAt: dueAt, missedAt: missedAt)
        }.compactMap { $0 }
        let facts = PatternFacts(userID: userID, familyID: familyID, misses: misses)
        return (Snapshot(facts, now: caller.now, zone: zone), subject)
    }
}

extension FamilyQuestion: FamilyRelatedQuestion {
    /// Returns nil: every member may ask. Members who may not see facts about others get only their own.
    package func denial(of _: Member, _: Caller) -> Denial? { nil }

    package func consult(
        for member: Member, _ caller: Caller, _ zone: any ZoneRules, after _: [SessionTurn], _ queries: any Queries
    ) async throws -> (facts: Snapshot<DigestFacts>, subject: Pseudonym?) {
        let (facts, _) = try await consult(for: member, caller, about: nil, zone, queries)
        return (facts, facts.facts.subject == nil ? nil : member.pseudonym)
    }

    /// Returns the facts that a member may see about selected nags, and the ids of the nags that the digest counts.
    /// - Parameter selected: the ids of rows that the member sees, among which are nags; nil for all nags.
    func consult(
        for member: Member, _ caller: Caller, about selected: [ResourceID]?, _ zone: any ZoneRules,
        _ queries: any Queries
    ) async throws -> (facts: Snapshot<DigestFacts>, countedNags: Set<ResourceID>) {
        let seesAll = RoleMatrix.denialOfMemberData(isSelf: false, by: MemberState(role: member.role)) == nil
        let subject = seesAll ? nil : caller.userID
        let members = try await queries.query(AIStatements.activeMembers(of: familyID, subject: subject)).map { row in
            DigestFacts.Member(userID: try row["user_id"], displayName: try row["display_name"])
        }
        let rows = try await queries.query(
            AIStatements.openAndResolvedNags(
                of: familyID, subject: subject, selected: selected, from: FactWindow.recent.start(caller.now),
                to: caller.now)
        ).map { row -> (id: ResourceID, nag: DigestFacts.Nag) in
            (
                try row["id"],
                DigestFacts.Nag(
                    recipientID: try row["recipient_id"], status: try row["status"], dueAt: try row["due_at"],
                    closedAt: try row["closed_at"])
            )
        }
        let memberIDs = Set(members.map(\.userID))
        let countedRows = rows.filter { memberIDs.contains($0.nag.recipientID) && $0.nag.isCounted(now: caller.now) }
        let facts = DigestFacts(familyID: familyID, subject: subject, members: members, nags: rows.map(\.nag))
        return (Snapshot(facts, now: caller.now, zone: zone), Set(countedRows.map(\.id)))
    }
}
