import Audit
import Contract
import Domain
import NagzAI
import Postgres
import Reactor
import SQL

/// One running attempt to answer a question. It is a class, so that all steps of the answer share it.
final class ExecutionAttempt {
    let id: ExecutionID
    let caller: Caller
    let question: Question
    let options: ExecutionOptions
    /// The family or connection whose ledger records the attempt.
    let ledger: FamilyID
    let requester: Requester
    /// The person whom the answer is about; nil for a whole family.
    let subject: Pseudonym?
    /// The nag that the question is about; nil for none.
    let nag: NagID?
    let words: QuestionWords
    private let startedAt: MonotonicTime
    /// The stages that the question has reached so far. Creating the report adds the last one.
    private(set) var stages: [StageTime]

    init(
        id: ExecutionID, caller: Caller, question: Question, options: ExecutionOptions, ledger: FamilyID,
        requester: Requester, subject: Pseudonym?, nag: NagID?, words: QuestionWords, startedAt: MonotonicTime
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
        self.startedAt = startedAt
        stages = []
        stages.reserveCapacity(4)
        stages.append(StageTime(.created, at: caller.now))
    }

    /// Whether the question may be sent to a model with the person's own key.
    var mayNeedOwnKeys: Bool { taskType == .cloudModel || requester.settings.mode == .byoOnly }

    /// The task type that the client has chosen; without a choice, the default of the person's AI mode.
    var taskType: TaskType { options.taskType ?? requester.settings.mode.defaultTask }

    /// Whether the client or the person's AI mode asks for a model.
    var asksForModel: Bool { options.asksForModel(in: requester.settings.mode) }

    /// Checks whether the server may answer the question, and records that it was routed.
    func permit(_ engine: PolicyEngine, _ models: ReachableModels) throws(ExecutionRefusal) -> ExecutionPermit {
        let permit = try ExecutionPermit(
            question, options, requester.settings, engine, models, trace: caller.context.trace)
        recordStage(.routed)
        return permit
    }

    /// The microseconds since the question arrived.
    var elapsedMicroseconds: Int { MonotonicTime.now().nanoseconds(since: startedAt) / 1_000 }

    /// Records the time at which the question first reached a stage.
    func recordStage(_ stage: ExecutionStage) {
        if stages.contains(where: { $0.stage == stage }) { return }
        let elapsed = Timestamp.Span(microseconds: Int64(clamping: elapsedMicroseconds))
        stages.append(StageTime(stage, at: caller.now + elapsed))
    }

    /// Replaces the stages by those that the question had reached when the model replied. Does nothing without a reply.
    func adoptStages(of reply: ModelReply?) {
        if let reply { stages = reply.stages }
    }

    // MARK: Tokens

    /// The result of checking the AI session and the confirmation.
    enum TokenCheck {
        /// The statements that record the use of the session and consume the confirmation.
        case valid([SQL])
        /// The refusal, and the confirmation that the person is asked for; nil for none.
        case refused(ExecutionRefusal, ConfirmationRequest?)
    }

    /// A confirmation that a person is asked for.
    struct ConfirmationRequest {
        let token: Secret
        let requestDigest: [UInt8]
        /// Whether a constraint requires the confirmation.
        let isForConstraint: Bool
        /// Whether the confirmation is required because the device failed and the server is to answer.
        let isForFallback: Bool
    }

    /// Whether there is an AI session to check or something to confirm.
    func needsTokenCheck(for permit: ExecutionPermit) -> Bool {
        options.sessionID != nil || permit.promptToConfirm != nil
    }

    /// Checks the AI session and the confirmation. An act with the returned statements MUST require that nothing has
    /// changed since the act's facts were read.
    /// - Parameter confirmedPrompt: the prompt for which the question's confirmation was consumed before; nil for none.
    func checkTokens(
        _ permit: ExecutionPermit, _ tokens: AITokens, confirmedPrompt: String?, _ queries: any Queries
    ) async throws -> TokenCheck {
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
        if let prompt = permit.promptToConfirm, prompt != confirmedPrompt {
            let requestDigest = self.requestDigest(prompt)
            guard let token = options.confirmation else {
                let code: ExecutionCode =
                    permit.policy.confirmationPrompt == nil ? .fallbackNeedsConfirmation : .confirmationNeeded
                return .refused(
                    ExecutionRefusal(ExecutionReason(code, prompt), permit),
                    ConfirmationRequest(
                        token: tokens.makeToken(), requestDigest: requestDigest,
                        isForConstraint: permit.policy.confirmationPrompt != nil,
                        isForFallback: permit.needsFallbackConfirmation))
            }
            let digest = AITokens.digest(token)
            let rows = try await queries.query(
                ExecutionStatements.usableConfirmation(digest, for: requestDigest, of: caller.userID, at: caller.now))
            guard !rows.isEmpty else {
                return .refused(
                    ExecutionRefusal(.confirmationIsInvalid, permit), nil)
            }
            statements.append(ExecutionStatements.consume(confirmation: digest, at: caller.now))
        }
        return .valid(statements)
    }

    /// Consumes the question's confirmation before its words leave the server. Of several questions with the same
    /// confirmation, only one is sent.
    /// - Returns: whether the confirmation was valid.
    func consumeConfirmation(of prompt: String, _ queries: any Queries) async throws -> Bool {
        guard let token = options.confirmation else { return false }
        let rows = try await queries.query(
            ExecutionStatements.consumeNow(
                confirmation: AITokens.digest(token), requestDigest(prompt), of: caller.userID, at: caller.now))
        return !rows.isEmpty
    }

    /// Returns the digest that a confirmation is bound to. It covers the question, the options for its answer, the AI
    /// session, and the prompt that the person confirms.
    private func requestDigest(_ prompt: String) -> [UInt8] {
        let settings = questionSettings + [options.sessionID?.wireText ?? ""]
        return sha256(Array(settings.joined(separator: "\n").utf8) + [0] + prompt.utf8 + [0] + question.content.utf8)
    }

    /// The subject of the question and the options for its answer.
    private var questionSettings: [String] {
        [
            question.operation.rawValue, ledger.description, nag?.description ?? "", subject?.description ?? "",
            question.privacyLevel.rawValue, question.intent?.rawValue ?? "", options.taskType?.rawValue ?? "",
            options.model ?? "",
        ]
    }

    /// The digest of the question and its settings, keyed where the server has a key; nil if the client gave the
    /// question no ID.
    var questionDigest: [UInt8]? {
        options.questionID.map { _ in
            words.digest(withSettings: Array(questionSettings.joined(separator: "\n").utf8) + [0])
        }
    }

    /// Returns a refusal if the history has another question with the same ID; nil otherwise. An act that depends on
    /// the result MUST require that nothing has changed since its facts were read.
    func refusalOfReuse(_ queries: any Queries) async throws -> ExecutionRefusal? {
        guard let id = options.questionID, let digest = questionDigest, let home = requester.settings.homeFamily else {
            return nil
        }
        let row = try await queries.query(
            ExecutionStatements.firstQuestionDigest(id, of: caller.userID, in: home)
        ).first
        guard let firstDigest: [UInt8] = try row?["question_digest"], firstDigest != digest else { return nil }
        return ExecutionRefusal(.questionIDWasUsed)
    }
}
