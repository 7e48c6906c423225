import Audit
import Contract
import Domain
import Postgres
import SQL
import TimeZones

extension Nags {
    /// Returns the first time at which an instance of a series can be completed; nil for a nag that does not repeat.
    /// - Parameter previous: the due time of the instance before it; nil for the first one.
    func openingTime(of nag: NagResponse, after previous: Timestamp?, in zone: String) -> Timestamp? {
        nag.recurrence?.openingTime(of: nag.dueAt, after: previous, in: services.zones.zoneOrUTC(zone))
    }

    /// Returns the refusal of a completion before the instance opens.
    func earlyCompletionError(_ opensAt: Timestamp, in zone: String) -> APIError {
        let (date, time) = services.zones.zoneOrUTC(zone).local(opensAt)
        return .instanceIsNotOpen(
            from: "\(time.description.prefix(5))", on: "\(date)", zone: zone, opensAt: opensAt)
    }

    /// The changes to a series when the due time of one of its instances is moved, as parts of an act.
    struct SeriesChange {
        /// The time from which the instance can now be completed; nil for a nag that does not repeat.
        var opensAt: Timestamp?
        /// The statement that changes the opening of the next instance; empty if there is no open next instance.
        var statements: [SQL] = []
        var details: AuditBody = [:]

        /// The number of nags that the act stamps, including the instance itself.
        var stampedRows: Int { 1 + statements.count }
    }

    /// Returns the changes to a series when the due time of an instance is moved. If the nag does not
    /// repeat, or if only this instance is to be moved and its due time stays the same, the changes have no statement,
    /// and the opening is the present one.
    /// - Throws: 422 if the instance would be due too soon after the one before it; 409 if the whole series is to be
    ///   moved and the next instance exists already.
    func seriesChange(
        _ view: NagView, to dueAt: Timestamp, _ scope: MoveScope, _ queries: any Queries
    ) async throws -> SeriesChange {
        guard let recurrence = view.nag.recurrence, scope == .series || dueAt != view.nag.dueAt else {
            return SeriesChange(opensAt: view.nag.opensAt)
        }
        let row = try await queries.query(NagStatements.adjacentInstances(of: view.nag.id, in: view.ledgerID)).onlyRow()
        if dueAt < view.nag.dueAt, let slot: Timestamp = try row["previous_slot"],
            dueAt < recurrence.earliestMovedDueTime(after: slot)
        {
            throw APIError.instancesAreTooClose
        }
        let nextID: NagID? = try row["next_id"]
        if scope == .series, try row["has_next"] {
            throw APIError.nagHasNextInstance
        }
        var nag = view.nag
        nag.dueAt = dueAt
        var seriesChange = SeriesChange(
            opensAt: openingTime(of: nag, after: try row["previous_due_at"], in: view.timeZone))
        if let nextID, let nextDueAt: Timestamp = try row["next_due_at"] {
            var next = view.nag
            next.dueAt = nextDueAt
            seriesChange.statements = [
                NagStatements.setOpening(of: nextID, to: openingTime(of: next, after: dueAt, in: view.timeZone))
            ]
            seriesChange.details = ["following_nag": nextID.description]
        }
        return seriesChange
    }
}

/// The next nag of a series, and the statements that create it.
struct Successor {
    let id: NagID
    let dueAt: Timestamp
    let statements: [SQL]

    /// The details for the audit log.
    var details: AuditBody { ["next_nag": id.description, "next_due_at": dueAt.rfc3339] }
}

extension Nags {
    /// Returns the next nag of the series. Nil when there is no series, when its next nag exists already or would be
    /// due after the year 9999, and when the creator may no longer nag the recipient, which ends the series.
    /// - Parameter isStillOpen: whether the nag stays open beside its successor. If so, there is no successor while the
    ///   nag before this one is also open: a series has at most one overdue open nag, and one that is not due yet.
    func successor(
        of record: NagRecord, isStillOpen: Bool = false, at now: Timestamp, _ queries: any Queries
    ) async throws -> Successor? {
        guard let recurrence = record.nag.recurrence else { return nil }
        let zone = services.zones.zoneOrUTC(record.timeZone)
        let anchor = RecurrenceAnchor(firstDue: record.seriesDueAt ?? record.nag.dueAt, in: zone)
        guard let dueAt = recurrence.nextDue(after: record.slotDueAt, now: now, anchor: anchor, in: zone) else {
            return nil
        }
        let denial: Denial?
        let row: Row
        if let connection = record.nag.connectionID {
            let rows = try await queries.query(NagStatements.seriesFacts(after: record.nag.id, over: connection))
            guard let first = rows.first else { return nil }
            (row, denial) = (first, try Self.denialOfConnectionNag(first))
        } else {
            row = try await queries.query(
                NagStatements.seriesFacts(after: record.nag.id, in: record.ledgerID)
            ).onlyRow()
            denial = try Self.denialOfNag(row)
        }
        if isStillOpen, try row["is_parent_open"] { return nil }
        guard try !row["has_successor"], denial == nil else { return nil }
        var next = record.nag
        next.id = services.random.identifier(at: now)
        next.dueAt = dueAt
        next.opensAt = openingTime(of: next, after: record.nag.dueAt, in: record.timeZone)
        // An attachment belongs to one nag: in an endless series it would never be deleted.
        next.attachmentURLs = []
        var payload = next.creationPayload
        payload["parent_nag_id"] = record.nag.id.description
        return Successor(
            id: next.id, dueAt: dueAt,
            statements: [
                NagStatements.insertSuccessor(
                    next.id, of: record.nag.id, dueAt: dueAt, opensAt: next.opensAt,
                    nextStep: services.escalationPlan.earliestStepTime(after: .initial, dueAt: dueAt, committedAt: nil),
                    at: now),
                NagStatements.insertEvent(
                    .created, services.random.identifier(at: now), to: next.id, from: next.creatorID,
                    for: next.recipientID, by: SystemActor.scheduler, at: now, payload, source: .system),
            ])
    }
}
