import Audit
import Contract
import Domain
import NagzAI
import Postgres
import Reactor
import SQL

extension Drafts {
    /// The result of reading the author's words, and who read them: a model or the rules.
    struct Reading {
        /// The nag that a model read; nil where the rules read the words.
        var modelNag: DraftedNag?
        /// Who read the words: the rules or a model.
        var author = Authorship()
        /// The warnings of the constraints about the words, and those about words that were not understood.
        var warnings: [String] = []
        /// Whether the rules did not understand some of the words.
        var hasUnclearPhrases = false
        /// The statements that consume confirmations.
        var tokenStatements: [SQL] = []
        /// The permit to read the words; nil for a draft whose body the client sent.
        var permit: ExecutionPermit?
        /// The router's decision, with what the author has confirmed.
        var route = DecidedRoute()

        /// The confidence in the reading, from 0 to 1.
        var confidence: Double {
            if hasUnclearPhrases { return DraftedNag.unclearPhraseConfidence }
            return author.confidence(author.model == nil ? DraftedNag.ruleConfidence : nil)
        }
    }

    /// A refusal to make a draft, and the confirmation that its author is asked for, if any.
    struct Refusal: Error {
        var refusal: ExecutionRefusal
        let confirmation: ExecutionAttempt.ConfirmationRequest?

        /// - Parameter asked: the model that was asked before the refusal; nil for none.
        init(
            _ refusal: ExecutionRefusal, _ confirmation: ExecutionAttempt.ConfirmationRequest? = nil,
            asked: AskedModel?
        ) {
            (self.refusal, self.confirmation) = (refusal, confirmation)
            self.refusal.author.asked = asked
        }
    }

    /// An attempt for which a model was called, and its reply. If the call failed before the question was sent,
    /// `reply.askedModel` is nil.
    struct AskedAttempt {
        let attempt: ExecutionAttempt
        let reply: ModelReply
    }

    /// Asks a model to read the words, if they may be sent to one. Nothing is recorded here, because the act checks
    /// every refusal again.
    /// - Returns: nil if neither the client nor the author's AI mode asks for a model, or if none may or can be asked.
    func ask(_ request: DraftCreate, _ caller: Caller, since started: MonotonicTime) async throws -> AskedAttempt? {
        let (database, text) = (services.database, try Self.requiredText(of: request))
        guard let modelCalls = mediator.modelCalls else { return nil }
        let member = try await services.access.member(caller, of: request.familyID, database)
        let permission = try await database.query(
            AIStatements.permission(caller.userID, in: request.familyID)
        ).onlyRow()
        try Requester.requireAIAllowed(permission)
        try await requireVisible(request, to: member, caller, database)
        let settings = try AISettings(permission)
        guard request.options.asksForModel(in: settings.mode) else { return nil }
        let attempt = makeAttempt(request, member, settings, caller, since: started)
        guard case .success(let permit) = try await mediator.permit(attempt, database), permit.model != nil else {
            return nil
        }
        // Words are not sent to a model for a draft that the daily limit then refuses.
        _ = try await DailyCount(limit: .draftSteps, user: member.userID).checkedIncrement(at: caller.now, database)
        let reading = IntentReading(text, try await intentFacts(of: member, caller, database))
        return try await modelCalls.ask(attempt, permit, reading.promptFacts, memberNames: []).map {
            AskedAttempt(attempt: attempt, reply: $0)
        }
    }

    /// Evaluates the constraints for the words, and takes a model's reading from its reply. Where the rules read the
    /// words, a constraint that asks for a confirmation is only a warning, because nothing happens before a person has
    /// approved and confirmed the draft.
    func decideReading(
        _ request: DraftCreate, _ member: Member, _ attempt: ExecutionAttempt, _ reply: ModelReply?,
        _ queries: any Queries
    ) async throws -> Result<Reading, Refusal> {
        attempt.adoptStages(of: reply)
        let permit: ExecutionPermit
        switch try await mediator.permit(attempt, queries) {
        case .success(let granted): permit = granted
        case .failure(let refusal): return .failure(Refusal(refusal, asked: reply?.askedModel))
        }
        var reading = Reading(warnings: permit.policy.warnings, permit: permit, route: permit.decidedRoute)
        reading.author.asked = reply?.askedModel
        // Models read the words of nags only.
        guard request.kind == .suggestedNag, let model = permit.model else {
            reading.warnings += [permit.policy.confirmationPrompt].compactMap(\.self)
            reading.author.fallback = permit.fallback
            return .success(reading)
        }
        let tokens = AITokens(random: services.random)
        switch try await attempt.checkTokens(permit, tokens, confirmedPrompt: reply?.confirmedPrompt, queries) {
        case .valid(let statements): reading.tokenStatements = statements
        case .refused(let refusal, let confirmation):
            return .failure(Refusal(refusal, confirmation, asked: reply?.askedModel))
        }
        reading.route = permit.confirmedRoute
        let facts = try await intentFacts(of: member, attempt.caller, queries)
        let modelReading = Self.nag(in: reply, of: model, IntentReading(try Self.requiredText(of: request), facts))
        switch modelReading {
        case .success(let nag):
            reading.modelNag = nag
            reading.author = Authorship(model.provider, model: model.name, asked: reply?.askedModel)
        case .failure(let problem) where permit.letsRulesAnswer:
            reading.author.fallback = problem.fallback
        case .failure(let problem):
            let readingRefusal = ExecutionRefusal(
                .modelHasNotRead(problem.code), permit,
                failed: model, retryAfter: problem.secondsToWait)
            return .failure(Refusal(readingRefusal, asked: reply?.askedModel))
        }
        return .success(reading)
    }

    /// A reason for which a model's reading is not used.
    private struct ReadingProblem: Error {
        let fallback: FallbackReason
        /// The error code for the author, where the rules may not read the words instead.
        let code: ExecutionCode
        /// The number of seconds that the provider asks to wait; nil if it names none.
        var secondsToWait: Int?
    }

    /// Returns the nag that a model has read, from its reply; or the reason for which the reply is not used.
    private static func nag(
        in reply: ModelReply?, of model: ChosenModel, _ reading: IntentReading
    ) -> Result<DraftedNag, ReadingProblem> {
        let unreachableCode = ModelFault.unreachable.code(at: model.reach)
        guard let reply, reply.model.isSame(as: model) else {
            return .failure(ReadingProblem(fallback: .unavailable, code: unreachableCode))
        }
        guard reply.facts == reading.promptFacts else {
            return .failure(ReadingProblem(fallback: .factsChanged, code: unreachableCode))
        }
        return reply.result.flatMap { result -> Result<DraftedNag, ModelProblem> in
            do throws(OutputCheck.Refusal) {
                return .success(try reading.draftedNag(from: result.structuredFields ?? [:]))
            } catch {
                return .failure(.refused(error))
            }
        }.mapError {
            ReadingProblem(fallback: $0.fallback, code: $0.code(at: model.reach), secondsToWait: $0.secondsToWait)
        }
    }

    // MARK: Permission

    /// Returns the attempt for which constraints, preferences and confirmations are checked.
    func makeAttempt(
        _ request: DraftCreate, _ member: Member, _ settings: AISettings, _ caller: Caller, since started: MonotonicTime
    ) -> ExecutionAttempt {
        let question = Question(
            id: QuestionID(high: 0, low: 0), operation: .intent, content: request.text ?? "",
            privacyLevel: settings.privacyLevel, askedAt: caller.now)
        return ExecutionAttempt(
            id: services.random.identifier(at: caller.now), caller: caller, question: question,
            options: request.options, ledger: member.familyID, requester: Requester(member, settings), subject: nil,
            nag: request.nagID, words: mediator.hashedWords(question.content), startedAt: started)
    }

    // MARK: Records

    /// Returns the details of the reading for the audit log, and the statement that adds it to the history, unless the
    /// person records errors only. Both are empty for drafts without words, and for those whose body the client sent.
    static func executionRecordParts(
        _ attempt: ExecutionAttempt, _ reading: Reading, _ request: DraftCreate
    ) -> (details: AuditBody, statements: [SQL]) {
        guard request.text != nil, let permit = reading.permit else { return ([:], []) }
        let report = attempt.complete(
            permit, reading.route, confidence: reading.confidence, sideEffects: ["draft"], by: reading.author)
        let row = attempt.requester.settings.logsErrorsOnly ? nil : attempt.insertion(report, nil)
        return (attempt.auditDetails(report), [row].compactMap(\.self))
    }
}
