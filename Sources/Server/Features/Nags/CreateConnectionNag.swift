import Audit
import Contract
import Domain
import Postgres
import TimeZones

extension Nags {
    /// Creates a nag over a connection, within the daily cap. The recipient is the other party, or, if the connection
    /// is a caregiver's, a child whom the other party shares. Refusals are in the connection's audit log.
    func create(
        _ request: NagCreate, over connection: ConnectionID, by caller: Caller
    ) async throws -> NagResponse {
        // Requests of people who are not the connection's parties are refused before they wait for its ledger.
        _ = try await readCreationFacts(request, over: connection, by: caller, services.database)
        let input = provenance(of: request.capture, at: caller.now)
        let write = { [self] in
            try await services.ledger.write(caller, in: connection.retyped()) { queries in
                if let earlier = try await replayRecentDuplicate(
                    of: request, in: connection.retyped(), by: caller, queries)
                {
                    return .answer(earlier)
                }
                return try await decide(request, over: connection, by: caller, as: input, queries)
            }
        }
        do {
            return try await write()
        } catch let error as PostgresError where error.violates(.nagHasConnection) {
            // A membership ended or somebody was blocked at the same time, so the second decision refuses the nag.
            return try await write()
        }
    }

    /// Decides about a nag over a connection.
    private func decide(
        _ request: NagCreate, over connection: ConnectionID, by caller: Caller, as input: Provenance,
        _ queries: any Queries
    ) async throws -> Decision<NagResponse> {
        let (account, row) = try await readCreationFacts(request, over: connection, by: caller, queries)
        let seq: Int64 = try row["seq"]
        func refuse(_ denial: Denial, _ refusal: APIError? = nil) throws -> Decision<NagResponse> {
            .refuse(
                .denial(
                    .nagCreateDenied, basis: .nothingChanged(since: seq), actor: account.pseudonym,
                    subject: try row["pseudonym"], reason: denial.rawValue),
                refusal ?? APIError(.policyForbidden, denial))
        }
        if let denial = input.denialOfDictation(about: request.recipientID, by: account.id) {
            return try refuse(denial)
        }
        if let denial = account.connectionDenial { return try refuse(denial) }
        if let denial = try Self.denialOfConnectionNag(row) { return try refuse(denial) }
        // The limit counts the recipient's day, because the creator cannot change the recipient's time zone.
        let zone: String = try row["time_zone"] ?? Preferences.standardTimeZone
        let today = countedDay(in: zone, zoneChangedAt: try row["time_zone_changed_at"], at: caller.now)
        let sent = try await queries.query(
            NagStatements.countSent(by: account.id, over: connection, day: today)
        ).onlyRow()
        if let denial = NagLimit.denialOfCreation(sentToday: try sent["count"], policy: .standard) {
            let next = NagLimit.resetSentence(in: zone, now: caller.now, zoneChangedAt: try row["time_zone_changed_at"])
            return try refuse(
                denial,
                .tooManyNagsOverConnection(denial, limit: FamilyPolicy.standard.dailyNagCap, resetSentence: next))
        }
        guard request.policyID == nil else { throw APIError.connectionHasNoPolicies }
        try await attachments.requireUsable(request.attachmentIDs, by: caller, queries)
        var nag = NagResponse(
            request, id: services.random.identifier(at: caller.now), in: nil, by: account.id, account.displayName,
            recipientName: try row["display_name"], from: input.source, at: caller.now)
        nag.opensAt = openingTime(of: nag, after: nil, in: zone)
        return .perform(
            creationAct(
                of: nag, request, basis: .nothingChanged(since: seq), by: account.pseudonym,
                to: try row["pseudonym"], as: input),
            nag)
    }

    /// Reads the caller's account, and the row of `NagStatements.creationFacts`.
    /// - Throws: 404 unless the caller is one of the connection's parties.
    private func readCreationFacts(
        _ request: NagCreate, over connection: ConnectionID, by caller: Caller, _ queries: any Queries
    ) async throws -> (Account, Row) {
        let account = try await services.access.account(caller, queries)
        let rows = try await queries.query(
            NagStatements.creationFacts(for: request.recipientID, from: account.id, over: connection))
        guard let row = rows.first else { throw APIError.noSuchConnection }
        return (account, row)
    }

    /// Returns the reason for which the creator may not nag the recipient, by the columns of
    /// `ConnectionStatements.entitlement`; nil when they may.
    static func denialOfConnectionNag(_ row: Row) throws(PostgresError) -> Denial? {
        ConnectionRule.denialOfNag(
            isActive: try row["is_active"], isCaregiver: try row["caregiver"], to: try recipient(row),
            isBlocked: try row["is_blocked"], isSuspended: try row["is_suspended"],
            sharesFamily: try row["shares_family"])
    }

    /// Returns the reason to refuse a message between an existing nag's creator and recipient; nil if it is allowed.
    /// Unlike for a new nag, it does not matter whether the connection is a caregiver's.
    static func denialOfConnectionContact(_ row: Row) throws(PostgresError) -> Denial? {
        let recipient = try recipient(row)
        return ConnectionRule.denialOfNag(
            isActive: try row["is_active"], isCaregiver: recipient == .childOfOtherParty, to: recipient,
            isBlocked: try row["is_blocked"], isSuspended: try row["is_suspended"])
    }

    /// Reads the recipient's relation to the connection.
    private static func recipient(_ row: Row) throws(PostgresError) -> ConnectionRecipient {
        let name: String = try row["recipient"]
        guard let recipient = ConnectionRecipient(rawValue: name) else { throw .unexpectedShape("recipient") }
        return recipient
    }
}
