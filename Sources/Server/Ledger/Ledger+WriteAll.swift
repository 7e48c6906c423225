import Audit
import Contract
import Domain
import Postgres
import Reactor
import SQL

extension Ledger {
    /// Commits several acts of a family in one transaction that locks the family's row: all of them or none, each with
    /// its own entry in the audit log.
    ///
    /// `decide` passes every act but the last to `perform`, and returns the last act with the answer. Its reads see the
    /// earlier acts of the transaction; the basis of each act MUST be read after the act before it. A refusal rolls all
    /// of them back, and only the refusal is recorded. If `decide` returns only an answer, the acts that it has
    /// performed are committed, but the answer is not stored for the `Idempotency-Key`.
    /// - Throws: what `decide` throws, the refusal it decides on, a refusal of the ledger as in `write`, a
    ///   `PostgresError`, or a `LedgerFault` for a basis that does not hold; then none of the acts is written.
    func writeAll<Answer: WireContent>(
        _ caller: Caller, in family: FamilyID,
        _ decide: (_ queries: any Queries, _ perform: (Act) async throws -> Void) async throws -> Decision<Answer>
    ) async throws -> Answer {
        try await idempotently(caller) { idempotency in
            do {
                return try await retryingOnKeyConflict {
                    try await writeAllLockingRow(caller.context, idempotency, in: family, decide)
                }
            } catch let refused as MultiActRefusal {
                return try await write(caller.context, in: family) { queries in
                    guard var act = refused.act else { return .refuseAgain(refused.refusal) }
                    act.basis = .nothingChanged(since: try await Self.newestSequenceNumber(of: family, queries))
                    return .refuse(act, refused.refusal)
                }
            }
        }
    }

    private func writeAllLockingRow<Answer: WireContent>(
        _ context: CallContext, _ idempotency: IdempotencyRecord?, in family: FamilyID,
        _ decide: (_ queries: any Queries, _ perform: (Act) async throws -> Void) async throws -> Decision<Answer>
    ) async throws -> Answer {
        let deadline = database.newRequestDeadline
        try await writeLimiter.enter(family, until: deadline)
        defer { writeLimiter.leave(family) }
        try await rowLockLimiter.enter(family, until: deadline)
        defer { rowLockLimiter.leave(family) }
        tally.lockedDecisions += 1
        let boundOutcome = try await database.transaction(until: deadline) { transaction in
            try await lockRow(of: family, context.now, transaction)
            var actSeals = MultiActSeals(sealing)
            let decision = try await decide(transaction) { act in
                let seal = try await actSeals.addSeal(for: act.dataSubject, transaction)
                let rows = try await transaction.query(statement(act, in: family, context, seal: seal))
                guard !rows.isEmpty else { throw LedgerFault.refusedWhileLocked }
            }
            switch decision {
            case .perform(let act, _):
                let seal = try await actSeals.addSeal(for: act.dataSubject, transaction)
                let rows = try await transaction.query(
                    statement(for: decision, in: family, context, idempotency, seal).write)
                guard !rows.isEmpty else { throw LedgerFault.refusedWhileLocked }
            case .refuse(let act, let refusal): throw MultiActRefusal(act: act, refusal: refusal)
            case .refuseAgain(let refusal): throw MultiActRefusal(act: nil, refusal: refusal)
            case .answer: break
            }
            return LoopBound(value: (decision, actSeals.used))
        }
        let (decision, seals) = boundOutcome.value
        for seal in seals { recordCommit(seal, in: family) }
        return try decision.outcome()
    }
}

/// The error that rolls back a transaction of several acts when one of them is refused.
private struct MultiActRefusal: Error {
    /// The act that records the denial; nil if an earlier entry has recorded it.
    let act: Act?
    let refusal: APIError
}

/// The sealing keys of the acts of one transaction. A key that the transaction itself stores is cached only after the
/// commit.
private struct MultiActSeals {
    private let sealing: Sealing
    private var stored: [Pseudonym: Sealing.Seal] = [:]
    /// The seal of each act; nil where its details are not sealed.
    private(set) var used: [Sealing.Seal?] = []

    init(_ sealing: Sealing) { self.sealing = sealing }

    mutating func addSeal(for person: Pseudonym, _ transaction: Transaction) async throws -> Sealing.Seal? {
        var seal: Sealing.Seal?
        if let storedSeal = stored[person] {
            seal = Sealing.Seal(key: storedSeal.key)
        } else {
            seal = try await sealing.makeSeal(for: person, transaction)
            if let newSeal = seal, newSeal.keyInsertion != nil { stored[person] = newSeal }
        }
        used.append(seal)
        return seal
    }
}
