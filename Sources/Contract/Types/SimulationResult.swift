import Domain
import JSON
import NagzAI

/// The results of policy and router for one case.
public struct SimulationResult: Hashable, WireObject {
    public var policy: SimulatedPolicy
    /// The decision; nil where the question has no route.
    public var decision: SimulatedDecision?
    /// The reason for which the question has no route; nil where it has one.
    public var failure: SimulatedFailure?
    /// The outcome in words.
    public var explanation: String

    public init(_ policy: PolicyResult, _ outcome: Result<RoutingDecision, RoutingFailure>) {
        self.policy = SimulatedPolicy(policy)
        switch outcome {
        case .success(let decision):
            self.decision = SimulatedDecision(decision)
            explanation = decision.reason
        case .failure(let failure):
            self.failure = SimulatedFailure(code: failure.code?.rawValue, rule: failure.rule?.rawValue)
            explanation = failure.text
        }
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        policy = try fields.required("policy")
        decision = try fields.optional("decision")
        failure = try fields.optional("failure")
        explanation = try fields.required("explanation")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("policy", policy)
            json.field("decision", decision)
            json.field("failure", failure)
            json.field("explanation", explanation)
        }
    }
}

/// The result of the constraints for a question.
public struct SimulatedPolicy: Hashable, WireObject {
    public var isAllowed: Bool
    /// The strongest action that applies; nil if none does.
    public var effectiveAction: String?
    /// The constraints in the order of evaluation.
    public var evaluated: [ConstraintID]
    public var applied: [ConstraintID]
    public var warnings: [String]
    public var confirmation: String?
    public var violation: SimulatedViolation?

    init(_ result: PolicyResult) {
        isAllowed = result.isAllowed
        effectiveAction = result.effectiveAction?.rawValue
        evaluated = result.evaluated
        applied = result.applied
        warnings = result.warnings
        confirmation = result.confirmation
        violation = result.violation.map { SimulatedViolation(constraintID: $0.constraint, reason: $0.reason) }
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        isAllowed = try fields.required("allowed")
        effectiveAction = try fields.optional("effective_action")
        evaluated = try fields.required("evaluated")
        applied = try fields.required("applied")
        warnings = try fields.required("warnings")
        confirmation = try fields.optional("confirmation")
        violation = try fields.optional("violation")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("allowed", isAllowed)
            json.field("effective_action", effectiveAction)
            json.field("evaluated", evaluated)
            json.field("applied", applied)
            json.field("warnings", warnings)
            json.field("confirmation", confirmation)
            json.field("violation", violation)
        }
    }
}

/// The constraint that blocks a question.
public struct SimulatedViolation: Hashable, WireObject {
    public var constraintID: ConstraintID
    public var reason: String

    public init(constraintID: ConstraintID, reason: String) {
        self.constraintID = constraintID
        self.reason = reason
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        constraintID = try fields.required("constraint_id")
        reason = try fields.required("reason")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("constraint_id", constraintID)
            json.field("reason", reason)
        }
    }
}

/// The route of a question.
public struct SimulatedDecision: Hashable, WireObject {
    public var route: String
    public var taskType: TaskType
    public var provider: String
    public var model: String?
    public var rule: String
    public var reason: String
    public var isFallbackAllowed: Bool
    public var confidence: Double
    public var at: Timestamp
    public var trace: TraceID
    public var warnings: [String]

    init(_ decision: RoutingDecision) {
        route = decision.route.rawValue
        taskType = decision.taskType
        provider = decision.provider.rawValue
        model = decision.model
        rule = decision.rule.rawValue
        reason = decision.reason
        isFallbackAllowed = decision.isFallbackAllowed
        confidence = decision.confidence
        at = decision.at
        trace = decision.trace
        warnings = decision.warnings
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        route = try fields.required("route")
        taskType = try fields.required("task_type")
        provider = try fields.required("provider")
        model = try fields.optional("model")
        rule = try fields.required("rule_id")
        reason = try fields.required("reason")
        isFallbackAllowed = try fields.required("fallback_allowed")
        confidence = try fields.required("confidence")
        at = try fields.required("at")
        trace = try fields.required("trace_id")
        warnings = try fields.required("warnings")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("route", route)
            json.field("task_type", taskType)
            json.field("provider", provider)
            json.field("model", model)
            json.field("rule_id", rule)
            json.field("reason", reason)
            json.field("fallback_allowed", isFallbackAllowed)
            json.field("confidence", confidence)
            json.field("at", at)
            json.field("trace_id", trace)
            json.field("warnings", warnings)
        }
    }
}

/// The reason for which a question has no route.
public struct SimulatedFailure: Hashable, WireObject {
    /// The code; nil where the person has switched the AI off.
    public var code: String?
    /// The rule; nil where the person's mode decides and no rule.
    public var rule: String?

    public init(code: String?, rule: String?) {
        self.code = code
        self.rule = rule
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        code = try fields.optional("error_code")
        rule = try fields.optional("rule_id")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("error_code", code)
            json.field("rule_id", rule)
        }
    }
}
