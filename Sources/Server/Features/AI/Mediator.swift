import Audit
import Contract
import Domain
import NagzAI
import Postgres
import Reactor
import SQL
import TimeZones

/// The AI operations on the server: authorisation, constraints, facts from PostgreSQL, the operation's rule, and a record
/// of every answer in the feed, in the history and in the audit log.
///
/// An answer is recorded only if nobody's rights, consents or constraints have changed since its facts were read; a
/// push-back and an answer that was confirmed only if nothing in the family has changed, so that limits and
/// confirmations hold under concurrency.
package final class Mediator {
    private let services: Services
    private let obeyed = ObeyedConstraints()
    /// The key of the digests of produced texts; nil for throw-away data, whose audit log keeps no digests.
    private let contentKey: [UInt8]?

    package init(_ services: Services) {
        self.services = services
        contentKey = services.auditKeyring?.masters.first?.derivedKey(label: "content")
    }

    /// The group `ai`: the operations of the mediator.
    func register(in routes: RouteTable) {
        routes.signedIn(API.summarizeExcuse) {
            try await self.answer(AIOperations.summarizeExcuse, $1.body, for: $0)
        }
        routes.signedIn(API.selectTone) {
            try await self.answer(AIOperations.selectTone, $1.body, for: $0)
        }
        routes.signedIn(API.coach) {
            try await self.answer(AIOperations.coaching, $1.body, for: $0)
        }
        routes.signedIn(API.detectPatterns) {
            try await self.answer(AIOperations.patterns, $1.parameters, for: $0)
        }
        routes.signedIn(API.generateDigest) {
            try await self.answer(AIOperations.digest, $1.parameters, for: $0)
        }
        routes.signedIn(API.predictCompletion) {
            try await self.answer(AIOperations.predictCompletion, $1.parameters, for: $0)
        }
        routes.signedIn(API.evaluatePushBack) {
            try await self.answer(AIOperations.pushBack, $1.body, for: $0)
        }
    }

    private func answer<Request: AIRequest, Response: WireInput & WireMembers & Hashable>(
        _ operation: AIOperation<Request.Question, Response>, _ asked: Asking<Request>, for caller: Caller
    ) async throws -> AIAnswer<Response> where Request.Question: AboutNag {
        try await answer(operation, asked.request.question, asked.options, for: caller)
    }

    private func answer<Request: AIRequest, Response: WireInput & WireMembers & Hashable>(
        _ operation: AIOperation<Request.Question, Response>, _ asked: Asking<Request>, for caller: Caller
    ) async throws -> AIAnswer<Response> where Request.Question: AboutFamily {
        try await answer(operation, asked.request.question, asked.options, for: caller)
    }

    /// Answers a question about one nag that the caller may read.
    /// - Parameter expected: the family that the nag must be in, or whose member the caller must be.
    @discardableResult
    package func answer<Question: AboutNag, Response: WireInput & WireMembers & Hashable>(
        _ operation: AIOperation<Question, Response>, _ question: Question,
        _ options: ExecutionOptions = ExecutionOptions(), in expected: FamilyID? = nil, for caller: Caller
    ) async throws -> AIAnswer<Response> {
        // The ledger is known only once the nag is read.
        let started = MonotonicTime.now()
        let (nag, act, depth) = (question.nagID, operation.nagAct, operation.facts)
        let first = try await consult(caller, on: nag, act, depth, services.database)
        if let expected, expected != first.family, expected != first.requester.settings.home { throw NagView.notFound }
        var known: NagConsultation? = first
        return try await services.ledger.write(caller, in: first.family) { queries in
            let consultation: NagConsultation
            if let fresh = known {
                consultation = fresh
            } else {
                consultation = try await consult(caller, on: nag, act, depth, queries)
            }
            known = nil
            if let denial = consultation.denial { return consultation.refuse(operation.id.deniedKind, denial) }
            let attempt = attempt(
                operation.id, question, options, caller, consultation.family, consultation.requester,
                consultation.recipient, nag, since: started)
            return try await decide(operation, question, Question.facts(in: consultation.snapshot), attempt, queries)
        }
    }

    /// Answers a question about a family or one of its members.
    @discardableResult
    package func answer<Question: AboutFamily, Response: WireInput & WireMembers & Hashable>(
        _ operation: AIOperation<Question, Response>, _ question: Question,
        _ options: ExecutionOptions = ExecutionOptions(), for caller: Caller
    ) async throws -> AIAnswer<Response> {
        let (family, started) = (question.familyID, MonotonicTime.now())
        return try await services.ledger.write(caller, in: family) { queries in
            let (member, settings) = try await consult(caller, family, queries)
            if let denial = question.denial(of: member, caller) {
                return .denied(operation.id.deniedKind, to: member, denial)
            }
            let (facts, subject) = try await question.consult(
                for: member, caller, services.zones.zone(member.timeZone), queries)
            let attempt = attempt(
                operation.id, question, options, caller, family, Requester(member, settings), subject, nil,
                since: started)
            return try await decide(operation, question, facts, attempt, queries)
        }
    }

    // MARK: What all have in common

    /// The caller's right to ask about a nag, and its facts.
    func consult(
        _ caller: Caller, on nag: NagID, _ act: NagAct, _ depth: FactDepth, _ queries: any Queries
    ) async throws -> NagConsultation {
        let rows = try await queries.read(
            AIStatements.nagFacts(nag, for: caller, sessionCheck: services.access.sessionCheck(caller), depth))
        guard let row = rows.first else { throw Access.sessionEnded }
        return try NagConsultation(row, nag, for: caller, act, depth, zones: services.zones)
    }

    private func consult(
        _ caller: Caller, _ family: FamilyID, _ queries: any Queries
    ) async throws -> (Member, AISettings) {
        let member = try await services.access.member(caller, of: family, queries)
        let gate = try await queries.query(AIStatements.gate(caller.userID, in: family)).one()
        try Requester.requireOpenGate(gate)
        return (member, try AISettings(gate))
    }

    private func attempt(
        _ operation: AIOperationID, _ question: some AIQuestion, _ options: ExecutionOptions, _ caller: Caller,
        _ family: FamilyID, _ requester: Requester, _ subject: Pseudonym?, _ nag: NagID?,
        since started: MonotonicTime
    ) -> ExecutionAttempt {
        let asked = NagzAI.Question(
            id: options.questionID ?? QuestionID(high: 0, low: 0), operation: operation, content: question.content,
            privacyLevel: options.privacyLevel ?? requester.settings.privacyLevel, intent: options.intent,
            askedAt: caller.now)
        return ExecutionAttempt(
            id: services.random.identifier(at: caller.now), caller: caller, question: asked, options: options,
            ledger: family, requester: requester, subject: subject, nag: nag, started: started)
    }

    /// Asks the constraints, applies the operation's rule, and builds the act that records the answer or the refusal.
    private func decide<Question: AIQuestion, Response: WireInput & WireMembers & Hashable>(
        _ operation: AIOperation<Question, Response>, _ question: Question, _ facts: Question.Facts,
        _ attempt: ExecutionAttempt, _ queries: any Queries
    ) async throws -> Decision<AIAnswer<Response>> {
        let engine = try await obeyed.engine(
            for: attempt.caller.userID, attempt.requester.settings.constraints, queries)
        let permit: ExecutionPermit
        do throws(ExecutionRefusal) {
            permit = try attempt.permit(engine)
        } catch {
            return attempt.refuse(error)
        }
        let tokens: [SQL]
        switch try await attempt.useTokens(permit, AITokens(random: services.random), queries) {
        case .used(let statements): tokens = statements
        case .refused(let refusal, let asked): return attempt.refuse(refusal, asked)
        }
        let outcome = operation.rule(services.heuristics, question, facts)
        let record = operation.record(services.heuristics, question, facts, outcome.response)
        let report = attempt.report(permit, record)
        let act = answering(
            attempt, operation.id, outcome.rule, record, report, tokens)
        return .perform(
            act, AIAnswer(outcome.response, execution: attempt.options == ExecutionOptions() ? nil : report))
    }

    /// The act that records an answer.
    private func answering(
        _ attempt: ExecutionAttempt, _ operation: AIOperationID, _ rule: Rule, _ record: AIRecord,
        _ report: ExecutionReport, _ tokens: [SQL]
    ) -> Act {
        let (caller, requester) = (attempt.caller, attempt.requester)
        let event: EventID = services.random.identifier(at: caller.now)
        // Keyed, because the texts are few and short: plain digests could be compared with guesses.
        let digest = contentKey.flatMap { key in
            record.content.isEmpty ? nil : hexadecimal(hmac(Array(record.content.utf8), key: key))
        }
        var details: AuditBody = [
            "content_length": "\(record.content.utf8.count)", "fallback_confirmed": "false",
            "fallback_reason": report.fallbackReason,
            "latency_us": "\(MonotonicTime.now().nanoseconds(since: attempt.started) / 1_000)",
            "on_behalf_of": requester.pseudonym.description, "operation": operation.rawValue,
            "output": record.classification, "provider": report.provider, "route": "server",
            "rule": rule.rawValue, "used_fallback": "\(report.usedFallback)",
        ]
        details["content_hash"] = digest
        for (name, value) in record.inputs { details[name] = value }
        var statements = [
            AIStatements.record(
                event, attempt.nag, record.promptType ?? operation.rawValue, record.tone, record.summary,
                onBehalfOf: caller.userID, at: caller.now)
        ]
        if !requester.settings.logsErrorsOnly, let row = attempt.row(report, nil) { statements.append(row) }
        let countsOnce = record.countsOnce || !tokens.isEmpty
        return Act(
            kind: operation.auditKind,
            basis: countsOnce ? .nothingChanged(since: requester.seq) : .rightsUnchanged(since: requester.seq),
            actor: SystemActor.mediator, subject: attempt.subject, resource: attempt.nag?.retyped(), details: details,
            canMerge: tokens.isEmpty, statements: statements + tokens)
    }
}
