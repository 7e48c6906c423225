import Audit
import Contract
import Domain
import Postgres
import SQL

extension Nags {
    /// Creates a nag, for guardians and participants, within the daily cap. Refusals are recorded in the audit log. If
    /// the caller has just created an equal nag, a request without an Idempotency-Key and without attachments returns
    /// that nag, so that two taps create one.
    package func create(_ caller: Caller, _ call: Call<NoParameters, NagCreate>) async throws -> NagResponse {
        do {
            return try await create(call.body, by: caller)
        } catch let refusal as APIError {
            // A retry may come after the due time. Then the stored answer of the first request is returned.
            if let earlier: NagResponse = try await services.ledger.replayEarlierAnswer(caller) { return earlier }
            throw refusal
        }
    }

    /// Creates a nag over the connection that it names, or in a family.
    private func create(_ request: NagCreate, by caller: Caller) async throws -> NagResponse {
        if request.familyID != nil, request.connectionID != nil {
            throw APIError.nagHasTwoFamilies
        }
        try Self.requireValidDueTime(request, caller.now)
        return try await attachments.mappingAttachmentConflict {
            if let connection = request.connectionID { return try await create(request, over: connection, by: caller) }
            return try await create(request, in: try await family(of: request, by: caller), by: caller)
        }
    }

    /// Creates a nag in a family for a request. Dictated words to another person are refused: they may only become a
    /// draft.
    private func create(_ request: NagCreate, in family: FamilyID, by caller: Caller) async throws -> NagResponse {
        let input = provenance(of: request.capture, at: caller.now)
        return try await services.ledger.write(caller, in: family) { queries in
            let member = try await services.access.member(caller, of: family, queries)
            if let earlier = try await replayRecentDuplicate(of: request, in: family, by: caller, queries) {
                return .answer(earlier)
            }
            if let denial = input.denialOfDictation(about: request.recipientID, by: member.userID) {
                return .denied(
                    .nagCreateDenied, to: member, reason: denial.rawValue, APIError(.policyForbidden, denial))
            }
            return try await decideCreation(of: request, by: member, as: input, caller, queries)
        }
    }

    /// Returns an equal open nag that the caller created within the last two seconds, and marks the response as
    /// replayed. The result is nil without such a nag, for a request with an `Idempotency-Key`, and for a nag with
    /// attachments. An act that depends on the result MUST require that nothing has changed since.
    func replayRecentDuplicate(
        of request: NagCreate, in ledger: FamilyID, by caller: Caller, _ queries: any Queries
    ) async throws -> NagResponse? {
        guard caller.context.idempotency == nil, request.attachmentIDs.isEmpty else { return nil }
        let rows = try await queries.query(
            NagStatements.recentDuplicate(of: request, in: ledger, by: caller.userID, at: caller.now))
        guard let earlier: NagID = try rows.first?["id"] else { return nil }
        caller.markResponseReplayed()
        return try await view(caller, earlier, queries).nag
    }

    /// Creates a nag that was written offline, by the rules and within the limits of one that is sent at once.
    func create(
        _ request: NagCreate, in family: FamilyID, by caller: Caller, as input: Provenance
    ) async throws {
        let _: NagResponse = try await attachments.mappingAttachmentConflict {
            try await services.ledger.write(caller, in: family) { queries in
                let member = try await services.access.member(caller, of: family, queries)
                return try await decideCreation(of: request, by: member, as: input, caller, queries)
            }
        }
    }

    /// Decides about a new nag in the member's family.
    func decideCreation(
        of request: NagCreate, by member: Member, as input: Provenance, _ caller: Caller, _ queries: any Queries
    ) async throws -> Decision<NagResponse> {
        try Self.requireValidDueTime(request, caller.now)
        let today = countedDay(in: member.familyZone, zoneChangedAt: member.familyZoneChangedAt, at: caller.now)
        let rows = try await queries.query(
            NagStatements.creationFacts(
                for: request.recipientID, from: caller.userID, in: member.familyID, policy: request.policyID,
                day: today))
        guard let row = rows.first else { throw APIError.noSuchMember }
        if let (denial, refusal) = try Self.denial(row, in: member, at: caller.now) {
            return .refuse(
                .denial(
                    .nagCreateDenied, basis: .nothingChanged(since: member.seq), actor: member.pseudonym,
                    subject: try row["pseudonym"], reason: denial.rawValue),
                refusal)
        }
        guard try row["is_policy_known"] else { throw APIError.policyIsUnknown }
        try await attachments.requireUsable(request.attachmentIDs, by: caller, queries)
        var nag = NagResponse(
            request, id: services.random.identifier(at: caller.now), in: member.familyID, by: member.userID,
            member.displayName, recipientName: try row["display_name"], from: input.source, at: caller.now)
        nag.opensAt = openingTime(of: nag, after: nil, in: member.familyZone)
        return .perform(
            creationAct(
                of: nag, request, basis: .nothingChanged(since: member.seq), by: member.pseudonym,
                to: try row["pseudonym"], as: input),
            nag)
    }

    /// Requires a due time within the limits.
    private static func requireValidDueTime(_ request: NagCreate, _ now: Timestamp) throws(APIError) {
        if let fault = DueTimeLimit.fault(of: request.dueAt.flooredToMillisecond, now: now) {
            throw APIError.dueTimeIsInvalid(fault)
        }
    }

    /// Returns the act that creates a nag. The act's feed event has the ID that `input` gives it.
    func creationAct(
        of nag: NagResponse, _ request: NagCreate, basis: Act.Basis, by creator: Pseudonym, to recipient: Pseudonym?,
        as input: Provenance
    ) -> Act {
        let (now, event) = (nag.createdAt, input.event)
        var details: AuditBody = ["category": nag.category.rawValue, "due_at": nag.dueAt.rfc3339]
        details.merge(input.auditDetails)
        if !request.attachmentIDs.isEmpty { details["attachments"] = "\(request.attachmentIDs.count)" }
        return Act(
            kind: .nagCreated, basis: basis, actor: creator, subject: recipient, resource: nag.id.retyped(),
            details: details,
            statements: [
                NagStatements.insert(
                    nag, policy: request.policyID,
                    nextStep: services.escalationPlan.earliestStepTime(
                        after: .initial, dueAt: nag.dueAt, committedAt: nil),
                    source: input.source),
                NagStatements.insertEvent(
                    .created, event, to: nag.id, from: nag.creatorID, for: nag.recipientID, by: nag.creatorID, at: now,
                    nag.creationPayload, source: input.source),
                input.insert(.nag, by: nag.creatorID, on: nag.id, at: now),
            ] + notification(of: event, on: nag, to: nag.recipientID, by: nag.creatorID, at: now)
                + AttachmentStatements.attach(request.attachmentIDs, in: nag.id))
    }

    /// Returns the part of an act that notifies `person` of an event; nothing if the person is the actor.
    /// - Parameter onlyIfNotified: whether the person is notified only if they were notified of the nag before.
    func notification(
        of event: EventID, on nag: NagResponse, to person: UserID, by actor: UserID, onlyIfNotified: Bool = false,
        at now: Timestamp
    ) -> [SQL] {
        if person == actor { return [] }
        return [
            DeliveryStatements.insert(
                DeliveryIDs(services.random, at: now), of: event, on: nag.id, to: person,
                onlyIfNotified: onlyIfNotified,
                at: now)
        ]
    }

    /// Returns the family of the new nag. A nag that names neither a family nor a connection belongs to the creator's
    /// own family.
    private func family(of request: NagCreate, by caller: Caller) async throws -> FamilyID {
        if let family = request.familyID { return family }
        guard let family = try await services.access.account(caller, services.database).family else {
            throw APIError.nagNeedsFamily
        }
        return family
    }

    /// Returns the reason for which the nag is refused, for the audit log, and the error for the person; nil if the nag
    /// is allowed.
    private static func denial(_ row: Row, in member: Member, at now: Timestamp) throws -> (Denial, APIError)? {
        if let denial = try denialOfNag(row) { return (denial, APIError(.policyForbidden, denial)) }
        let policy = try FamilyPolicy(row)
        guard let denial = NagLimit.denialOfCreation(sentToday: try row["sent_today"], policy: policy) else {
            return nil
        }
        let next = NagLimit.resetSentence(in: member.familyZone, now: now, zoneChangedAt: member.familyZoneChangedAt)
        return (denial, .tooManyNags(denial, limit: policy.dailyNagCap, resetSentence: next))
    }

    /// Returns the reason for which the creator may not nag the recipient, by the columns of `memberStateColumns`; nil
    /// when they may.
    static func denialOfNag(_ row: Row) throws(PostgresError) -> Denial? {
        let relationship: RelationshipStatus = try row["relationship"]
        return RoleMatrix.denialOfNag(
            from: MemberState(
                role: try row["creator_role"], membership: try row["creator_membership"], relationship: relationship),
            to: MemberState(
                role: try row["recipient_role"], membership: try row["recipient_membership"],
                relationship: relationship),
            isBlocked: try row["is_blocked"])
    }
}

extension NagResponse {
    /// Creates a new open nag.
    init(
        _ request: NagCreate, id: NagID, in family: FamilyID?, by creator: UserID, _ creatorName: String?,
        recipientName: String?, from source: StoredSource, at now: Timestamp
    ) {
        self.init(
            id: id, familyID: family, connectionID: request.connectionID, creatorID: creator,
            recipientID: request.recipientID, creatorDisplayName: creatorName, recipientDisplayName: recipientName,
            dueAt: request.dueAt.flooredToMillisecond, category: request.category,
            doneDefinition: request.doneDefinition, description: request.description,
            strategyTemplate: request.strategyTemplate, recurrence: request.recurrence, parentNagID: nil,
            status: .open, createdAt: now, completedAt: nil, committedAt: nil, recipientDismissedAt: nil,
            attachmentURLs: request.attachmentIDs.map(AttachmentURL.init), source: source)
    }

    /// The payload of the nag's `nag_created` event in the feed.
    var creationPayload: [String: String] {
        [
            "category": category.rawValue, "recipient_id": recipientID.description, "due_at": dueAt.rfc3339,
            "done_definition": doneDefinition.rawValue,
        ]
    }
}
