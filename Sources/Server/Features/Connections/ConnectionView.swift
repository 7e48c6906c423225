import Audit
import Contract
import Domain
import Postgres
import SQL

/// A connection as one of its parties sees it, and the facts that decisions about it depend on, as of one moment.
struct ConnectionView {
    var connection: ConnectionResponse
    /// The caller's account.
    let account: Account
    /// The caller as a party of the connection.
    let party: ConnectionParty
    /// The other party; nil for the inviter unless the invitation was accepted.
    let otherID: UserID?
    /// The other party's pseudonym; nil if `otherID` is nil or their account was deleted.
    let otherPseudonym: Pseudonym?
    /// Whether the inviter lets the invitee nag the inviter's children.
    let inviterSharesChildren: Bool
    /// Whether the invitee lets the inviter nag the invitee's children.
    let inviteeSharesChildren: Bool
    /// The numbers of active connections of the caller and of the inviter.
    let callerAndInviterActiveCounts: [Int]
    /// The number of the connection's open nags, and of those to children.
    let openNagCounts: (all: Int, toChildren: Int)
    /// The newest sequence number of the connection's ledger.
    let seq: Int64

    init(_ row: Row, for account: Account) throws {
        connection = try ConnectionResponse(row, for: account.id)
        self.account = account
        party = ConnectionParty(
            isInviter: connection.inviterID == account.id, isGuardian: try row["is_guardian"],
            isBlocked: try row["is_blocked"], isSuspended: try row["is_suspended"],
            sharesFamily: try row["shares_family"])
        otherID = try row["other_id"]
        otherPseudonym = try row["other_pseudonym"]
        (inviterSharesChildren, inviteeSharesChildren) = (
            try row["inviter_shares_children"], try row["invitee_shares_children"]
        )
        callerAndInviterActiveCounts = [try row["own_active"], try row["inviter_active"]]
        openNagCounts = (try row["open_nags"], try row["open_child_nags"])
        seq = try row["seq"]
    }

    /// Whether the other party may nag the caller's children.
    var callerSharesChildren: Bool { party.isInviter ? inviterSharesChildren : inviteeSharesChildren }
    /// Whether the caller may nag the other party's children.
    var otherSharesChildren: Bool { party.isInviter ? inviteeSharesChildren : inviterSharesChildren }

    /// Returns an act of the caller on the connection.
    func act(_ kind: AuditKind, details: AuditBody = [:], _ statements: SQL...) -> Act {
        Act(
            kind: kind, basis: .nothingChanged(since: seq), actor: account.pseudonym, subject: otherPseudonym,
            resource: connection.id.retyped(), details: details, changesRights: true, stampedRows: 0,
            statements: statements)
    }

    /// Returns the act, which then also cancels the connection's open nags, or only those to children.
    /// - Throws: `TooManyOpenNags`.
    func actCancellingNags(toChildrenOnly: Bool = false, from act: Act, at now: Timestamp) throws -> Act {
        let count = toChildrenOnly ? openNagCounts.toChildren : openNagCounts.all
        guard count > 0 else { return act }
        guard count <= NagStatements.cancelBatchSize else { throw TooManyOpenNags() }
        var act = act
        act.details["cancelled_nags"] = "\(count)"
        act.stampedRows = count
        act.statements += NagStatements.cancelOpenBatch(
            over: connection.id, toChildrenOnly: toChildrenOnly, at: now)
        return act
    }

    /// The error for more open nags than one act can cancel.
    struct TooManyOpenNags: Error {}

    /// Returns the decision that refuses the caller, with an entry in the connection's chain.
    func refuse(
        _ kind: AuditKind, _ denial: Denial, _ code: ErrorCode = .authorizationDenied
    ) -> Decision<ConnectionResponse> {
        .refuse(
            .denial(
                kind, basis: .rightsUnchanged(since: seq), actor: account.pseudonym, subject: otherPseudonym,
                resource: connection.id.retyped(), reason: denial.rawValue),
            APIError(code, denial))
    }
}

extension ConnectionResponse {
    /// Reads the columns of `ConnectionStatements`.
    init(_ row: Row, for user: UserID) throws {
        let (inviter, email): (UserID, String) = (try row["inviter_id"], try row["invitee_email"])
        let otherEmail: String? = try row["other_email"]
        self.init(
            id: try row["id"], inviterID: inviter, inviteeID: try row["shown_invitee_id"], inviteeEmail: email,
            status: try row["status"], caregiver: try row["caregiver"], createdAt: try row["created_at"],
            respondedAt: try row["responded_at"], otherPartyEmail: inviter == user ? email : otherEmail,
            otherPartyDisplayName: try row["other_name"])
    }
}

extension Account {
    /// The email address of an adult with a sign-in of their own; nil for everybody else.
    var adultAddress: String? { role == .child || isWaiting ? nil : email }

    /// The reason for which the person may have no connections; nil if they may have some.
    var connectionDenial: Denial? {
        isAdmin ? .administratorJoinsNoFamily : adultAddress == nil ? .connectionsForAdultsOnly : nil
    }

    /// The address under which the person can be invited; nil for somebody who may have no connections.
    var connectableAddress: String? { connectionDenial == nil ? adultAddress : nil }
}
