import Contract
import Domain
import JSON
import NagzAI

extension Sample {
    /// Every option of a body.
    static let options = ExecutionOptions(
        traceID: id(50), questionID: id(51), sessionID: Secret("session"), taskType: .localModel, privacyLevel: .cloud,
        intent: .analytical, model: "m", rule: .autoCloud, confirmation: Secret("confirmation"))

    /// A request with every option that its kind may have.
    static func asking<Request: Sendable & Hashable>(_ request: Request) -> AIEnvelope<Request> {
        guard request is any WireParameters else { return AIEnvelope(request, options) }
        var options = options
        options.sessionID = nil
        return AIEnvelope(request, options)
    }

    static let execution = ExecutionReport(
        id: id(52), provider: "heuristic", model: "m",
        asked: AskedModel(.serverGateway, "m", .server, tokenCount: 40), route: .cloud, rule: .autoCloud,
        claimedRule: .autoCloud, taskType: .localModel, privacyLevel: .auto, intent: .retrieval,
        isFallbackAllowed: true, usedFallback: true, fallbackReason: "error", fallbackConfirmed: .yes,
        constraintConfirmed: .no, confidence: 0.5, questionTokenCount: 12, questionHash: "ab12", questionLength: 48,
        latencyMilliseconds: 0.25, stages: [StageTime(.created, at: moment), StageTime(.failed, at: moment)],
        policy: .nothing, warnings: ["careful"], sideEffects: ["ai_mediation_event"],
        grounding: Grounding(persona: .playful, session: 1, events: 4))
    private static let record = ExecutionRecord(
        id: id(52), familyID: id(2), userID: id(1), traceID: id(50), questionID: id(51), operation: .intent,
        nagID: id(3), errorCode: "E-POLICY-001", createdAt: moment, execution: execution)
    private static let filter = ExecutionFilter(
        familyID: id(2), userID: id(1), traceID: id(19), questionID: id(51), operation: .operation(.pushBack),
        route: .cloud,
        result: .error,
        since: moment, until: moment)

    static let aiExecutions = [
        Sample(
            API.execute, NoParameters(),
            asking(
                ExecutionRequest(
                    familyID: id(2), operation: .summarizeExcuse, nagID: id(3), userID: id(1), text: "The bus")),
            ExecutionAnswer(
                traceID: id(50), questionID: id(51),
                response: ExecutedResponse(content: "The bus", model: "heuristic", latencyMilliseconds: 0.5),
                result: ["summary": .string("The bus")], execution: execution)),
        Sample(
            API.listExecutions, ExecutionListQuery(filter, cursor: "c", limit: 7), NoBody(),
            ExecutionPage(items: [record], nextCursor: "d")),
        Sample(
            API.deleteExecutions, ExecutionDeletionQuery(familyID: id(2), before: moment), NoBody(),
            ExecutionDeletion(deleted: 3)),
        Sample(API.exportExecutions, filter, NoBody(), PlainText("{}\n")),
        Sample(
            API.declineConfirmation, NoParameters(), ConfirmationReply(confirmation: Secret("c")),
            CancelledExecution()),
        Sample(
            API.getExecution, ExecutionPath(traceID: id(50)), NoBody(),
            ExecutionTrace(traceID: id(50), attempts: [record])),
        Sample(API.deleteExecution, ExecutionPath(traceID: id(50)), NoBody(), NoAnswer()),
        Sample(
            API.beginAISession, NoParameters(), AISessionCreate(familyID: id(2)),
            AISession(sessionID: Secret("s"), expiresAt: moment)),
        Sample(API.endAISession, NoParameters(), AISessionName(sessionID: Secret("s")), NoAnswer()),
    ]
}
