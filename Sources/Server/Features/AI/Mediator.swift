import Audit
import Contract
import Domain
import NagzAI
import Postgres
import Reactor
import SQL
import TimeZones

/// The AI operations on the server: authorisation, constraints, facts from PostgreSQL, the operation's rule, a model's
/// words where the question asks for them, and a record of every answer in the feed and in the audit log. The history
/// records it too, unless the person's history keeps errors only.
///
/// A model is asked before the act, and the act decides again: an answer that was forbidden in the meantime is not
/// recorded, and a text about facts that have changed is not used.
///
/// An answer is recorded only if nobody's rights, consents or constraints have changed since its facts were read. A
/// push-back, a confirmed answer, an answer in an AI session and the answer to a question with an ID are recorded only
/// if nothing at all has changed in the ledger, so that limits, confirmations, sessions and IDs hold under concurrency.
package final class Mediator {
    let services: Services
    private let constraintCache = EffectiveConstraints()
    /// The calls to models; nil where no question is ever sent to a model.
    let modelCalls: ModelCalls?
    let turns: SessionTurns
    /// The key with which texts of questions and answers are digested; nil for throw-away data, whose audit log keeps
    /// no digests.
    private let contentKey: HMACKey?

    package init(_ services: Services) {
        self.services = services
        contentKey = services.contentKey
        turns = SessionTurns(keyring: services.auditKeyring, random: services.random)
        modelCalls = services.models.prompts.map { ModelCalls(services, prompts: $0) }
    }

    /// Registers the operations of the tag `ai`, those of the mediator.
    func register(in routes: RouteTable) {
        for id in AIOperationID.allCases { MediatedOperation.operation(id).register(self, routes) }
    }

    /// Answers a question about one nag that the caller may read.
    /// - Parameters:
    ///   - expectedFamily: the family that the nag must be in, or whose member the caller must be; nil for any.
    ///   - drafting: makes a draft of the answer, for a client that has asked for one.
    @discardableResult
    package func answer<Question: NagRelatedQuestion, Response: WireInput & WireMembers & Hashable>(
        _ operation: AIOperation<Question, Response>, _ question: Question,
        _ options: ExecutionOptions = ExecutionOptions(), in expectedFamily: FamilyID? = nil,
        drafting: PushBackDrafting? = nil, for caller: Caller
    ) async throws -> AIAnswer<Response> {
        // The nag is read before the write, because only its row says which ledger the write is in.
        let started = MonotonicTime.now()
        let (nag, act, depth) = (question.nagID, operation.nagAct, operation.factDepth)
        let firstConsultation = try await consult(
            caller, on: nag, act, depth, services.database, session: options.sessionID)
        if let expectedFamily, expectedFamily != firstConsultation.ledger,
            expectedFamily != firstConsultation.requester.settings.homeFamily
        {
            throw APIError.noSuchNag
        }
        func prepareAttempt(_ consultation: NagConsultation) -> ExecutionAttempt {
            makeAttempt(
                operation.id, question, options, caller, consultation.ledger, consultation.requester,
                consultation.recipient, nag, since: started)
        }
        var reusableConsultation: NagConsultation? = firstConsultation
        var reply: ModelReply?
        if firstConsultation.denial == nil, options.asksForModel(in: firstConsultation.requester.settings.mode) {
            if let earlier: AIAnswer<Response> = try await services.ledger.replayEarlierAnswer(caller) {
                return earlier
            }
            let people = [caller.userID, firstConsultation.snapshot.facts.nag.recipientID]
            reply = try await askModel(
                operation, question, Question.facts(in: firstConsultation.snapshot), prepareAttempt(firstConsultation),
                withoutNamesOf: people)
            reusableConsultation = nil
        }
        return try await runWrite(after: reply) { [services] in
            try await services.ledger.write(caller, in: firstConsultation.ledger) { queries in
                var consultation = firstConsultation
                do {
                    if let fresh = reusableConsultation {
                        (consultation, reusableConsultation) = (fresh, nil)
                    } else {
                        consultation = try await self.consult(
                            caller, on: nag, act, depth, queries, session: options.sessionID)
                    }
                    if let denial = consultation.denial {
                        guard reply == nil else { throw APIError(denial.code, denial.reason) }
                        return consultation.refuse(operation.id.auditKinds.denied, denial)
                    }
                    return try await self.decide(
                        operation, question, Question.facts(in: consultation.snapshot), prepareAttempt(consultation),
                        reply, drafting, queries)
                } catch let error as APIError {
                    guard let reply else { throw error }
                    return prepareAttempt(consultation).refuse(error, after: reply)
                }
            }
        }
    }

    /// Answers a question about a family or one of its members.
    @discardableResult
    package func answer<Question: FamilyRelatedQuestion, Response: WireInput & WireMembers & Hashable>(
        _ operation: AIOperation<Question, Response>, _ question: Question,
        _ options: ExecutionOptions = ExecutionOptions(), for caller: Caller
    ) async throws -> AIAnswer<Response> {
        do {
            return try await answer(operation, question, options, asksModelFirst: options.asksForModel, for: caller)
        } catch is ModelNeeded {
            return try await answer(operation, question, options, asksModelFirst: true, for: caller)
        }
    }

    /// The error of an attempt that asked no model although the person's mode requires one. The question is then
    /// answered again, with a model.
    private struct ModelNeeded: Error {}

    private func answer<Question: FamilyRelatedQuestion, Response: WireInput & WireMembers & Hashable>(
        _ operation: AIOperation<Question, Response>, _ question: Question, _ options: ExecutionOptions,
        asksModelFirst: Bool, for caller: Caller
    ) async throws -> AIAnswer<Response> {
        let (family, started) = (question.familyID, MonotonicTime.now())
        func prepareAttempt(_ member: Member, _ settings: AISettings, _ queries: any Queries) async throws
            -> (facts: Question.Facts, attempt: ExecutionAttempt)
        {
            var earlier: [SessionTurn] = []
            if question.continuesSession, let session = options.sessionID {
                earlier = try await turns.read(session, of: caller.userID, at: caller.now, queries)
            }
            let (facts, subject) = try await question.consult(
                for: member, caller, services.zones.zoneOrUTC(member.familyZone), after: earlier, queries)
            let attempt = makeAttempt(
                operation.id, question, options, caller, family, Requester(member, settings), subject, nil,
                since: started)
            return (facts, attempt)
        }
        var askedAttempt: (attempt: ExecutionAttempt, reply: ModelReply)?
        if asksModelFirst {
            if let earlier: AIAnswer<Response> = try await services.ledger.replayEarlierAnswer(caller) {
                return earlier
            }
            let (member, settings) = try await self.requireAIAllowedMember(caller, family, services.database)
            if question.denial(of: member, caller) == nil {
                let (facts, attempt) = try await prepareAttempt(member, settings, services.database)
                askedAttempt = try await askModel(operation, question, facts, attempt, withoutNamesOf: [caller.userID])
                    .map { (attempt, $0) }
            }
        }
        return try await runWrite(after: askedAttempt?.reply) { [services] in
            try await services.ledger.write(caller, in: family) { queries in
                do {
                    let (member, settings) = try await self.requireAIAllowedMember(caller, family, queries)
                    if let denial = question.denial(of: member, caller) {
                        if askedAttempt != nil { throw APIError(.authorizationDenied, denial) }
                        return .denied(operation.id.auditKinds.denied, to: member, denial)
                    }
                    let (facts, attempt) = try await prepareAttempt(member, settings, queries)
                    if !asksModelFirst, attempt.asksForModel { throw ModelNeeded() }
                    return try await self.decide(operation, question, facts, attempt, askedAttempt?.reply, nil, queries)
                } catch let error as APIError {
                    guard let askedAttempt else { throw error }
                    return askedAttempt.attempt.refuse(error, after: askedAttempt.reply)
                }
            }
        }
    }

    /// Runs the write that records a question. If a model was asked, the write runs to its end even when the client has
    /// disconnected, because that question MUST be recorded.
    private func runWrite<Answer: Sendable>(
        after reply: ModelReply?, _ write: @escaping () async throws -> Answer
    ) async throws -> Answer {
        guard reply?.askedModel != nil else { return try await write() }
        return try await services.database.poller.runToCompletion(write)
    }

    // MARK: Parts of all operations

    /// Reads the caller's right to ask about a nag, and the nag's facts.
    /// - Parameter session: the AI session whose turns are added to the facts if `depth` is `full`; nil for none.
    func consult(
        _ caller: Caller, on nag: NagID, _ act: NagAct, _ depth: FactDepth, _ queries: any Queries,
        session: Secret? = nil
    ) async throws -> NagConsultation {
        let rows = try await NagLedger.search { ledger in
            try await queries.read(
                AIStatements.nagFacts(nag, in: ledger, for: caller, depth))
        }
        guard let row = rows.first else { throw APIError.sessionHasEnded }
        let consultation = try NagConsultation(row, nag, for: caller, act, depth, zones: services.zones)
        if let session, depth == .full {
            consultation.setSessionTurns(try await turns.read(session, of: caller.userID, at: caller.now, queries))
        }
        return consultation
    }

    /// Reads the caller as a member of a family, and their settings for the AI.
    /// - Throws: 403 unless the member may use the AI.
    private func requireAIAllowedMember(
        _ caller: Caller, _ family: FamilyID, _ queries: any Queries
    ) async throws -> (Member, AISettings) {
        let member = try await services.access.member(caller, of: family, queries)
        let permission = try await queries.query(AIStatements.permission(caller.userID, in: family)).onlyRow()
        try Requester.requireAIAllowed(permission)
        return (member, try AISettings(permission))
    }

    private func makeAttempt(
        _ operation: AIOperationID, _ question: some AIQuestion, _ options: ExecutionOptions, _ caller: Caller,
        _ ledger: FamilyID, _ requester: Requester, _ subject: Pseudonym?, _ nag: NagID?,
        since started: MonotonicTime
    ) -> ExecutionAttempt {
        let askedQuestion = NagzAI.Question(
            id: options.questionID ?? QuestionID(high: 0, low: 0), operation: .operation(operation),
            content: question.ownWords,
            privacyLevel: options.privacyLevel ?? requester.settings.privacyLevel, intent: options.intent,
            askedAt: caller.now)
        return ExecutionAttempt(
            id: services.random.identifier(at: caller.now), caller: caller, question: askedQuestion, options: options,
            ledger: ledger, requester: requester, subject: subject, nag: nag, words: hashedWords(question.ownWords),
            startedAt: started)
    }

    /// Returns the length and the keyed digests of a text, as records store them in place of the words.
    func hashedWords(_ text: String) -> QuestionWords { QuestionWords(text, contentKey) }

    /// Asks a model to word the answer, if the question asks for a model and may be sent to one. Nothing is recorded
    /// here, because the act checks every refusal again.
    /// - Parameter people: the model's text must not contain the name of a member of these people's families, unless
    ///   the facts contain it.
    private func askModel<Question: AIQuestion, Response: WireInput & WireMembers & Hashable>(
        _ operation: AIOperation<Question, Response>, _ question: Question, _ facts: Question.Facts,
        _ attempt: ExecutionAttempt, withoutNamesOf people: [UserID]
    ) async throws -> ModelReply? {
        guard let modelCalls, let wording = operation.wording else { return nil }
        let database = services.database
        guard case .success(let permit) = try await permit(attempt, database), permit.model != nil else { return nil }
        let names: [String] = try await database.query(AIStatements.displayNames(inFamiliesOf: people)).map { row in
            try row["display_name"]
        }
        guard let promptFacts = wording.facts(services.heuristics, question, facts, names) else { return nil }
        return try await modelCalls.ask(attempt, permit, promptFacts, memberNames: names)
    }

    /// Returns the permit for a question, or its refusal: by the constraints, the person's preferences and rights, or
    /// because the question's ID was used for another question.
    func permit(
        _ attempt: ExecutionAttempt, _ queries: any Queries
    ) async throws -> Result<ExecutionPermit, ExecutionRefusal> {
        if let refusal = try await attempt.refusalOfReuse(queries) { return .failure(refusal) }
        let (user, settings) = (attempt.caller.userID, attempt.requester.settings)
        let engine: PolicyEngine
        if let cached = constraintCache.cachedEngine(for: user, settings.constraintsVersion) {
            engine = cached
        } else {
            engine = try await constraintCache.readEngine(for: user, settings.constraintsVersion, queries)
        }
        var reachable = ReachableModels(services.models, settings)
        if attempt.mayNeedOwnKeys, let home = settings.homeFamily {
            try await reachable.readKeysAndRights(of: user, in: home, queries)
        }
        do throws(ExecutionRefusal) {
            return .success(try attempt.permit(engine, reachable))
        } catch {
            return .failure(error)
        }
    }

    /// Checks the constraints, and builds the act that records the answer or the refusal.
    private func decide<Question: AIQuestion, Response: WireInput & WireMembers & Hashable>(
        _ operation: AIOperation<Question, Response>, _ question: Question, _ facts: Question.Facts,
        _ attempt: ExecutionAttempt, _ reply: ModelReply?, _ drafting: PushBackDrafting?, _ queries: any Queries
    ) async throws -> Decision<AIAnswer<Response>> {
        attempt.adoptStages(of: reply)
        func refuse(
            _ refusal: ExecutionRefusal, _ confirmation: ExecutionAttempt.ConfirmationRequest? = nil
        ) -> Decision<AIAnswer<Response>> {
            var refusal = refusal
            refusal.author.asked = reply?.askedModel
            return attempt.refuse(refusal, confirmation)
        }
        let permit: ExecutionPermit
        switch try await self.permit(attempt, queries) {
        case .success(let granted): permit = granted
        case .failure(let refusal): return refuse(refusal)
        }
        var tokenStatements: [SQL] = []
        if attempt.needsTokenCheck(for: permit) {
            switch try await attempt.checkTokens(
                permit, AITokens(random: services.random), confirmedPrompt: reply?.confirmedPrompt, queries)
            {
            case .valid(let statements): tokenStatements = statements
            case .refused(let refusal, let confirmation): return refuse(refusal, confirmation)
            }
        }
        let recorded: RecordedAnswer<Response>
        do throws(ExecutionRefusal) {
            recorded = try makeRecordedAnswer(
                operation, question, facts, attempt, permit, reply, tokenStatements, isDrafted: drafting != nil)
        } catch {
            return refuse(error)
        }
        try await drafting?.add(to: recorded, attempt, queries)
        return .perform(recorded.act, recorded.answer)
    }
}
