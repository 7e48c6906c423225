import Contract
import Domain
import Postgres
import SQL
import TimeZones

/// The operations on nags. Each use case has a file of its own.
///
/// Every decision about a nag requires that nothing in its ledger has changed since the nag was read. So limits are
/// exact, and only one of several concurrent requests ends a nag.
package final class Nags {
    let services: Services
    let gamification: Gamification
    let attachments: Attachments

    package init(_ services: Services, _ gamification: Gamification, _ attachments: Attachments? = nil) {
        self.services = services
        self.attachments = attachments ?? Attachments(services)
        self.gamification = gamification
    }

    /// Registers the operations of the tag `nags`.
    func register(in routes: RouteTable) {
        routes.signedIn(API.createNag, create)
        routes.signedIn(API.listNags, list)
        routes.signedIn(API.getNag, get)
        routes.signedIn(API.updateNag, update)
        routes.signedIn(API.withdrawNag, withdraw)
        routes.signedIn(API.dismissNag, dismiss)
        routes.signedIn(API.undismissNag, undismiss)
        routes.signedIn(API.updateNagStatus, updateStatus)
        routes.signedIn(API.submitExcuse, submitExcuse)
        routes.signedIn(API.listExcuses, listExcuses)
        routes.signedIn(API.getEscalation, getEscalation)
        routes.signedIn(API.recomputeEscalation, recomputeEscalation)
    }

    /// Returns one nag, for its creator, its recipient and the guardians.
    func get(_ caller: Caller, _ call: Call<NagPath, NoBody>) async throws -> NagResponse {
        try await decideAndPerform(caller, on: call.parameters.nagID, .read) { view, _ in .answer(view.nag) }
    }

    /// Lists the nags that the caller may see. In a family, guardians see all nags, and others see those that they
    /// created or received. Over connections, people see the nags that they created or received, and those to children
    /// whose guardian they are. The list of the caller's family includes nags of connections, because members of the
    /// family created or receive these.
    package func list(_ caller: Caller, _ call: Call<NagListQuery, NoBody>) async throws -> Page<NagResponse> {
        let (query, queries) = (call.parameters, services.database)
        let scopes: [NagStatements.PageScope]
        switch (query.familyID, query.connectionID) {
        case (let family?, nil):
            let member = try await services.access.member(caller, of: family, queries)
            scopes = [.family(family, isGuardian: member.role == .guardian), .allConnections]
        case (nil, let connection?):
            _ = try await services.access.account(caller, queries)
            scopes = [.connection(connection)]
        case (nil, nil):
            let account = try await services.access.account(caller, queries)
            let familyScope = account.family.map { family in
                NagStatements.PageScope.family(family, isGuardian: account.role == .guardian)
            }
            scopes = [familyScope, .allConnections].compactMap(\.self)
        case (_?, _?):
            _ = try await services.access.account(caller, queries)
            // No nag belongs to both a family and a connection.
            return Page(items: [], total: 0, answering: query.page)
        }
        let rows = try await queries.query(NagStatements.page(query, for: caller.userID, scopes))
        return try Page(rows, answering: query.page) { try NagResponse($0) }
    }

    // MARK: Shared by the operations

    /// Returns the provenance of an input of a request.
    func provenance(of capture: Capture = .keyboard, at now: Timestamp) -> Provenance {
        Provenance(capture, at: now, event: services.random.identifier(at: now))
    }

    /// Reads a nag, checks `act` against the role matrix, and performs the closure's decision. Refusals are recorded in
    /// the audit log.
    func decideAndPerform<Answer: WireContent>(
        _ caller: Caller, on nag: NagID, _ act: NagAct,
        _ body: (NagView, any Queries) async throws -> Decision<Answer>
    ) async throws -> Answer {
        try await decideAndPerform(caller, on: nag) { view, queries in
            if let denial = RoleMatrix.denial(of: act, by: view.part) { return view.refuse(act, denial) }
            return try await body(view, queries)
        }
    }

    /// Reads a nag and performs the closure's decision, for operations that check the role matrix themselves.
    /// - Throws: 412 when the request's `If-Match` names another state of the nag.
    func decideAndPerform<Answer: WireContent>(
        _ caller: Caller, on nag: NagID, _ body: (NagView, any Queries) async throws -> Decision<Answer>
    ) async throws -> Answer {
        // Only the nag's row names its ledger, so the nag is read before the ledger is entered.
        let firstView = try await view(caller, nag, services.database)
        var unusedView: NagView? = firstView
        return try await services.ledger.write(caller, in: firstView.ledgerID) { queries in
            let view: NagView
            if let unusedView { view = unusedView } else { view = try await self.view(caller, nag, queries) }
            unusedView = nil
            if let tags = caller.context.ifMatch, !IfMatch.matches(view.nag.etag, in: tags) {
                throw APIError.nagHasChanged
            }
            return try await body(view, queries)
        }
    }

    /// Returns a nag with the caller's part in it.
    /// - Throws: 404 for a nag that is not in the caller's family, unless it is of a connection and they have a part in
    ///   it.
    func view(_ caller: Caller, _ nag: NagID, _ queries: any Queries) async throws -> NagView {
        let rows = try await NagLedger.search { ledger in
            try await queries.query(NagStatements.nag(nag, in: ledger, for: caller))
        }
        return try NagView(rows, for: caller)
    }

    /// Returns the reason why a person may not send anything new to one of these people: a block, or a relationship or
    /// a connection that is no longer active; nil when the person may send to all of them.
    func denialOfContact(
        of view: NagView, with people: [UserID], _ queries: any Queries
    ) async throws -> Denial? {
        let others = people.filter { $0 != view.userID }
        if others.isEmpty { return nil }
        if let connection = view.nag.connectionID {
            let row = try await queries.query(NagStatements.entitlement(of: view.nag.id, over: connection)).first
            return try row.map(Self.denialOfConnectionContact) ?? .connectionNotActive
        }
        let rows = try await queries.query(
            NagStatements.contactFacts(of: view.userID, with: others, in: view.ledgerID))
        return try rows.map { row throws(PostgresError) in
            RoleMatrix.denialOfContact(relationship: try row["relationship"], isBlocked: try row["is_blocked"])
        }.compactMap(\.self).first
    }

    /// Returns the period over which daily limits count for a nag: the family's local day, or at least the last 24
    /// hours if the family's zone was changed within them.
    func countedDay(of nag: NagRecord, at now: Timestamp) -> Range<Timestamp> {
        countedDay(in: nag.timeZone, zoneChangedAt: nag.timeZoneChangedAt, at: now)
    }

    /// Returns the period over which daily limits count in a family with that zone.
    /// - Parameter zoneChangedAt: the time of the last change of the family's zone; nil for never.
    func countedDay(in zone: String, zoneChangedAt: Timestamp?, at now: Timestamp) -> Range<Timestamp> {
        NagLimit.countedPeriod(
            services.zones.zoneOrUTC(zone).day(containing: now), now: now, zoneChangedAt: zoneChangedAt)
    }

    /// Returns the reason to refuse the member another change of a nag today; nil if it is allowed.
    func denialOfChange(by view: NagView, at now: Timestamp, _ queries: any Queries) async throws -> Denial? {
        let count = try await queries.query(
            NagStatements.countChanges(by: view.userID, in: view.ledgerID, day: countedDay(of: view.record, at: now))
        ).onlyRow()
        return NagLimit.denialOfChange(madeToday: try count["count"])
    }

    /// Part of an act: appends an event of this member to the nag.
    /// - Parameters:
    ///   - input: the input whose event this is; nil for a change without an input, and for a further event of one.
    ///   - source: the source of an event without `input`.
    func event(
        _ type: NagEventType, _ view: NagView, at now: Timestamp, _ payload: [String: String] = [:],
        from input: Provenance? = nil, source: StoredSource = .text, id: EventID? = nil
    ) -> SQL {
        NagStatements.insertEvent(
            type, id ?? input?.event ?? services.random.identifier(at: now), to: view.nag.id,
            from: view.nag.creatorID, for: view.nag.recipientID, by: view.userID, at: now, payload,
            source: input?.source ?? source)
    }
}
