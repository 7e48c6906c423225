import Audit
import Contract
import Domain
import JSON
import NagzAI
import Postgres
import SQL

extension Executions {
    /// Declines the confirmation that a question needs. The confirmation can no longer be used. The audit log records
    /// that it was declined, and so does the history if the confirmation was stored with the question's record.
    func decline(
        _ caller: Caller, _ call: Call<NoParameters, ConfirmationReply>
    ) async throws -> CancelledExecution {
        guard !call.body.isAccepted else { throw APIError.confirmationIsAcceptedByAsking }
        let digest = AITokens.digest(call.body.confirmation)
        return try await services.writeToOwnChain(caller) { account, seq, queries in
            let rows = try await queries.query(
                ExecutionStatements.usableConfirmation(digest, of: caller.userID, at: caller.now))
            guard let row = rows.first else { throw APIError.noSuchConfirmation }
            let declined = try DeclinedQuestion(
                row, of: account.family, as: services.random.identifier(at: caller.now), at: caller.now)
            let act = Act(
                kind: .aiConfirmationDeclined, basis: .nothingChanged(since: seq), actor: account.pseudonym,
                resource: declined.record?.nagID?.retyped(), details: declined.auditDetails, stampedRows: 0,
                statements: [ExecutionStatements.consume(confirmation: digest, at: caller.now)]
                    + [declined.record.map { ExecutionStatements.insert(declined: $0) }].compactMap(\.self))
            return .perform(act, CancelledExecution())
        }
    }
}

/// A question whose confirmation was declined.
private struct DeclinedQuestion {
    /// Whether a constraint required the confirmation.
    let isForConstraint: Bool
    /// Whether the confirmation was required because the device had failed.
    let isForFallback: Bool
    /// The record for the history; nil if the confirmation was stored without one, or in another family than the
    /// person's present one.
    let record: ExecutionRecord?

    /// - Parameters:
    ///   - family: the person's family; nil if they are in none.
    ///   - id: the ID of the record for the history.
    init(_ row: Row, of family: FamilyID?, as id: ExecutionID, at now: Timestamp) throws {
        let (isForConstraint, isForFallback): (Bool, Bool) = (try row["of_constraint"], try row["of_fallback"])
        (self.isForConstraint, self.isForFallback) = (isForConstraint, isForFallback)
        guard let text: String = try row["record"], try row["family_id"] == family else {
            record = nil
            return
        }
        guard let json = try? JSONValue(parsing: Array(text.utf8).span), var record = try? ExecutionRecord(json: json)
        else { throw PostgresError.unexpectedShape("the record of a confirmation") }
        (record.id, record.execution.id, record.createdAt) = (id, id, now)
        record.errorCode = ExecutionCode.cancelled.rawValue
        if isForConstraint { record.execution.constraintConfirmed = .no }
        if isForFallback { record.execution.fallbackConfirmed = .no }
        record.execution.reason = record.execution.derivedReason
        record.execution.stages.removeAll { $0.stage == .failed }
        record.execution.stages.append(StageTime(.failed, at: now))
        self.record = record
    }

    /// The details for the audit entry. `trace` is the question's trace; the entry itself has the trace of the request
    /// that declines.
    var auditDetails: AuditBody {
        var details = record?.execution.auditDetails ?? [:]
        let reasons = [isForConstraint ? "constraint" : nil, isForFallback ? "fallback" : nil].compactMap(\.self)
        details["declined"] = reasons.joined(separator: ",")
        details["error_code"] = ExecutionCode.cancelled.rawValue
        details["operation"] = record?.operation.rawValue
        details["question"] = record?.questionID?.description
        details["trace"] = record?.traceID.description
        return details
    }
}
