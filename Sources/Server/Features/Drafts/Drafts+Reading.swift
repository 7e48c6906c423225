import Audit
import Contract
import Domain
import NagzAI
import Postgres
import Reactor
import SQL

extension Drafts {
    /// What was read in the author's words, and by whom.
    struct Reading {
        /// What a model read; nil where the rules read the words.
        var nag: DraftedNag?
        var author = Authorship()
        /// What constraints say of the words.
        var warnings: [String] = []
        /// The statements that use confirmations up.
        var tokens: [SQL] = []

        var modelName: String {
            author.model.map { "\(author.provider.rawValue)/\($0)" } ?? author.provider.rawValue
        }
        var confidence: Double { author.confidence(author.model == nil ? DraftedNag.confidence : nil) }
    }

    /// Why a draft is not made, and the confirmation that its author is asked for, if they are.
    struct Refusal: Error {
        let refusal: ExecutionRefusal
        var asked: ExecutionAttempt.ConfirmationRequest?
    }

    /// Has a model read the words, if it may be sent them. It records nothing: what is refused here is refused again by
    /// the act.
    func ask(_ order: DraftCreate, _ caller: Caller) async throws -> ModelReply? {
        let (database, text) = (services.database, try Self.words(of: order))
        guard let models = mediator.models else { return nil }
        let member = try await services.access.member(caller, of: order.familyID, database)
        let gate = try await database.query(AIStatements.gate(caller.userID, in: order.familyID)).one()
        try Requester.requireOpenGate(gate)
        try await requireVisible(order, to: member, caller, database)
        let attempt = attempt(order, member, try AISettings(gate), caller)
        guard case .success(let permit) = try await self.permit(attempt, database), let model = permit.model else {
            return nil
        }
        // Nobody's words leave for a draft that is then refused for their number.
        _ = try await DailyCount(limit: .draftSteps, user: member.userID).increment(at: caller.now, database)
        let reading = IntentReading(text, try await intentFacts(of: member, caller, database))
        let tokens = AITokens(random: services.random)
        guard case .used = try await attempt.useTokens(permit, tokens, confirmed: nil, database) else { return nil }
        if let prompt = permit.prompt, try await !attempt.useConfirmation(of: prompt, database) { return nil }
        var reply = try await models.reply(to: reading.told, familyNames: [], from: model, for: caller)
        reply.confirmed = permit.prompt
        return reply
    }

    /// Asks the constraints about the words, and a model's reply for what it read. Where the rules read them, a prompt to
    /// confirm is a warning: nothing happens before a person has approved and confirmed the draft.
    func reading(
        _ order: DraftCreate, _ member: Member, _ settings: AISettings, _ caller: Caller, _ reply: ModelReply?,
        _ queries: any Queries
    ) async throws -> Result<Reading, Refusal> {
        let attempt = attempt(order, member, settings, caller)
        let permit: ExecutionPermit
        switch try await self.permit(attempt, queries) {
        case .success(let given): permit = given
        case .failure(let refusal): return .failure(Refusal(refusal: refusal))
        }
        var reading = Reading()
        reading.warnings = permit.policy.warnings
        guard let model = permit.model else {
            reading.warnings += [permit.policy.confirmation].compactMap(\.self)
            reading.author.fallback = permit.fallback
            return .success(reading)
        }
        let tokens = AITokens(random: services.random)
        switch try await attempt.useTokens(permit, tokens, confirmed: reply?.confirmed, queries) {
        case .used(let statements): reading.tokens = statements
        case .refused(let refusal, let asked): return .failure(Refusal(refusal: refusal, asked: asked))
        }
        let facts = try await intentFacts(of: member, caller, queries)
        let read = Self.nag(in: reply, of: model, IntentReading(try Self.words(of: order), facts))
        switch read {
        case .success(let nag):
            reading.nag = nag
            reading.author = Authorship(model.provider, model: model.name)
        case .failure(let problem) where permit.allowsFallback:
            reading.author.fallback = problem.fallback
        case .failure(let problem):
            var refusal = ExecutionRefusal(
                problem.code, "The model could not read the words. Try again, or ask without it.",
                policy: permit.policy)
            refusal.author = Authorship(model.provider, model: model.name)
            return .failure(Refusal(refusal: refusal))
        }
        return .success(reading)
    }

    /// Why a model's reading is not used.
    private struct Problem: Error {
        let fallback: FallbackReason
        /// For the author, where the rules may not read the words instead.
        let code: ExecutionCode
    }

    private static func nag(
        in reply: ModelReply?, of model: ChosenModel, _ reading: IntentReading
    ) -> Result<DraftedNag, Problem> {
        let away = ModelFault.unreachable.code(at: model.reach)
        guard let reply, reply.model.isSame(as: model) else {
            return .failure(Problem(fallback: .unavailable, code: away))
        }
        guard reply.told == reading.told else { return .failure(Problem(fallback: .factsChanged, code: away)) }
        return reply.result.flatMap { result -> Result<DraftedNag, ModelProblem> in
            do throws(OutputCheck.Refusal) {
                return .success(try reading.nag(result.structured ?? [:]))
            } catch {
                return .failure(.refused(error))
            }
        }.mapError { Problem(fallback: $0.fallback, code: $0.code(at: model.reach)) }
    }

    // MARK: Permission

    /// The question that constraints, preferences and confirmations are asked about.
    private func attempt(
        _ order: DraftCreate, _ member: Member, _ settings: AISettings, _ caller: Caller
    ) -> ExecutionAttempt {
        // Constraints see no operation; this one is about a person's words, too.
        let question = Question(
            id: QuestionID(high: 0, low: 0), operation: .summarizeExcuse, content: order.text ?? "",
            privacyLevel: settings.privacyLevel, askedAt: caller.now)
        return ExecutionAttempt(
            id: services.random.identifier(at: caller.now), caller: caller, question: question,
            options: order.options, ledger: member.familyID, requester: Requester(member, settings), subject: nil,
            nag: order.nagID, started: MonotonicTime.now())
    }

    private func permit(
        _ attempt: ExecutionAttempt, _ queries: any Queries
    ) async throws -> Result<ExecutionPermit, ExecutionRefusal> {
        let engine = try await obeyed.engine(
            for: attempt.caller.userID, attempt.requester.settings.constraints, queries)
        let reachable = try await ReachableModels(for: attempt, services.models, queries)
        do throws(ExecutionRefusal) {
            return .success(try attempt.permit(engine, reachable))
        } catch {
            return .failure(error)
        }
    }

    // MARK: Refusals

    static func refuse<Answer>(_ refusal: Refusal, to member: Member, _ caller: Caller) -> Decision<Answer> {
        let (refused, asked) = (refusal.refusal, refusal.asked)
        let statements = asked.map { request in
            ExecutionStatements.ask(
                AITokens.digest(request.token), request.requestDigest, of: caller.userID, in: member.familyID,
                until: caller.now + AITokens.confirmationTime)
        }
        return refuse(
            refused.error(trace: caller.context.trace, confirmation: asked?.token), refused.code.rawValue,
            refused.constraint, statements.map { [$0] } ?? [], to: member)
    }

    /// - Parameter code: what the audit log says of it.
    static func refuse<Answer>(
        _ error: APIError, _ code: String, _ constraint: ConstraintID? = nil, _ statements: [SQL] = [],
        to member: Member
    ) -> Decision<Answer> {
        var details: AuditBody = ["operation": "draft", "error_code": code]
        details["constraint"] = constraint?.description
        let act = Act(
            kind: .aiExecutionRefused, basis: .rightsUnchanged(since: member.seq), actor: member.pseudonym,
            details: details, stampedRows: 0, statements: statements)
        return .refuse(act, error)
    }
}
