import Audit
import Contract
import Domain
import NagzAI
import SQL

/// The records of an attempt: its report, its row of the history, and its part of an audit entry.
extension ExecutionAttempt {
    /// Records that an AI operation has answered the question, and returns the report.
    func complete(_ permit: ExecutionPermit, _ record: AIRecord, by author: Authorship) -> ExecutionReport {
        var report = complete(
            permit, permit.confirmedRoute, confidence: author.confidence(record.ruleConfidence),
            sideEffects: ["ai_mediation_event"], by: author)
        report.grounding = record.grounding
        return report
    }

    /// Records that the question was answered, and returns the report.
    /// - Parameters:
    ///   - decidedRoute: the router's decision, before or after the person's confirmation.
    ///   - sideEffects: the kinds of rows that are written in addition to the history.
    func complete(
        _ permit: ExecutionPermit, _ decidedRoute: DecidedRoute, confidence: Double?, sideEffects: [String],
        by author: Authorship
    ) -> ExecutionReport {
        var report = finish(
            as: .completed, decidedRoute, permit.policy, by: author, confidence: confidence, sideEffects: sideEffects)
        report.warnings += permit.notices
        return report
    }

    /// Records the last stage, and returns the report.
    private func finish(
        as finalStage: ExecutionStage, _ decidedRoute: DecidedRoute, _ policy: PolicyResult, by author: Authorship,
        confidence: Double? = nil, sideEffects: [String] = []
    ) -> ExecutionReport {
        recordStage(finalStage)
        return ExecutionReport(
            id: id, provider: author.provider.rawValue, model: author.model, asked: author.asked,
            route: decidedRoute.route, rule: decidedRoute.rule, claimedRule: options.rule,
            taskType: taskType, privacyLevel: question.privacyLevel, intent: question.intent,
            isFallbackAllowed: decidedRoute.isFallbackAllowed, usedFallback: author.fallback != nil,
            fallbackReason: author.fallback?.text ?? "none", fallbackConfirmed: decidedRoute.fallbackConfirmed,
            constraintConfirmed: decidedRoute.constraintConfirmed, confidence: confidence,
            questionTokenCount: question.tokenCount, questionHash: words.hash, questionLength: words.byteCount,
            latencyMilliseconds: Double(elapsedMicroseconds) / 1_000, stages: stages, policy: policy,
            warnings: policy.warnings, sideEffects: sideEffects)
    }

    /// Returns the record for the history; nil for a person without a family, whose questions only the audit log
    /// records.
    func historyRecord(_ report: ExecutionReport, _ code: String?) -> ExecutionRecord? {
        guard let home = requester.settings.homeFamily else { return nil }
        return ExecutionRecord(
            id: id, familyID: home, userID: caller.userID, traceID: caller.context.trace,
            questionID: options.questionID, operation: question.operation, nagID: nag, errorCode: code,
            createdAt: caller.now, execution: report)
    }

    /// Returns the statement that adds the attempt to the history; nil for a person without a family.
    /// - Parameter code: the code of the refusal; nil for an answer.
    func insertion(_ report: ExecutionReport, _ code: String?) -> SQL? {
        // A question that was refused because its ID was used before is stored without its digest. So the digest that
        // is stored under the ID stays that of the first question.
        let question = code == ExecutionCode.questionReused.rawValue ? nil : questionDigest
        return historyRecord(report, code).map {
            ExecutionStatements.insert($0, session: options.sessionID.map(AITokens.digest), question, in: ledger)
        }
    }

    /// Returns the details of the question and its route for an audit entry, without the question's words.
    func auditDetails(_ report: ExecutionReport) -> AuditBody {
        var details = report.auditDetails
        details["operation"] = question.operation.rawValue
        details["question"] = options.questionID?.description
        return details
    }

    // MARK: Refusals

    /// Refuses a question for a reason that arose while a model was asked. The records name the model, but contain
    /// nothing of its reply.
    func refuse<Answer>(_ error: APIError, after reply: ModelReply) -> Decision<Answer> {
        let report = finish(
            as: .failed, reply.decidedRoute, .nothing, by: Authorship(asked: reply.askedModel))
        return refuse(report, error.code.rawValue, basis: .nothing, error)
    }

    /// Refuses the question, and records that in the audit log and in the history.
    /// - Parameter request: the confirmation that the person is asked for; nil for none.
    func refuse<Answer>(_ refusal: ExecutionRefusal, _ request: ConfirmationRequest? = nil) -> Decision<Answer> {
        let report = finish(as: .failed, refusal.decidedRoute, refusal.policy, by: refusal.author)
        var statements: [SQL] = []
        if let request {
            statements.append(
                ExecutionStatements.insertConfirmation(
                    request, historyRecord(report, refusal.code.rawValue), of: caller.userID,
                    in: requester.settings.homeFamily ?? ledger, until: caller.now + AITokens.confirmationLifetime))
        }
        return refuse(
            report, refusal.code.rawValue, basis: .rightsUnchanged(since: requester.seq),
            refusal.error(trace: caller.context.trace, confirmation: request?.token), constraint: refusal.constraint,
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
        // The names are in alphabetical order, in which they are also stored.
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
