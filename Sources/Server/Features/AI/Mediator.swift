import Audit
import Contract
import Domain
import NagzAI
import Postgres
import Reactor
import TimeZones

/// The seven operations on the server: the caller's right to ask, facts from PostgreSQL, the rules of `NagzAI`, and a
/// record of every answer in the feed and in the audit log, in one transaction with what the answer rests on.
///
/// An answer is recorded only if nobody's rights or consents have changed since its facts were read; a push-back only
/// if nothing at all has, so that its bounds hold whatever runs beside it.
final class Mediator {
    private let services: Services
    /// Keys the digests of produced texts; nil for throw-away data, whose audit log keeps none.
    private let contentKey: [UInt8]?

    init(_ services: Services) {
        self.services = services
        contentKey = services.auditKeyring?.masters.first?.derivedKey(label: "content")
    }

    private var heuristics: Heuristics { services.heuristics }

    // MARK: About one nag

    func summarizeExcuse(
        _ caller: Caller, _ call: Call<NoParameters, ExcuseSummaryRequest>
    ) async throws -> ExcuseSummaryResponse {
        try await mediate(caller, on: call.body.nagID, .summarizeExcuse, depth: .nag) { consultation in
            let outcome = heuristics.excuseSummary(of: call.body.text, nagID: call.body.nagID)
            let response = outcome.response
            return Mediation(
                outcome, summary: "Excuse: \(response.category.rawValue)",
                content: response.summary,
                inputs: ["text_length": "\(call.body.text.unicodeScalars.count)"],
                classification: response.category.rawValue)
        }
    }

    func selectTone(
        _ caller: Caller, _ call: Call<NoParameters, ToneSelectRequest>
    ) async throws -> ToneSelectResponse {
        try await mediate(caller, on: call.body.nagID, .selectTone, depth: .tone) { consultation in
            let outcome = heuristics.tone(for: consultation.snapshot.facts)
            let response = outcome.response
            return Mediation(
                outcome, tone: response.tone, summary: response.reason, content: response.reason,
                inputs: ["miss_count_7d": "\(response.missCount7d)", "streak": "\(response.streak)"],
                classification: response.tone.rawValue)
        }
    }

    func coach(_ caller: Caller, _ call: Call<NoParameters, CoachingRequest>) async throws -> CoachingResponse {
        try await mediate(caller, on: call.body.nagID, .coaching, depth: .full) { consultation in
            let outcome = heuristics.coaching(for: consultation.snapshot)
            return Mediation(
                outcome, tone: heuristics.tone(for: consultation.snapshot.facts).response.tone,
                summary: outcome.response.tip, content: outcome.response.tip, inputs: consultation.counts,
                classification: outcome.response.scenario)
        }
    }

    func predictCompletion(
        _ caller: Caller, _ call: Call<NagQuery, NoBody>
    ) async throws -> PredictCompletionResponse {
        try await mediate(caller, on: call.parameters.nagID, .predictCompletion, depth: .full) { consultation in
            let outcome = heuristics.prediction(for: consultation.snapshot)
            return Mediation(
                outcome, summary: "Likelihood \(outcome.response.likelihood)", content: "",
                inputs: consultation.counts, classification: "\(outcome.response.likelihood)")
        }
    }

    func evaluatePushBack(
        _ caller: Caller, _ call: Call<NoParameters, PushBackRequest>
    ) async throws -> PushBackResponse {
        try await mediate(caller, on: call.body.nagID, .pushBack, depth: .full) { consultation in
            let outcome = heuristics.pushBack(for: consultation.snapshot)
            let response = outcome.response
            return Mediation(
                outcome, tone: response.tone ?? .neutral, summary: response.message ?? response.reason,
                content: response.message ?? "", inputs: consultation.counts, classification: response.reason,
                // Only a push-back that is produced counts, and then at once.
                countsOnce: response.shouldPushBack,
                promptType: response.shouldPushBack ? .pushBack : .pushBackRefused)
        }
    }

    // MARK: About a person or a family

    func detectPatterns(
        _ caller: Caller, _ call: Call<UserInFamilyQuery, NoBody>
    ) async throws -> PatternsResponse {
        let (user, family, started) = (call.parameters.userID, call.parameters.familyID, MonotonicTime.now())
        return try await services.ledger.write(caller, in: family) { queries in
            let member = try await consult(caller, family, queries)
            if let denial = RoleMatrix.denialOfInsights(
                isSelf: user == caller.userID, by: MemberState(role: member.role))
            {
                return .denied(.aiPatternsDenied, to: member, denial)
            }
            let rows = try await queries.query(
                AIStatements.misses(of: user, in: family, from: FactWindow.patterns.start(caller.now), to: caller.now))
            guard let subject = try rows.first?["pseudonym"] as Pseudonym? else {
                throw APIError(.notFound, "There is no such member.")
            }
            let misses = try rows.map { row throws(PostgresError) -> PatternFacts.Miss? in
                guard let dueAt: Timestamp = try row["due_at"], let missedAt: Timestamp = try row["at"] else {
                    return nil
                }
                return PatternFacts.Miss(dueAt: dueAt, missedAt: missedAt)
            }.compactMap { $0 }
            let outcome = heuristics.patterns(
                for: Snapshot(
                    PatternFacts(userID: user, familyID: family, misses: misses), now: caller.now,
                    zone: services.zones.zone(member.timeZone)))
            let mediation = Mediation(
                outcome, summary: "\(outcome.response.insights.count) repeated weekdays", content: "",
                inputs: ["misses_90d": "\(misses.count)"], classification: "\(outcome.response.insights.count)")
            return .perform(
                record(
                    mediation, .patterns, caller, family, Requester(member), subject: subject, nag: nil, since: started),
                outcome.response)
        }
    }

    func generateDigest(_ caller: Caller, _ call: Call<FamilyQuery, NoBody>) async throws -> DigestResponse {
        let (family, started) = (call.parameters.familyID, MonotonicTime.now())
        return try await services.ledger.write(caller, in: family) { queries in
            let member = try await consult(caller, family, queries)
            let seesAll = RoleMatrix.denialOfInsights(isSelf: false, by: MemberState(role: member.role)) == nil
            let subject = seesAll ? nil : caller.userID
            let facts = DigestFacts(
                familyID: family, subject: subject,
                members: try await queries.query(AIStatements.digestMembers(of: family, subject: subject)).map { row in
                    DigestFacts.Member(userID: try row["user_id"], displayName: try row["display_name"])
                },
                nags: try await queries.query(
                    AIStatements.digestNags(
                        of: family, subject: subject, from: FactWindow.digest.start(caller.now), to: caller.now)
                ).map { row in
                    DigestFacts.Nag(
                        recipientID: try row["recipient_id"], status: try row["status"], dueAt: try row["due_at"])
                })
            let outcome = heuristics.digest(
                for: Snapshot(facts, now: caller.now, zone: services.zones.zone(member.timeZone)))
            let totals = outcome.response.totals
            let mediation = Mediation(
                outcome, summary: outcome.response.summaryText, content: outcome.response.summaryText,
                inputs: ["nags": "\(totals.totalNags)", "members": "\(facts.members.count)"],
                classification: "\(totals.completionRate)")
            return .perform(
                record(
                    mediation, .digest, caller, family, Requester(member), subject: seesAll ? nil : member.pseudonym,
                    nag: nil,
                    since: started),
                outcome.response)
        }
    }

    // MARK: What all have in common

    /// Reads the facts of a nag, thinks, and records what came of it. Nobody is answered about a nag they may not read.
    private func mediate<Response: WireContent>(
        _ caller: Caller, on nag: NagID, _ operation: AIOperation, depth: AIStatements.Depth,
        _ think: (NagConsultation) -> Mediation<Response>
    ) async throws -> Response {
        // The family is known only once the nag is found; it is the caller's own, since each has one.
        let started = MonotonicTime.now()
        let first = try await consult(caller, on: nag, operation, depth, services.database)
        var known: NagConsultation? = first
        return try await services.ledger.write(caller, in: first.family) { queries in
            let consultation: NagConsultation
            if let fresh = known {
                consultation = fresh
            } else {
                consultation = try await consult(caller, on: nag, operation, depth, queries)
            }
            known = nil
            if let denial = consultation.denial { return consultation.refuse(operation, denial) }
            let mediation = think(consultation)
            return .perform(
                record(
                    mediation, operation, caller, consultation.family, consultation.requester,
                    subject: consultation.recipient, nag: nag, since: started),
                mediation.outcome.response)
        }
    }

    private func consult(
        _ caller: Caller, on nag: NagID, _ operation: AIOperation, _ depth: AIStatements.Depth,
        _ queries: any Queries
    ) async throws -> NagConsultation {
        let rows = try await queries.read(
            AIStatements.nagFacts(nag, for: caller, sessionCheck: services.access.sessionCheck(caller), depth))
        guard let row = rows.first else { throw Access.sessionEnded }
        return try NagConsultation(row, nag, for: caller, operation.nagAct, depth, zones: services.zones)
    }

    private func consult(
        _ caller: Caller, _ family: FamilyID, _ queries: any Queries
    ) async throws -> Member {
        let member = try await services.access.member(caller, of: family, queries)
        let gate = try await queries.query(AIStatements.gate(caller.userID, in: family)).one()
        try Requester.requireOpenGate(gate)
        return member
    }

    /// The act that puts an answer into the feed and into the audit log.
    private func record<Response>(
        _ mediation: Mediation<Response>, _ operation: AIOperation, _ caller: Caller, _ family: FamilyID,
        _ requester: Requester, subject: Pseudonym?, nag: NagID?, since started: MonotonicTime
    ) -> Act {
        let event: EventID = services.random.identifier(at: caller.now)
        // Keyed, because texts are few and short enough to be guessed and compared otherwise.
        let digest = contentKey.flatMap { key in
            mediation.content.isEmpty ? nil : hexadecimal(hmac(Array(mediation.content.utf8), key: key))
        }
        var details: AuditBody = [
            "content_length": "\(mediation.content.utf8.count)", "fallback_confirmed": "false",
            "fallback_reason": "none",
            "latency_us": "\(MonotonicTime.now().nanoseconds(since: started) / 1_000)",
            "on_behalf_of": requester.pseudonym.description, "operation": operation.rawValue,
            "output": mediation.classification, "provider": "heuristic", "route": "server",
            "rule": mediation.outcome.rule.rawValue, "used_fallback": "false",
        ]
        details["content_hash"] = digest
        details.merge(mediation.inputs)
        return Act(
            kind: operation.auditKind,
            basis: mediation.countsOnce
                ? .nothingChanged(since: requester.seq) : .rightsUnchanged(since: requester.seq),
            actor: SystemActor.mediator, subject: subject, resource: nag?.retyped(), details: details,
            canMerge: true,
            statements: [
                AIStatements.record(
                    event, nag, (mediation.promptType ?? operation).promptType, mediation.tone, mediation.summary,
                    onBehalfOf: caller.userID, at: caller.now)
            ])
    }
}
