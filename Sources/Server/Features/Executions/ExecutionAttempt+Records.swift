import Audit
import Contract
import Domain
import NagzAI
import SQL

/// The records of an attempt: its report, its row of the history, and its part of an audit entry.
extension ExecutionAttempt {
    func report(_ permit: ExecutionPermit, _ record: AIRecord, by author: Authorship) -> ExecutionReport {
        var report = report(
            permit, permit.confirmed, confidence: author.confidence(record.confidence),
            sideEffects: ["ai_mediation_event"], by: author)
        report.grounding = record.grounding
        return report
    }

    /// - Parameters:
    ///   - decided: the permit's decision, before or after the person's confirmation.
    ///   - sideEffects: the rows that are written besides the history.
    func report(
        _ permit: ExecutionPermit, _ decided: DecidedRoute, confidence: Double?, sideEffects: [String],
        by author: Authorship
    ) -> ExecutionReport {
        var report = report(
            .completed, decided, permit.policy, by: author, confidence: confidence, sideEffects: sideEffects)
        report.warnings += permit.notices
        return report
    }

    private func report(
        _ end: ExecutionStage, _ decided: DecidedRoute, _ policy: PolicyResult, by author: Authorship,
        confidence: Double? = nil, sideEffects: [String] = []
    ) -> ExecutionReport {
        recordStage(end)
        return ExecutionReport(
            id: id, provider: author.provider.rawValue, model: author.model, asked: author.asked,
            route: decided.route, rule: decided.rule, claimedRule: options.rule,
            taskType: taskType, privacyLevel: question.privacyLevel, intent: question.intent,
            isFallbackAllowed: decided.isFallbackAllowed, usedFallback: author.fallback != nil,
            fallbackReason: author.fallback?.text ?? "none", fallbackConfirmed: decided.fallbackConfirmed,
            constraintConfirmed: decided.constraintConfirmed, confidence: confidence, tokenCount: question.tokenCount,
            questionHash: words.hash, questionLength: words.length,
            latencyMilliseconds: Double(microseconds) / 1_000, stages: stagesSoFar, policy: policy,
            warnings: policy.warnings, sideEffects: sideEffects)
    }

    /// Returns the record for the history; nil for a person without a family, whose questions only the audit log
    /// records.
    func record(_ report: ExecutionReport, _ code: String?) -> ExecutionRecord? {
        guard let home = requester.settings.home else { return nil }
        return ExecutionRecord(
            id: id, familyID: home, userID: caller.userID, traceID: caller.context.trace,
            questionID: options.questionID, operation: question.operation, nagID: nag, errorCode: code,
            createdAt: caller.now, execution: report)
    }

    func insertion(_ report: ExecutionReport, _ code: String?) -> SQL? {
        // A question that was refused for its id does not get it.
        let question = code == ExecutionCode.questionReused.rawValue ? nil : questionDigest
        return record(report, code).map {
            ExecutionStatements.insert($0, session: options.sessionID.map(AITokens.digest), question, in: ledger)
        }
    }

    /// Returns the details of the question and its route for an audit entry; none of its words.
    func auditDetails(_ report: ExecutionReport) -> AuditBody {
        var details = report.auditDetails
        details["operation"] = question.operation.rawValue
        details["question"] = options.questionID?.description
        return details
    }

    // MARK: Refusals

    /// Refuses a question after a model was asked, for a reason that has arisen in the meantime. Of the model's reply,
    /// only the fact that it was asked is recorded.
    func refuse<Answer>(_ error: APIError, asked reply: ModelReply) -> Decision<Answer> {
        let report = report(
            .failed, reply.decided, .nothing, by: Authorship(asked: reply.asked))
        return refuse(report, error.code.rawValue, basis: .nothing, error)
    }

    /// Refuses the question, and records that in the audit log and in the history.
    func refuse<Answer>(_ refusal: ExecutionRefusal, _ asked: ConfirmationRequest? = nil) -> Decision<Answer> {
        let report = report(.failed, refusal.decided, refusal.policy, by: refusal.author)
        var statements: [SQL] = []
        if let asked {
            statements.append(
                ExecutionStatements.insertConfirmation(
                    asked, record(report, refusal.code.rawValue), of: caller.userID,
                    in: requester.settings.home ?? ledger, until: caller.now + AITokens.confirmationLifetime))
        }
        return refuse(
            report, refusal.code.rawValue, basis: .rightsUnchanged(since: requester.seq),
            refusal.error(trace: caller.context.trace, confirmation: asked?.token), constraint: refusal.constraint,
            statements)
    }

    private func refuse<Answer>(
        _ report: ExecutionReport, _ code: String, basis: Act.Basis, _ error: APIError,
        constraint: ConstraintID? = nil, _ statements: [SQL] = []
    ) -> Decision<Answer> {
        var details = auditDetails(report)
        details["constraint"] = constraint?.description
        details["error_code"] = code
        let act = Act(
            kind: .aiExecutionRefused, basis: basis, actor: requester.pseudonym, subject: subject,
            resource: nag?.retyped(), details: details, stampedRows: 0,
            statements: [insertion(report, code)].compactMap(\.self) + statements)
        return .refuse(act, error)
    }
}

extension ExecutionReport {
    /// The details of a question's route for an audit entry: names, codes and digests.
    var auditDetails: AuditBody {
        // In the order of their names, which is the order in which they are stored.
        var details: AuditBody = [:]
        if let asked {
            details["asked_model"] = asked.name
            details["asked_provider"] = asked.provider.rawValue
            details["asked_reach"] = asked.reach.rawValue
        }
        details["claimed_rule_id"] = claimedRule?.rawValue
        if constraintConfirmed != .none { details["constraint_confirmed"] = constraintConfirmed.rawValue }
        details["fallback_confirmed"] = fallbackConfirmed.rawValue
        details["fallback_reason"] = fallbackReason
        details["model"] = model
        details["provider"] = provider
        details["question_hash"] = questionHash
        if questionLength > 0 { details["question_length"] = "\(questionLength)" }
        details["route"] = route?.rawValue
        details["rule_id"] = rule?.rawValue
        details["task_type"] = taskType.rawValue
        details["used_fallback"] = "\(usedFallback)"
        return details
    }
}
