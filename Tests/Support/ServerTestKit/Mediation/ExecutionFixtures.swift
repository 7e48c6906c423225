import Contract
import Domain
import NagzAI
import Testing

@testable import Server

extension ExecutionReport {
    /// The report on an answer of the rules.
    static let example = ExecutionReport(
        id: ExecutionID(high: 1, low: 1), provider: "heuristic", route: .cloud, rule: .autoCloud, taskType: .heuristic,
        privacyLevel: .auto, intent: nil, isFallbackAllowed: false, usedFallback: false, fallbackReason: "none",
        confidence: 0.7, questionTokenCount: 0, latencyMilliseconds: 1, policy: .nothing, warnings: [],
        sideEffects: ["ai_mediation_event"])
}

extension AIScene {
    /// Asks the server for the summary of an excuse.
    func summarize(
        _ text: String = "I forgot", _ options: ExecutionOptions = ExecutionOptions(), as person: TestPerson? = nil
    ) async throws -> AIAnswer<ExcuseSummaryResponse> {
        try await server.call(
            API.summarizeExcuse, NoParameters(), AIEnvelope(ExcuseSummaryRequest(text: text, nagID: nag), options),
            as: person ?? home.child)
    }

    /// Asks the server for the tone for the nag.
    func tone(
        _ options: ExecutionOptions = ExecutionOptions(), as person: TestPerson? = nil
    ) async throws -> AIAnswer<ToneSelectResponse> {
        try await server.call(
            API.selectTone, NoParameters(), AIEnvelope(ToneSelectRequest(nagID: nag), options), as: person ?? home.child
        )
    }

    func execute(
        _ operation: AIOperationID, text: String? = nil, _ options: ExecutionOptions, as person: TestPerson? = nil
    ) async throws -> ExecutionAnswer {
        let isAboutNag = operation != .patterns && operation != .digest
        return try await server.call(
            API.execute, NoParameters(),
            AIEnvelope(
                ExecutionRequest(
                    familyID: home.id, operation: operation, nagID: isAboutNag ? nag : nil,
                    userID: operation == .patterns ? home.child.id : nil, text: text), options),
            as: person ?? home.guardian)
    }

    func history(_ filter: ExecutionFilter? = nil, as person: TestPerson? = nil) async throws -> [ExecutionRecord] {
        try await server.call(
            API.listExecutions, ExecutionListQuery(filter ?? ExecutionFilter(familyID: home.id)),
            as: person ?? home.guardian
        ).items
    }

    func revokeConsent() async throws {
        let consents = try await server.call(API.listConsents, ConsentListQuery(familyID: home.id), as: home.guardian)
        let consent = try #require(consents.items.first { $0.type == .aiMediation && $0.userID == home.guardian.id })
        _ = try await server.call(
            API.updateConsent, ConsentPath(consentID: consent.id), ConsentUpdate(isRevoked: true), as: home.guardian)
    }

    func constrain(
        _ action: ConstraintAction, _ conditions: [(String, String, String)] = [("token_count", "lessThan", "1000")],
        _ scope: ConstraintScope = .family, as person: TestPerson? = nil
    ) async throws -> ConstraintID {
        try await server.constraint(try .about("c", scope, 1, action, conditions), in: home, as: person).constraint.id
    }

    /// Expects that a question is refused with this code and status, and returns the refusal's details.
    func expectRefusal<Answer>(
        _ code: ExecutionCode, _ status: Int, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () async throws -> Answer
    ) async throws -> ExecutionFault {
        let refused = try await refusal(body)
        #expect(refused.status == status, sourceLocation: sourceLocation)
        let fault = try #require(refused.execution, sourceLocation: sourceLocation)
        #expect(
            fault.code == code.rawValue && fault.isRecoverable == code.isRecoverable, sourceLocation: sourceLocation)
        return fault
    }
}
