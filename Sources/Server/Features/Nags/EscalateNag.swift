import Audit
import Contract
import Domain
import Postgres
import SQL
import TimeZones

/// The result of one attempt to escalate a nag.
enum EscalationResult: Equatable {
    /// A step that was due at that moment was taken. Another step may be due.
    case stepped(due: Timestamp)
    /// No step is due before that moment.
    case waits(until: Timestamp)
    /// The nag is not open, or does not exist.
    case ended
}

extension Nags {
    /// Takes the next step of a nag's escalation if it is due: an act with its event, its audit entry and at most one
    /// delivery for each channel of the person who is notified. If several steps are due at once, after an outage, only
    /// the last one can have deliveries. The act can also create the next nag of the series and, for a missed nag, store
    /// points and rewards. If no step is due, only a stored time of the next step that is wrong is corrected.
    ///
    /// A step requires that nothing in the family has changed since the nag's phase was read, so it is taken once, even
    /// if several processes try. If the process dies, the step was taken completely or not at all.
    func escalate(_ id: NagID, in family: FamilyID, at now: Timestamp) async throws -> EscalationResult {
        var result = EscalationResult.ended
        var rescheduling: SQL?
        let _: NoAnswer = try await services.ledger.write(CallContext(systemActAt: now, services.random), in: family) {
            queries in
            (result, rescheduling) = (.ended, nil)
            let row = try await queries.query(NagStatements.escalation(of: id, in: family)).first
            guard let row, let state = try EscalationState(row, services) else { return .answer(NoAnswer()) }
            guard let next = state.nextStep else { return .answer(NoAnswer()) }
            guard next.at <= now else {
                result = .waits(until: next.at)
                if state.storedNextStepAt != next.at {
                    rescheduling = NagStatements.reschedule(state.record, to: next.at)
                }
                return .answer(NoAnswer())
            }
            result = .stepped(due: next.at)
            switch next.stage {
            case .missed: return .perform(try await missAct(state.record, at: now, queries), NoAnswer())
            case .phase(let phase):
                return .perform(try await stepAct(to: phase, dueAt: next.at, state, at: now, queries), NoAnswer())
            }
        }
        if let rescheduling { _ = try await services.database.query(rescheduling) }
        return result
    }

    /// Takes all steps that are due up to a moment, each at its own time. Only for seeds, in a database with one
    /// family.
    /// - Parameter advance: moves the clock to a step's time, and returns the clock's time.
    package func replaySteps(
        in family: FamilyID, until moment: Timestamp, advance: (Timestamp) -> Timestamp
    ) async throws {
        while let due = try await services.database.query(NagStatements.oldestDue(at: moment)).first {
            _ = try await escalate(try due["id"], in: family, at: advance(try due["next_step_at"]))
        }
    }

    /// Returns the act that takes a nag to a phase.
    private func stepAct(
        to phase: EscalationPhase, dueAt: Timestamp, _ state: EscalationState, at now: Timestamp, _ queries: any Queries
    ) async throws -> Act {
        let (record, nag) = (state.record, state.record.nag)
        let followingStepAt = state.escalation.step(after: .phase(phase))?.at ?? now
        let event: EventID = services.random.identifier(at: now)
        var statements = [
            NagStatements.setPhase(nag.id, to: phase, nextStep: followingStepAt, at: now),
            NagStatements.insertEvent(
                .escalated, event, to: nag.id, from: nag.creatorID, for: nag.recipientID, by: SystemActor.scheduler,
                at: now, ["phase": phase.rawValue], source: .system),
        ]
        var details: AuditBody = ["phase": phase.rawValue, "step_due_at": dueAt.rfc3339]
        if followingStepAt > now, let (user, channels) = state.addressee(of: phase) {
            statements += channels.map { channel in
                DeliveryStatements.insert(
                    services.random.identifier(at: now), of: event, on: nag.id, to: user, by: channel, at: now)
            }
            details["delivery"] = channels.map(\.rawValue).joined(separator: ",")
        }
        if phase == .overdueSoft,
            let successor = try await successor(of: record, isStillOpen: true, at: now, queries)
        {
            statements += successor.statements
            details.merge(successor.details)
        }
        return record.act(
            .nagEscalated, by: SystemActor.scheduler.retyped(), details: details, stampedRows: 2,
            statements: statements)
    }

    // MARK: Operations

    /// Returns the phase of a nag, for its creator, its recipient and the guardians. A nag that is not open keeps its
    /// last phase.
    func getEscalation(_ caller: Caller, _ call: Call<NagPath, NoBody>) async throws -> EscalationResponse {
        try await decideAndPerform(caller, on: call.parameters.nagID, .read) { view, queries in
            let row = try await queries.query(NagStatements.escalation(of: view.nag.id, in: view.ledgerID)).first
            guard let row, let state = try EscalationState(row, services) else { throw APIError.noSuchNag }
            return .answer(state.response(at: caller.now))
        }
    }

    /// Takes a nag's due steps at once instead of waiting for the scheduler, and returns the nag's phase.
    func recomputeEscalation(_ caller: Caller, _ call: Call<NagPath, NoBody>) async throws -> EscalationResponse {
        var family: FamilyID?
        let _: NoAnswer = try await decideAndPerform(caller, on: call.parameters.nagID, .read) { view, _ in
            family = view.ledgerID
            return .answer(NoAnswer())
        }
        if let family {
            while case .stepped = try await escalate(call.parameters.nagID, in: family, at: caller.now) {}
        }
        return try await getEscalation(caller, call)
    }
}
