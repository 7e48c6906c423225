import Audit
import Contract
import Domain
import NagzAI
import Postgres
import Reactor
import SQL

/// One attempt to answer a question, before it is known how it ends. A class, because every step of an answer gets it.
final class ExecutionAttempt {
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

    init(
        id: ExecutionID, caller: Caller, question: Question, options: ExecutionOptions, ledger: FamilyID,
        requester: Requester, subject: Pseudonym?, nag: NagID?, started: MonotonicTime
    ) {
        self.id = id
        self.caller = caller
        self.question = question
        self.options = options
        self.ledger = ledger
        self.requester = requester
        self.subject = subject
        self.nag = nag
        self.started = started
    }

    /// Whether the question may go to a model by the person's own key.
    var mayNeedOwnKeys: Bool { taskType == .cloudModel || requester.settings.mode == .byoOnly }

    /// What is to answer: as the client says, or by the person's mode.
    var taskType: TaskType { options.taskType ?? requester.settings.mode.usualTask }

    /// Whether a model is to word the answer.
    var asksForModel: Bool { options.asksForModel(in: requester.settings.mode) }

    func permit(_ engine: PolicyEngine, _ models: ReachableModels) throws(ExecutionRefusal) -> ExecutionPermit {
        try ExecutionPermit(
            question, options, requester.settings.mode, engine, models, trace: caller.context.trace)
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

    /// Whether there is an AI session to check or something to confirm.
    func needsTokens(for permit: ExecutionPermit) -> Bool { options.sessionID != nil || permit.prompt != nil }

    /// Checks the AI session and what has to be confirmed. An act that uses them MUST require that nothing has changed
    /// since its facts were read.
    /// - Parameter confirmed: the prompt that the question's confirmation was used up for already; nil for none.
    func useTokens(
        _ permit: ExecutionPermit, _ tokens: AITokens, confirmed: String?, _ queries: any Queries
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
        if let prompt = permit.prompt, prompt != confirmed {
            let request = requestDigest(prompt)
            guard let token = options.confirmation else {
                let code: ExecutionCode =
                    permit.policy.confirmation == nil ? .fallbackNeedsConfirmation : .confirmationNeeded
                return .refused(
                    ExecutionRefusal(code, prompt, policy: permit.policy),
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

    /// Uses the question's confirmation up, before its words leave the server: of any number of questions with the same
    /// one, one goes out.
    /// - Returns: whether it could be used.
    func useConfirmation(of prompt: String, _ queries: any Queries) async throws -> Bool {
        guard let token = options.confirmation else { return false }
        let rows = try await queries.query(
            ExecutionStatements.useNow(
                confirmation: AITokens.digest(token), requestDigest(prompt), of: caller.userID, at: caller.now))
        return !rows.isEmpty
    }

    /// What a confirmation is bound to: the question, how it is to be answered, and what the person was told.
    private func requestDigest(_ prompt: String) -> [UInt8] {
        let parts = [
            question.operation.rawValue, ledger.description, nag?.description ?? "", subject?.description ?? "",
            question.privacyLevel.rawValue, question.intent?.rawValue ?? "", options.taskType?.rawValue ?? "",
            options.model ?? "", options.sessionID?.wireText ?? "",
        ]
        return sha256(Array(parts.joined(separator: "\n").utf8) + [0] + prompt.utf8 + [0] + question.content.utf8)
    }

    // MARK: Records

    func report(_ permit: ExecutionPermit, _ record: AIRecord, by author: Authorship) -> ExecutionReport {
        var report = report(
            permit, confidence: author.confidence(record.confidence), sideEffects: ["ai_mediation_event"], by: author)
        report.grounding = record.grounding
        return report
    }

    /// - Parameter sideEffects: what is written beside the history.
    func report(
        _ permit: ExecutionPermit, confidence: Double?, sideEffects: [String], by author: Authorship
    ) -> ExecutionReport {
        var report = report(
            rule: permit.rule, permit.policy, by: author, confidence: confidence, sideEffects: sideEffects)
        report.isFallbackAllowed = permit.allowsFallback
        report.isFallbackConfirmed = permit.isWidened
        report.warnings += permit.notices
        return report
    }

    private func report(
        rule: RoutingRule?, _ policy: PolicyResult, by author: Authorship, confidence: Double?, sideEffects: [String]
    ) -> ExecutionReport {
        ExecutionReport(
            id: id, provider: author.provider.rawValue, model: author.model,
            route: RoutingDecision.Route.cloud.rawValue, rule: rule, taskType: taskType,
            privacyLevel: question.privacyLevel, intent: question.intent,
            isFallbackAllowed: question.privacyLevel == .auto, usedFallback: author.fallback != nil,
            fallbackReason: author.fallback?.text ?? "none", confidence: confidence, tokenCount: question.tokenCount,
            latencyMilliseconds: Double(MonotonicTime.now().nanoseconds(since: started) / 1_000) / 1_000,
            policy: policy, warnings: policy.warnings, sideEffects: sideEffects)
    }

    /// The row of the history; nil for somebody without a family, of whose questions the audit log alone tells.
    func row(_ report: ExecutionReport, _ code: String?) -> SQL? {
        guard let home = requester.settings.home else { return nil }
        let record = ExecutionRecord(
            id: id, familyID: home, userID: caller.userID, traceID: caller.context.trace,
            questionID: options.questionID, operation: question.operation, nagID: nag, errorCode: code,
            createdAt: caller.now, execution: report)
        return ExecutionStatements.record(record, session: options.sessionID.map(AITokens.digest), in: ledger)
    }

    /// Refuses a question that a model was asked, because a consent or preference ended in the meantime. Nothing of the
    /// model's answer is recorded.
    func refuse<Answer>(_ error: APIError) -> Decision<Answer> {
        let report = report(rule: options.rule, .nothing, by: Authorship(), confidence: nil, sideEffects: [])
        let act = Act(
            kind: .aiExecutionRefused, basis: .nothing, actor: requester.pseudonym, subject: subject,
            resource: nag?.retyped(),
            details: ["operation": question.operation.rawValue, "error_code": error.code.rawValue], stampedRows: 0,
            statements: row(report, error.code.rawValue).map { [$0] } ?? [])
        return .refuse(act, error)
    }

    /// Refuses the question, and records that in the audit log and in the history.
    func refuse<Answer>(_ refusal: ExecutionRefusal, _ asked: ConfirmationRequest? = nil) -> Decision<Answer> {
        let report = report(
            rule: refusal.code == .blocked && refusal.policy.violation != nil ? .policyBlock : options.rule,
            refusal.policy, by: refusal.author, confidence: nil, sideEffects: [])
        var statements: [SQL] = []
        if let row = row(report, refusal.code.rawValue) { statements.append(row) }
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
