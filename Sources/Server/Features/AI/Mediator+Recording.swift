import Audit
import Contract
import Domain
import NagzAI
import SQL

/// The answer to a question, and the act that records it.
extension Mediator {
    /// Applies the operation's rule, puts in the model's text if there is one, and builds the act that records the
    /// answer. Not inlined, because otherwise the frame that `decide` allocates for each question would contain the
    /// local values of this function.
    @inline(never)
    func makeRecordedAnswer<Question: AIQuestion, Response: WireInput & WireMembers & Hashable>(
        _ operation: AIOperation<Question, Response>, _ question: Question, _ facts: Question.Facts,
        _ attempt: ExecutionAttempt, _ permit: ExecutionPermit, _ reply: ModelReply?, _ tokenStatements: [SQL],
        isDrafted: Bool
    ) throws(ExecutionRefusal) -> RecordedAnswer<Response> {
        let outcome = operation.rule(services.heuristics, question, facts)
        var response = outcome.response
        var author = try applyModelText(&response, operation, question, facts, permit, reply)
        author.asked = reply?.askedModel
        attempt.recordStage(.executed)
        let record = operation.record(services.heuristics, question, facts, response)
        let report = attempt.complete(permit, record, by: author)
        let event: EventID = services.random.identifier(at: attempt.caller.now)
        let includesExecution = isDrafted || attempt.options != ExecutionOptions() || attempt.asksForModel
        return RecordedAnswer(
            AIAnswer(
                response, execution: includesExecution ? report : nil,
                traceID: attempt.options.storesTrace ? attempt.caller.context.trace : nil), event, by: author, report,
            makeAnswerAct(attempt, operation.id, event, outcome.rule, record, report, tokenStatements))
    }

    /// Replaces the rules' text by the model's, if a model was asked to word this response, its text passes the checks,
    /// and the facts have not changed since.
    /// - Returns: the author of the text, and why it is not the model if that was wanted.
    /// - Throws: the model's fault, where the rules may not answer instead.
    private func applyModelText<Question: AIQuestion, Response>(
        _ response: inout Response, _ operation: AIOperation<Question, Response>, _ question: Question,
        _ facts: Question.Facts, _ permit: ExecutionPermit, _ reply: ModelReply?
    ) throws(ExecutionRefusal) -> Authorship {
        guard let model = permit.model else { return Authorship(fallback: permit.fallback) }
        guard let wording = operation.wording,
            let promptFacts = wording.facts(services.heuristics, question, facts, reply?.memberNames ?? [])
        else { return Authorship() }
        var (fallback, code): (FallbackReason, ExecutionCode) = (
            .unavailable, ModelFault.unreachable.code(at: model.reach)
        )
        var secondsToWait: Int?
        if let reply, reply.model.isSame(as: model) {
            switch reply.result {
            case .success(let result) where reply.facts == promptFacts:
                response[keyPath: wording.text] = result.text
                return Authorship(model.provider, model: model.name)
            case .success: fallback = .factsChanged
            case .failure(let problem):
                (fallback, code) = (problem.fallback, problem.code(at: model.reach))
                secondsToWait = problem.secondsToWait
            }
        }
        guard permit.letsRulesAnswer else {
            throw ExecutionRefusal(
                .modelHasNotAnswered(code), permit, failed: model,
                retryAfter: secondsToWait)
        }
        return Authorship(fallback: fallback)
    }

    /// Returns the act that records an answer, in the feed as `event`.
    private func makeAnswerAct(
        _ attempt: ExecutionAttempt, _ operation: AIOperationID, _ event: EventID, _ rule: HeuristicRule,
        _ record: AIRecord,
        _ report: ExecutionReport, _ tokenStatements: [SQL]
    ) -> Act {
        let (caller, requester) = (attempt.caller, attempt.requester)
        let content = hashedWords(record.content)
        var details = attempt.auditDetails(report)
        details["content_hash"] = content.hash
        details["content_length"] = "\(content.byteCount)"
        details["latency_us"] = "\(attempt.elapsedMicroseconds)"
        details["on_behalf_of"] = requester.pseudonym.description
        details["output"] = record.classification
        details["rule"] = rule.rawValue
        for (name, value) in record.inputs { details[name] = value }
        var statements = [
            AIStatements.insertAnswer(
                event, attempt.nag, record.promptType ?? operation.rawValue, record.tone, record.summary,
                onBehalfOf: caller.userID)
        ]
        if !requester.settings.logsErrorsOnly, let row = attempt.insertion(report, nil) { statements.append(row) }
        if let session = attempt.options.sessionID {
            let turn = SessionTurn(operation, words: attempt.question.content, record)
            statements += turns.insertionStatements(turn, of: attempt.id, to: session, at: caller.now)
        }
        // A question's ID is among the reasons, because an ID names one question even if two requests with the same ID
        // arrive at the same time.
        let requiresUnchangedLedger =
            record.countsTowardsLimit || !tokenStatements.isEmpty || attempt.options.questionID != nil
        return Act(
            kind: operation.auditKinds.answered,
            basis: requiresUnchangedLedger
                ? .nothingChanged(since: requester.seq) : .rightsUnchanged(since: requester.seq),
            actor: SystemActor.mediator, subject: attempt.subject, resource: attempt.nag?.retyped(), details: details,
            canMerge: tokenStatements.isEmpty, statements: statements + tokenStatements)
    }
}
