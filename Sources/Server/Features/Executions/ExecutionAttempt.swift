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
    let words: QuestionWords
    private let started: MonotonicTime
    /// The stages that the question has reached; the last one comes with the report.
    private var stages: [StageTime]

    init(
        id: ExecutionID, caller: Caller, question: Question, options: ExecutionOptions, ledger: FamilyID,
        requester: Requester, subject: Pseudonym?, nag: NagID?, words: QuestionWords, started: MonotonicTime
    ) {
        self.id = id
        self.caller = caller
        self.question = question
        self.options = options
        self.ledger = ledger
        self.requester = requester
        self.subject = subject
        self.nag = nag
        self.words = words
        self.started = started
        stages = []
        stages.reserveCapacity(4)
        stages.append(StageTime(.created, at: caller.now))
    }

    /// Whether the question may go to a model by the person's own key.
    var mayNeedOwnKeys: Bool { taskType == .cloudModel || requester.settings.mode == .byoOnly }

    /// The task that answers: as the client says, or by the person's mode.
    var taskType: TaskType { options.taskType ?? requester.settings.mode.usualTask }

    /// Whether a model is to word the answer.
    var asksForModel: Bool { options.asksForModel(in: requester.settings.mode) }

    func permit(_ engine: PolicyEngine, _ models: ReachableModels) throws(ExecutionRefusal) -> ExecutionPermit {
        let permit = try ExecutionPermit(
            question, options, requester.settings, engine, models, trace: caller.context.trace)
        recordStage(.routed)
        return permit
    }

    /// The microseconds since the question arrived.
    var microseconds: Int { MonotonicTime.now().nanoseconds(since: started) / 1_000 }

    /// Records the time at which the question first reached a stage.
    func recordStage(_ stage: ExecutionStage) {
        if stages.contains(where: { $0.stage == stage }) { return }
        stages.append(StageTime(stage, at: caller.now + Timestamp.Span(microseconds: Int64(clamping: microseconds))))
    }

    /// Takes over the stages that the question reached when a model was asked.
    func adoptStages(of reply: ModelReply?) {
        if let reply { stages = reply.stages }
    }

    var stagesSoFar: [StageTime] { stages }

    // MARK: Tokens

    enum TokenUse {
        /// The statements that consume the session's use and the confirmation.
        case used([SQL])
        /// The refusal, and the confirmation that the person is asked for; nil for none.
        case refused(ExecutionRefusal, ConfirmationRequest?)
    }

    /// A confirmation that a person is asked for.
    struct ConfirmationRequest {
        let token: Secret
        let requestDigest: [UInt8]
        /// Whether a constraint asks for the confirmation, and whether it is for a fallback beyond the device.
        let isOfConstraint: Bool
        let isOfFallback: Bool
    }

    /// Whether there is an AI session to check or something to confirm.
    func needsTokens(for permit: ExecutionPermit) -> Bool { options.sessionID != nil || permit.prompt != nil }

    /// Checks the AI session and the confirmation. An act that uses them MUST require that nothing has changed since
    /// its facts were read.
    /// - Parameter confirmed: the prompt for which the question's confirmation was consumed before; nil for none.
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
                    ExecutionRefusal(.aiSessionHasEnded, permit), nil)
            }
            statements.append(ExecutionStatements.markUsed(session: digest, at: caller.now))
        }
        if let prompt = permit.prompt, prompt != confirmed {
            let request = requestDigest(prompt)
            guard let token = options.confirmation else {
                let code: ExecutionCode =
                    permit.policy.confirmation == nil ? .fallbackNeedsConfirmation : .confirmationNeeded
                return .refused(
                    ExecutionRefusal(ExecutionReason(code, prompt), permit),
                    ConfirmationRequest(
                        token: tokens.make(), requestDigest: request, isOfConstraint: permit.policy.confirmation != nil,
                        isOfFallback: permit.isWidened))
            }
            let digest = AITokens.digest(token)
            let rows = try await queries.query(
                ExecutionStatements.confirmation(digest, request, of: caller.userID, at: caller.now))
            guard !rows.isEmpty else {
                return .refused(
                    ExecutionRefusal(.confirmationIsInvalid, permit), nil)
            }
            statements.append(ExecutionStatements.consume(confirmation: digest, at: caller.now))
        }
        return .used(statements)
    }

    /// Consumes the question's confirmation before its words leave the server. Of several questions with the same
    /// confirmation, only one is sent.
    /// - Returns: whether the confirmation could be used.
    func useConfirmation(of prompt: String, _ queries: any Queries) async throws -> Bool {
        guard let token = options.confirmation else { return false }
        let rows = try await queries.query(
            ExecutionStatements.consumeNow(
                confirmation: AITokens.digest(token), requestDigest(prompt), of: caller.userID, at: caller.now))
        return !rows.isEmpty
    }

    /// Returns the digest that a confirmation is bound to: of the question, the way in which it is to be answered, and
    /// the prompt that the person confirms.
    private func requestDigest(_ prompt: String) -> [UInt8] {
        let settings = settings + [options.sessionID?.wireText ?? ""]
        return sha256(Array(settings.joined(separator: "\n").utf8) + [0] + prompt.utf8 + [0] + question.content.utf8)
    }

    /// The question's subject, and the way in which it is to be answered.
    private var settings: [String] {
        [
            question.operation.rawValue, ledger.description, nag?.description ?? "", subject?.description ?? "",
            question.privacyLevel.rawValue, question.intent?.rawValue ?? "", options.taskType?.rawValue ?? "",
            options.model ?? "",
        ]
    }

    /// The keyed digest of the question and its settings; nil for a question that its client gave no id.
    var questionDigest: [UInt8]? {
        options.questionID.map { _ in words.digest(Array(settings.joined(separator: "\n").utf8) + [0]) }
    }

    /// Returns the refusal of a question's id that was used for another question, as far as the history has it. An act
    /// that depends on it MUST require that nothing has changed since its facts were read.
    func refusalOfReuse(_ queries: any Queries) async throws -> ExecutionRefusal? {
        guard let id = options.questionID, let digest = questionDigest, let home = requester.settings.home else {
            return nil
        }
        let first = try await queries.query(ExecutionStatements.question(id, of: caller.userID, in: home)).first
        guard let known: [UInt8] = try first?["question_digest"], known != digest else { return nil }
        return ExecutionRefusal(.questionIDWasUsed)
    }

}
