import Audit
import Contract
import Domain
import NagzAI
import Postgres
import Reactor
import SQL

/// One attempt to answer a question, before it is known how it ends.
struct ExecutionAttempt {
    let id: ExecutionID
    let caller: Caller
    let question: Question
    let options: ExecutionOptions
    /// The family or connection whose ledger records it.
    let ledger: FamilyID
    let requester: Requester
    let subject: Pseudonym?
    let nag: NagID?
    let started: MonotonicTime

    func permit(_ engine: PolicyEngine) throws(ExecutionRefusal) -> ExecutionPermit {
        try ExecutionPermit(question, options, requester.settings.mode, engine, trace: caller.context.trace)
    }

    // MARK: Tokens

    enum TokenUse {
        /// The statements that use them up.
        case used([SQL])
        /// With the confirmation that the person is asked for, if they are.
        case refused(ExecutionRefusal, ConfirmationRequest?)
    }

    /// A confirmation that somebody is asked for.
    struct ConfirmationRequest {
        let token: Secret
        let requestDigest: [UInt8]
    }

    /// Checks the AI session and what has to be confirmed. An act that uses them MUST require that nothing has changed
    /// since its facts were read.
    func useTokens(
        _ permit: ExecutionPermit, _ tokens: AITokens, _ queries: any Queries
    ) async throws -> TokenUse {
        var statements: [SQL] = []
        if let session = options.sessionID {
            let digest = AITokens.digest(session)
            let rows = try await queries.query(
                ExecutionStatements.session(digest, of: caller.userID, at: caller.now))
            guard !rows.isEmpty else {
                return .refused(
                    ExecutionRefusal(
                        .sessionOver, "This AI session is over. Begin another one.", policy: permit.policy), nil)
            }
            statements.append(ExecutionStatements.use(session: digest, at: caller.now))
        }
        if let prompt = permit.policy.confirmation {
            let request = requestDigest(prompt)
            guard let token = options.confirmation else {
                return .refused(
                    ExecutionRefusal(.confirmationNeeded, prompt, policy: permit.policy),
                    ConfirmationRequest(token: tokens.make(), requestDigest: request))
            }
            let digest = AITokens.digest(token)
            let rows = try await queries.query(
                ExecutionStatements.confirmation(digest, request, of: caller.userID, at: caller.now))
            guard !rows.isEmpty else {
                return .refused(
                    ExecutionRefusal(
                        .confirmationInvalid,
                        "This confirmation is of another question, was used before, or came too late. Ask again.",
                        policy: permit.policy), nil)
            }
            statements.append(ExecutionStatements.use(confirmation: digest, at: caller.now))
        }
        return .used(statements)
    }

    /// What a confirmation is bound to: the question, how it is to be answered, and what the person was told.
    private func requestDigest(_ prompt: String) -> [UInt8] {
        let parts = [
            question.operation.rawValue, ledger.description, nag?.description ?? "", subject?.description ?? "",
            question.privacyLevel.rawValue, question.intent?.rawValue ?? "", options.taskType?.rawValue ?? "",
            options.sessionID?.wireText ?? "",
        ]
        return sha256(Array(parts.joined(separator: "\n").utf8) + [0] + prompt.utf8 + [0] + question.content.utf8)
    }

    // MARK: Records

    func report(_ permit: ExecutionPermit, _ record: AIRecord) -> ExecutionReport {
        report(
            rule: permit.rule, permit.policy, usesFallback: permit.usesFallback,
            confidence: permit.usesFallback ? ExecutionReport.fallbackConfidence : record.confidence,
            sideEffects: ["ai_mediation_event"])
    }

    /// How sure an answer is that is not by what was asked for.
    private func report(
        rule: RoutingRule?, _ policy: PolicyResult, usesFallback: Bool, confidence: Double?, sideEffects: [String]
    ) -> ExecutionReport {
        ExecutionReport(
            id: id, provider: ProviderName.heuristic.rawValue, route: RoutingDecision.Route.cloud.rawValue,
            rule: rule, taskType: options.taskType ?? .heuristic, privacyLevel: question.privacyLevel,
            intent: question.intent, isFallbackAllowed: question.privacyLevel == .auto, usedFallback: usesFallback,
            fallbackReason: usesFallback ? "unavailable" : "none", confidence: confidence,
            tokenCount: question.tokenCount,
            latencyMilliseconds: Double(MonotonicTime.now().nanoseconds(since: started) / 1_000) / 1_000,
            policy: policy, warnings: policy.warnings, sideEffects: sideEffects)
    }

    /// The row of the history; nil for somebody without a family, of whose questions the audit log alone tells.
    func row(_ report: ExecutionReport, _ code: ExecutionCode?) -> SQL? {
        guard let home = requester.settings.home else { return nil }
        let record = ExecutionRecord(
            id: id, familyID: home, userID: caller.userID, traceID: caller.context.trace,
            questionID: options.questionID, operation: question.operation, nagID: nag, errorCode: code?.rawValue,
            createdAt: caller.now, execution: report)
        return ExecutionStatements.record(record, session: options.sessionID.map(AITokens.digest))
    }

    /// Refuses the question, and records that in the audit log and in the history.
    func refuse<Answer>(_ refusal: ExecutionRefusal, _ asked: ConfirmationRequest? = nil) -> Decision<Answer> {
        let report = report(
            rule: refusal.code == .blocked && refusal.policy.violation != nil ? .policyBlock : options.rule,
            refusal.policy, usesFallback: false, confidence: nil, sideEffects: [])
        var statements: [SQL] = []
        if let row = row(report, refusal.code) { statements.append(row) }
        if let asked {
            statements.append(
                ExecutionStatements.ask(
                    AITokens.digest(asked.token), asked.requestDigest, of: caller.userID,
                    in: requester.settings.home ?? ledger, until: caller.now + AITokens.confirmationTime))
        }
        var details: AuditBody = ["operation": question.operation.rawValue, "error_code": refusal.code.rawValue]
        details["constraint"] = refusal.constraint?.description
        let act = Act(
            kind: .aiExecutionRefused, basis: .rightsUnchanged(since: requester.seq), actor: requester.pseudonym,
            subject: subject, resource: nag?.retyped(), details: details, stampedRows: 0, statements: statements)
        return .refuse(act, refusal.error(trace: caller.context.trace, confirmation: asked?.token))
    }
}
