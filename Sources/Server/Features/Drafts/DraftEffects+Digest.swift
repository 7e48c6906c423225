import Audit
import Contract
import Domain
import Postgres

extension DraftEffects {
    /// Decides about sending a digest to its recipients, in the feed and by a notification. All of them must be
    /// allowed to have it.
    ///
    /// The sender needs what a question about the family's digest needs: the consent to AI mediation, which a guardian
    /// gives for everybody, and preferences that do not switch the AI off. The digest is only in the feeds of its
    /// recipients and its sender.
    func decideDigest(
        _ digest: DigestMessage, _ draft: DraftResponse, by member: Member, _ caller: Caller, _ queries: any Queries
    ) async throws -> Decision<ResourceID> {
        // The author has the text already, so the digest needs another recipient.
        guard digest.recipientIDs.contains(where: { $0 != draft.authorID }) else { throw APIError.digestIsForOthers }
        try Requester.requireAIAllowed(
            try await queries.query(AIStatements.permission(member.userID, in: member.familyID)).onlyRow())
        let rows = try await queries.query(
            AIStatements.digestRecipientFacts(digest.recipientIDs, from: member.userID, in: member.familyID))
        for row in rows {
            guard let denial = try Self.denial(of: row, from: member) else { continue }
            return .denied(
                .draftStepDenied, to: member, reason: denial.rawValue, subject: try row["pseudonym"],
                APIError(.policyForbidden, denial))
        }
        let (now, event): (Timestamp, EventID) = (caller.now, services.random.identifier(at: caller.now))
        let notifiedRecipients = digest.recipientIDs.filter { $0 != member.userID }
        let act = Act(
            kind: .draftExecuted, basis: .nothingChanged(since: member.seq), actor: member.pseudonym,
            resource: event.retyped(),
            details: [
                "message_length": "\(digest.message.unicodeScalars.count)",
                "recipients": "\(digest.recipientIDs.count)",
            ],
            statements: [
                AIStatements.sendDigest(
                    event, digest.message, to: digest.recipientIDs, onBehalfOf: member.userID, at: now)
            ]
                + notifiedRecipients.map {
                    DeliveryStatements.insert(DeliveryIDs(services.random, at: now), of: draft.id, to: $0, at: now)
                })
        return .perform(act, event.retyped())
    }

    /// Returns the reason for which the member may not send the digest to a recipient. People who never were members
    /// are treated like former members.
    private static func denial(of row: Row, from member: Member) throws -> Denial? {
        let role: FamilyRole? = try row["role"]
        let recipient = MemberState(
            role: role ?? .child, membership: try row["status"] ?? .removed, relationship: try row["relationship"])
        return RoleMatrix.denialOfDigest(
            from: MemberState(role: member.role), to: recipient, isBlocked: try row["is_blocked"])
    }
}
