import Audit
import Contract
import Domain
import Postgres
import SQL
import TimeZones

extension Nags {
    /// Completes a nag, for its recipient. Of several concurrent requests, one completes it: the event, the points and
    /// the next instance of the series are one act. The others get the same answer. A note is never required, even if
    /// the nag asks for one, because not every client can send it.
    /// - Throws: 409 for a nag that has ended in another way, and before the opening of an instance of a series.
    ///   422 for a status other than `completed`.
    func updateStatus(
        _ caller: Caller, _ call: Call<NagPath, NagStatusUpdate>, as input: Provenance
    ) async throws -> NagResponse {
        guard call.body.status == .completed else { throw APIError.statusIsNotCompleted }
        let note = call.body.note.flatMap { note in note.contains { !$0.isWhitespace } ? note : nil }
        return try await decideAndPerform(caller, on: call.parameters.nagID, .complete) { view, queries in
            try input.requireOutboxFamily(of: view.nag)
            switch view.nag.status {
            case .completed: return .answer(view.nag)
            case .missed, .withdrawn, .cancelledRelationshipChange:
                throw APIError(.conflict, .nagNotOpen)
            case .open: break
            }
            if let opensAt = view.nag.opensAt, caller.now < opensAt {
                throw earlyCompletionError(opensAt, in: view.timeZone)
            }
            return try await complete(view, note: note, at: caller.now, as: input, queries)
        }
    }

    /// Completes a nag for a request. The method above also serves inputs of an outbox.
    package func updateStatus(_ caller: Caller, _ call: Call<NagPath, NagStatusUpdate>) async throws -> NagResponse {
        try await updateStatus(caller, call, as: provenance(of: call.body.capture, at: caller.now))
    }

    /// Decides about the completion of an open nag.
    private func complete(
        _ view: NagView, note: String?, at now: Timestamp, as input: Provenance, _ queries: any Queries
    ) async throws -> Decision<NagResponse> {
        if view.nag.recurrence != nil {
            let day = countedDay(of: view.record, at: now)
            let count = try await queries.query(
                NagStatements.countCompletions(by: view.userID, in: view.ledgerID, day: day)
            ).onlyRow()
            if let denial = NagLimit.denialOfSeriesCompletion(completedToday: try count["count"]) {
                return view.refuse(.complete, limit: denial, at: now)
            }
        }
        var nag = view.nag
        nag.status = .completed
        (nag.completedAt, nag.completionNote) = (now, note)
        let punctuality = Punctuality(completedAt: now, dueAt: nag.dueAt)
        var statements = [
            NagStatements.markCompleted(nag.id, note: note, at: now),
            event(.completed, view, at: now, ["punctuality": punctuality.rawValue], from: input),
            input.insert(.status, by: view.userID, on: nag.id, at: now),
        ]
        statements += notification(of: input.event, on: nag, to: nag.creatorID, by: view.userID, at: now)
        var details: AuditBody = ["punctuality": punctuality.rawValue]
        details.merge(input.auditDetails)
        if let note { details["note_length"] = "\(note.unicodeScalars.count)" }
        var stampedRows = 2
        if let accrual = try await accrual(of: punctuality, view.record, at: now, queries) {
            statements += accrual.statements
            details.merge(accrual.details)
            stampedRows = max(stampedRows, accrual.eventCount)
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
    /// Returns the accrual of a nag's end for its recipient; nil if nothing is scored. A nag of a connection scores
    /// nothing, because nobody outside a family may cause points or rewards in it. The points would also be in another
    /// ledger than the act.
    func accrual(
        of outcome: Punctuality, _ record: NagRecord, at now: Timestamp, _ queries: any Queries
    ) async throws -> Accrual? {
        guard let family = record.nag.familyID else { return nil }
        return try await gamification.accrual(
            of: outcome, nag: record.nag, in: family, zone: record.timeZone, at: now, queries)
    }
}
