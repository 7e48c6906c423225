import Audit
import Contract
import Domain
import NagzAI
import Postgres
import Reactor
import TimeZones

/// The AI operations on the server: authorisation, facts from PostgreSQL, the operation's rule, and a record of every
/// answer in the feed and in the audit log.
///
/// An answer is recorded only if nobody's rights or consents have changed since its facts were read; a push-back only
/// if nothing in the family has changed, so that its limits hold under concurrency.
package final class Mediator {
    private let services: Services
    /// The key of the digests of produced texts; nil for throw-away data, whose audit log keeps no digests.
    private let contentKey: [UInt8]?

    package init(_ services: Services) {
        self.services = services
        contentKey = services.auditKeyring?.masters.first?.derivedKey(label: "content")
    }

    /// The group `ai`: the operations of the mediator.
    func register(in routes: RouteTable) {
        routes.signedIn(API.summarizeExcuse) {
            try await self.answer(AIOperations.summarizeExcuse, $1.body.question, for: $0)
        }
        routes.signedIn(API.selectTone) {
            try await self.answer(AIOperations.selectTone, $1.body.question, for: $0)
        }
        routes.signedIn(API.coach) {
            try await self.answer(AIOperations.coaching, $1.body.question, for: $0)
        }
        routes.signedIn(API.detectPatterns) {
            try await self.answer(AIOperations.patterns, $1.parameters.question, for: $0)
        }
        routes.signedIn(API.generateDigest) {
            try await self.answer(AIOperations.digest, $1.parameters.question, for: $0)
        }
        routes.signedIn(API.predictCompletion) {
            try await self.answer(AIOperations.predictCompletion, $1.parameters.question, for: $0)
        }
        routes.signedIn(API.evaluatePushBack) {
            try await self.answer(AIOperations.pushBack, $1.body.question, for: $0)
        }
    }

    /// Answers a question about one nag that the caller may read.
    package func answer<Question: AboutNag, Response: WireContent>(
        _ operation: AIOperation<Question, Response>, _ question: Question, for caller: Caller
    ) async throws -> Response {
        // The ledger is known only once the nag is read.
        let started = MonotonicTime.now()
        let (nag, act, depth) = (question.nagID, operation.nagAct, operation.facts)
        let first = try await consult(caller, on: nag, act, depth, services.database)
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
            return decide(
                operation, question, Question.facts(in: consultation.snapshot), caller, consultation.family,
                consultation.requester, subject: consultation.recipient, nag: nag, since: started)
        }
    }

    /// Answers a question about a family or one of its members.
    package func answer<Question: AboutFamily, Response: WireContent>(
        _ operation: AIOperation<Question, Response>, _ question: Question, for caller: Caller
    ) async throws -> Response {
        let (family, started) = (question.familyID, MonotonicTime.now())
        return try await services.ledger.write(caller, in: family) { queries in
            let member = try await consult(caller, family, queries)
            if let denial = question.denial(of: member, caller) {
                return .denied(operation.id.deniedKind, to: member, denial)
            }
            let (facts, subject) = try await question.consult(
                for: member, caller, services.zones.zone(member.timeZone), queries)
            return decide(
                operation, question, facts, caller, family, Requester(member), subject: subject, nag: nil,
                since: started)
        }
    }

    // MARK: What all have in common

    private func consult(
        _ caller: Caller, on nag: NagID, _ act: NagAct, _ depth: FactDepth, _ queries: any Queries
    ) async throws -> NagConsultation {
        let rows = try await queries.read(
            AIStatements.nagFacts(nag, for: caller, sessionCheck: services.access.sessionCheck(caller), depth))
        guard let row = rows.first else { throw Access.sessionEnded }
        return try NagConsultation(row, nag, for: caller, act, depth, zones: services.zones)
    }

    private func consult(
        _ caller: Caller, _ family: FamilyID, _ queries: any Queries
    ) async throws -> Member {
        let member = try await services.access.member(caller, of: family, queries)
        let gate = try await queries.query(AIStatements.gate(caller.userID, in: family)).one()
        try Requester.requireOpenGate(gate)
        return member
    }

    /// Applies the operation's rule, and builds the act that records the answer.
    private func decide<Question: AIQuestion, Response>(
        _ operation: AIOperation<Question, Response>, _ question: Question, _ facts: Question.Facts,
        _ caller: Caller, _ family: FamilyID, _ requester: Requester, subject: Pseudonym?, nag: NagID?,
        since started: MonotonicTime
    ) -> Decision<Response> {
        let outcome = operation.rule(services.heuristics, question, facts)
        let record = operation.record(services.heuristics, question, facts, outcome.response)
        let event: EventID = services.random.identifier(at: caller.now)
        // Keyed, because the texts are few and short: plain digests could be compared with guesses.
        let digest = contentKey.flatMap { key in
            record.content.isEmpty ? nil : hexadecimal(hmac(Array(record.content.utf8), key: key))
        }
        var details: AuditBody = [
            "content_length": "\(record.content.utf8.count)", "fallback_confirmed": "false",
            "fallback_reason": "none",
            "latency_us": "\(MonotonicTime.now().nanoseconds(since: started) / 1_000)",
            "on_behalf_of": requester.pseudonym.description, "operation": operation.id.rawValue,
            "output": record.classification, "provider": "heuristic", "route": "server",
            "rule": outcome.rule.rawValue, "used_fallback": "false",
        ]
        details["content_hash"] = digest
        for (name, value) in record.inputs { details[name] = value }
        let act = Act(
            kind: operation.id.auditKind,
            basis: record.countsOnce
                ? .nothingChanged(since: requester.seq) : .rightsUnchanged(since: requester.seq),
            actor: SystemActor.mediator, subject: subject, resource: nag?.retyped(), details: details,
            canMerge: true,
            statements: [
                AIStatements.record(
                    event, nag, record.promptType ?? operation.id.rawValue, record.tone, record.summary,
                    onBehalfOf: caller.userID, at: caller.now)
            ])
        return .perform(act, outcome.response)
    }
}
