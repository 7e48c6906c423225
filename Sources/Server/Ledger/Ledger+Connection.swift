import Contract
import Domain
import Postgres
import Reactor
import SQL

extension Ledger {
    /// Creates the ledger of a new connection in one transaction, which locks the pair of people and the inviter. So
    /// invitations between the same two people, and those of one inviter, are decided one at a time.
    ///
    /// `decide` runs under the locks. If another act stored the person's sealing key first, the transaction is
    /// repeated, and `decide` with it. A decision to write creates the ledger; the others create nothing.
    /// - Parameters:
    ///   - id: the ID of the connection.
    ///   - pair: a text that is the same for both people, whoever of them invites.
    /// - Throws: what `decide` throws, the refusal it decides on, which is not recorded, or 503 if too many writes wait
    ///   or the clocks differ too much.
    func createConnectionLedger<Answer: WireContent>(
        _ caller: Caller, _ id: FamilyID, pair: String, _ decide: (any Queries) async throws -> Decision<Answer>
    ) async throws -> Answer {
        // One invitation of a person at a time on this loop, so that only one session waits for the locks.
        let inviter: FamilyID = caller.userID.retyped()
        return try await idempotently(caller) { idempotency in
            try await retryingOnKeyConflict {
                let deadline = database.newRequestDeadline
                try await rowLockLimiter.enter(inviter, until: deadline)
                defer { rowLockLimiter.leave(inviter) }
                let boundOutcome = try await database.transaction(until: deadline) { transaction in
                    // Always the pair first, so that two invitations never wait for each other.
                    _ = try await transaction.query("SELECT \(Self.lockExpression(pair))")
                    _ = try await transaction.query("SELECT \(Self.lockExpression(caller.userID.description))")
                    let decision = try await decide(transaction)
                    var seal: Sealing.Seal?
                    if case .perform(let act, let answer) = decision {
                        seal = try await self.seal(for: act, transaction)
                        _ = try await transaction.query("INSERT INTO family_clock (family_id) VALUES (\(id))")
                        let write = statement(
                            act, in: id, caller.context, idempotency: idempotency, storedAnswer: answer.content,
                            seal: seal)
                        guard try await !transaction.query(write).isEmpty else { throw APIError.clocksDiffer }
                    }
                    return LoopBound(value: (decision, seal))
                }
                let (decision, seal) = boundOutcome.value
                if decision.dataSubject != nil { recordCommit(seal, in: id) }
                return try decision.outcome()
            }
        }
    }

    /// Returns an expression that takes a lock until the transaction ends.
    private static func lockExpression(_ name: String) -> SQL {
        "pg_advisory_xact_lock(hashtextextended(\(name), 7107))"
    }
}
