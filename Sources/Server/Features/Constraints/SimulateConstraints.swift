import Contract
import Domain
import JSON
import NagzAI
import Postgres
import Reactor

/// The limits of a simulation's cost. Anybody can choose questions and constraints that take as long as possible.
enum SimulationLimit {
    /// The maximum number of texts that all conditions together search for. Preparing one takes about a microsecond.
    static let maxTexts = 5_000
    /// The maximum cost of one case. The cost is the number of texts times (the content's length in bytes plus 32). A
    /// case of this cost takes at most about 12 milliseconds, usually far less.
    static let maxCostOfCase = 5_000_000
    /// The maximum cost of all cases together.
    static let maxCost = 1_000_000_000
    /// The maximum cost of several cases between two yields to the loop. A single case may cost more.
    static let maxCostOfSlice = 500_000
    /// The maximum size of the response.
    static let maxAnswerBytes = 4 << 20
}

extension Constraints {
    /// Evaluates constraints for hypothetical questions, in slices between which the loop does other work. At most two
    /// simulations and other costly reads run at a time on a loop, one of a person; others wait for their turn.
    /// - Throws: 503 if too many wait, or if this one has waited too long; a refusal at a limit of `SimulationLimit`.
    func simulate(_ caller: Caller, _ call: Call<NoParameters, ConstraintSimulation>) async throws -> [UInt8] {
        let body = call.body
        let member = try await services.access.member(caller, of: body.familyID, services.database)
        return try await services.costlyReadLimiter.run(caller.userID) {
            let constraints = try await constraints(body, of: member)
            let textCount = constraints.reduce(1) { $0 + $1.conditions.reduce(0) { $0 + $1.alternatives.count } }
            guard textCount <= SimulationLimit.maxTexts + 1 else { throw APIError.simulationHasTooManyTexts }
            let engine = PolicyEngine(constraints)
            var (answer, cost, costOfSlice) = (Array(#"{"results":["#.utf8), 0, 0)
            for (index, item) in body.cases.enumerated() {
                let costOfCase = textCount * (item.question.content.utf8.count + 32)
                cost += costOfCase
                guard costOfCase <= SimulationLimit.maxCostOfCase, cost <= SimulationLimit.maxCost else {
                    throw APIError.simulationIsTooCostly(case: index)
                }
                costOfSlice += costOfCase
                if costOfSlice > SimulationLimit.maxCostOfSlice {
                    await services.database.poller.yieldSlice()
                    costOfSlice = costOfCase
                }
                if index > 0 { answer.append(UInt8(ascii: ",")) }
                answer += result(of: item, engine, for: caller).jsonBytes
                guard answer.count <= SimulationLimit.maxAnswerBytes else { throw APIError.simulationIsTooLong }
            }
            return answer + Array("]}".utf8)
        }
    }

    private func constraints(_ body: ConstraintSimulation, of member: Member) async throws -> [Constraint] {
        if let sentConstraints = body.constraints {
            return try sentConstraints.enumerated().map { index, item in
                try item.terms.constraint(item.id ?? ConstraintID(high: 0, low: UInt64(index + 1)))
            }
        }
        let rows = try await services.database.query(
            ConstraintStatements.all(visibleTo: member.userID, nil, in: member.familyID))
        return try rows.map { row in
            let constraint = try ConstraintResponse(row)
            return try constraint.terms.constraint(constraint.id)
        }
    }

    private func result(
        of item: SimulatedCase, _ engine: PolicyEngine, for caller: Caller
    ) -> SimulationResult {
        let sentQuestion = item.question
        let question = Question(
            id: QuestionID(high: 0, low: 0), operation: .operation(.summarizeExcuse), content: sentQuestion.content,
            tokenCount: sentQuestion.tokenCount, privacyLevel: sentQuestion.privacyLevel, intent: sentQuestion.intent,
            requiresOffline: sentQuestion.requiresOffline, askedAt: caller.now)
        let policy = engine.evaluate(question)
        let state = item.state ?? RuntimeState(local: LocalCapability(), network: .online)
        return SimulationResult(
            policy, Router.route(question, state, policy, at: caller.now, trace: caller.context.trace))
    }
}
