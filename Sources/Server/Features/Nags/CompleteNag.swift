import Audit
import Contract
import Domain
import Postgres
import SQL
import TimeZones

extension Nags {
    /// Completes a nag, for its recipient. Of any number of requests one wins and has the consequences: the event, the
    /// points, and the next instance of the series, all in one act; the others get the same answer. A note is never
    /// required, even where the nag asks for one: not every client can send it.
    func updateStatus(
        _ caller: Caller, _ call: Call<NagPath, NagStatusUpdate>, as input: Provenance
    ) async throws -> NagResponse {
        guard call.body.status == .completed else {
            throw APIError(.validationFailed, "A nag can only be reported as completed.", field: "status")
        }
        let note = call.body.note.flatMap { note in note.contains { !$0.isWhitespace } ? note : nil }
        return try await decide(caller, on: call.parameters.nagID, .updateStatus) { view, queries in
            try input.requireSameFamily(view.nag)
            switch view.nag.status {
            case .completed: return .answer(view.nag)
            case .missed, .withdrawn, .cancelledRelationshipChange:
                throw APIError(.conflict, .nagNotOpen)
            case .open: break
            }
            return try await complete(view, note: note, at: call.now, as: input, queries)
        }
    }

    /// The same for a request; the other comes from an outbox too.
    package func updateStatus(_ caller: Caller, _ call: Call<NagPath, NagStatusUpdate>) async throws -> NagResponse {
        try await updateStatus(caller, call, as: provenance(of: call.body.capture, at: call.now))
    }

    private func complete(
        _ view: NagView, note: String?, at now: Timestamp, as input: Provenance, _ queries: any Queries
    ) async throws -> Decision<NagResponse> {
        if view.nag.recurrence != nil {
            let day = countedDay(of: view.record, at: now)
            let count = try await queries.query(
                NagStatements.countCompletions(by: view.userID, in: view.familyID, day: day)
            ).one()
            if let denial = NagLimit.denialOfSeriesCompletion(completedToday: try count["count"]) {
                return view.refuse(.updateStatus, denial, .policyForbidden)
            }
        }
        var nag = view.nag
        nag.status = .completed
        nag.completedAt = now
        let punctuality = Punctuality(completedAt: now, dueAt: nag.dueAt)
        var statements = [
            NagStatements.complete(nag.id, note: note, at: now),
            event(.completed, view, at: now, ["punctuality": punctuality.rawValue], from: input),
            input.root(.status, by: view.userID, on: nag.id, at: now),
        ]
        statements += notification(of: input.event, on: nag, to: nag.creatorID, by: view.userID, at: now)
        var details: AuditBody = ["punctuality": punctuality.rawValue]
        details.merge(input.auditDetails)
        if let note { details["note_length"] = "\(note.unicodeScalars.count)" }
        var stampedRows = 2
        if let accrual = try await accrual(of: punctuality, view.record, at: now, queries) {
            statements += accrual.statements
            details.merge(accrual.details)
            stampedRows = max(stampedRows, accrual.events)
        }
        if let successor = try await successor(of: view.record, at: now, queries) {
            statements += successor.statements
            details.merge(successor.details)
        }
        return .perform(
            view.act(.nagCompleted, details: details, stampedRows: stampedRows, statements: statements), nag)
    }
}

extension Nags {
    /// What a nag's end earns or costs its recipient. A nag of a connection scores nothing: points are in the recipient's
    /// family, another ledger than the act's, and nobody outside a family makes its members earn points or rewards there.
    func accrual(
        of outcome: Punctuality, _ record: NagRecord, at now: Timestamp, _ queries: any Queries
    ) async throws -> Accrual? {
        guard let family = record.nag.familyID else { return nil }
        return try await gamification.accrual(
            of: outcome, nag: record.nag.id, for: record.nag.recipientID, in: family, zone: record.timeZone, at: now,
            queries)
    }
}

/// The next nag of a series, as parts of an act.
struct Successor {
    let id: NagID
    let dueAt: Timestamp
    let statements: [SQL]

    /// For the audit log.
    var details: AuditBody { ["next_nag": id.description, "next_due_at": dueAt.rfc3339] }
}

extension Nags {
    /// The next nag of the series; nil when there is no series, when it has a next nag already, and when its two people
    /// may no longer nag each other, which ends it.
    /// - Parameter isStillOpen: whether the nag stays open beside its successor. Then there is none while the nag before
    ///   it is open too: a series has at most one overdue open nag, and one that is not due yet.
    func successor(
        of record: NagRecord, isStillOpen: Bool = false, at now: Timestamp, _ queries: any Queries
    ) async throws -> Successor? {
        guard let recurrence = record.nag.recurrence else { return nil }
        let zone = services.zones.zone(record.timeZone)
        let anchor = RecurrenceAnchor(firstDue: record.seriesDueAt ?? record.nag.dueAt, in: zone)
        guard let dueAt = recurrence.nextDue(after: record.nag.dueAt, now: now, anchor: anchor, in: zone) else {
            return nil
        }
        let denial: Denial?
        let row: Row
        if let connection = record.nag.connectionID {
            let rows = try await queries.query(NagStatements.series(after: record.nag.id, over: connection))
            guard let found = rows.first else { return nil }
            (row, denial) = (found, try Self.denialOfConnectionNag(found))
        } else {
            row = try await queries.query(NagStatements.series(after: record.nag.id, in: record.familyID)).one()
            denial = try Self.denialOfNag(row)
        }
        if isStillOpen, try row["is_parent_open"] { return nil }
        guard try !row["has_successor"], denial == nil else { return nil }
        var next = record.nag
        next.id = services.random.identifier(at: now)
        next.dueAt = dueAt
        // A picture is one nag's: in a series without end it would never be deleted.
        next.attachmentURLs = []
        var payload = next.created
        payload["parent_nag_id"] = record.nag.id.description
        return Successor(
            id: next.id, dueAt: dueAt,
            statements: [
                NagStatements.insertSuccessor(
                    next.id, of: record.nag.id, dueAt: dueAt,
                    nextStep: services.escalationPlan.earliestStep(after: .initial, dueAt: dueAt, committedAt: nil),
                    at: now),
                NagStatements.append(
                    .created, services.random.identifier(at: now), to: next.id, from: next.creatorID,
                    for: next.recipientID, by: SystemActor.scheduler, at: now, payload, source: .system),
            ])
    }
}
