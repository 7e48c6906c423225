import Contract
import Domain
import NagzAI

/// Records the questions that a device answered or refused by itself, and supplies their IDs and times.
public struct ExecutionLog {
    /// The person who uses the device.
    let user: UserID
    /// Returns the halves of a new 128-bit ID.
    let newID: () -> (high: UInt64, low: UInt64)
    /// Returns the microseconds since a fixed moment.
    let stopwatch: () -> Int64
    let store: (ExecutionRecord) -> Void

    /// - Parameter store: called with each record, which has no words of the question or the answer.
    public init(
        user: UserID, newID: @escaping () -> (high: UInt64, low: UInt64), stopwatch: @escaping () -> Int64,
        store: @escaping (ExecutionRecord) -> Void
    ) {
        (self.user, self.newID, self.stopwatch, self.store) = (user, newID, stopwatch, store)
    }

    /// Returns a log that records nothing. Its IDs and the times of its stopwatch are all zero.
    public static func silent(for user: UserID) -> ExecutionLog {
        ExecutionLog(user: user, newID: { (0, 0) }, stopwatch: { 0 }, store: { _ in })
    }

    func makeIdentifier<Kind>() -> Identifier<Kind> {
        let id = newID()
        return Identifier(high: id.high, low: id.low)
    }
}

/// A question with its route, before it is answered or refused.
package struct RoutedQuestion {
    package let question: Question
    package let choices: AIChoices
    /// The nag that the question is about; nil if it is about none.
    let nag: NagID?
    let family: FamilyID
    package let trace: TraceID
    /// The time at which routing began, in microseconds of the log's stopwatch.
    let startedAt: Int64
    /// The time at which the router had decided, in microseconds of the log's stopwatch.
    let routedAt: Int64
    let policy: PolicyResult
    /// The router's decision, or the reason why the question has no route.
    package var routingResult: Result<RoutingDecision, RoutingFailure>
    /// The model on this device that writes the answer; nil if the rules write it, or this device does not answer.
    let writer: ModelWriter?
    /// Whether this device answers without a model, and left out at least one that does not support the task.
    let isTaskUnsupported: Bool
    /// Whether the person confirmed the prompt of a constraint; `none` if there was no prompt or nobody to ask.
    var confirmationStatus = ConfirmationStatus.none

    /// Returns the record of an answer.
    func record(_ answer: AIRecord, by author: Authorship, _ stages: StageRecorder, _ log: ExecutionLog)
        -> ExecutionRecord
    {
        var record = makeRecord(author, author.confidence(answer.ruleConfidence), stages, code: nil, log)
        record.execution.grounding = answer.grounding
        return record
    }

    /// Returns the record of a refusal.
    /// - Parameter code: the raw value of an `ExecutionCode`, or of an `ErrorCode` for a refusal that has no such code.
    func record(refusedWith code: String, _ log: ExecutionLog) -> ExecutionRecord {
        makeRecord(Authorship(), nil, StageRecorder(self, log), code: code, log)
    }

    private func makeRecord(
        _ author: Authorship, _ confidence: Double?, _ stages: StageRecorder, code: String?, _ log: ExecutionLog
    ) -> ExecutionRecord {
        let decision = try? routingResult.get()
        let rule: RoutingRule? =
            switch routingResult {
            case .success(let decision): decision.rule
            case .failure(let failure): failure.rule
            }
        let id: ExecutionID = log.makeIdentifier()
        let report = ExecutionReport(
            id: id, provider: author.provider.rawValue, model: author.model, asked: author.asked,
            route: decision?.route, rule: rule, taskType: decision?.taskType ?? .heuristic,
            privacyLevel: question.privacyLevel, intent: question.intent,
            isFallbackAllowed: decision?.isFallbackAllowed ?? false, usedFallback: author.fallback != nil,
            fallbackReason: author.fallback?.text ?? "none", constraintConfirmed: confirmationStatus,
            confidence: confidence,
            questionTokenCount: question.tokenCount, questionLength: question.content.utf8.count,
            latencyMilliseconds: Double(log.stopwatch() - startedAt) / 1_000,
            stages: stages.stageTimes(endingWith: code == nil ? .completed : .failed, self, log), policy: policy,
            warnings: decision?.warnings ?? policy.warnings, sideEffects: [])
        return ExecutionRecord(
            id: id, familyID: family, userID: log.user, traceID: trace, questionID: question.id,
            operation: question.operation, nagID: nag, errorCode: code, createdAt: question.askedAt, execution: report)
    }

    fileprivate func stageTime(_ stage: ExecutionStage, at stopwatchTime: Int64) -> StageTime {
        StageTime(stage, at: question.askedAt + Timestamp.Span(microseconds: stopwatchTime - startedAt))
    }
}

/// Records the times at which a question reaches its stages on this device.
struct StageRecorder {
    private var reachedStages: [StageTime]

    /// Records the creation of the question, and its routing if it has a route.
    init(_ question: RoutedQuestion, _ log: ExecutionLog) {
        reachedStages = [question.stageTime(.created, at: question.startedAt)]
        if (try? question.routingResult.get()) != nil {
            reachedStages.append(question.stageTime(.routed, at: question.routedAt))
        }
    }

    mutating func recordExecution(_ question: RoutedQuestion, _ log: ExecutionLog) {
        reachedStages.append(question.stageTime(.executed, at: log.stopwatch()))
    }

    /// Returns the times of all stages, with the present time for the last one.
    fileprivate func stageTimes(
        endingWith lastStage: ExecutionStage, _ question: RoutedQuestion, _ log: ExecutionLog
    ) -> [StageTime] {
        reachedStages + [question.stageTime(lastStage, at: log.stopwatch())]
    }
}

extension QuestionRefusal {
    /// The code of the refusal in the history.
    var code: String {
        switch self {
        case .noRoute(let failure): failure.code?.rawValue ?? ErrorCode.authorizationDenied.rawValue
        case .unconfirmed: ExecutionCode.confirmationNeeded.rawValue
        case .declined: ExecutionCode.cancelled.rawValue
        }
    }
}
