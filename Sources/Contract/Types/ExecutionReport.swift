import Domain
import JSON
import NagzAI

/// A report on how a question was answered, or why it was not.
public struct ExecutionReport: Hashable, WireObject {
    public var id: ExecutionID
    /// The provider of the answer, or of the model that failed: `heuristic` for the rules and for other errors.
    public var provider: String
    /// The model of the provider; nil for the rules.
    public var model: String?
    /// The model that the question was sent to, even if it gave no usable answer; nil if it was sent to none.
    public var asked: AskedModel?
    /// The route that the router chose; nil if it chose none.
    public var route: RoutingDecision.Route?
    /// The rule that chose the route.
    public var rule: RoutingRule?
    /// The reason for the route, as a sentence for people.
    public var reason: String?
    /// The rule by which, according to the client, it chose the server; nil if it named none.
    public var claimedRule: RoutingRule?
    /// The kind of engine that the client requested; if it requested none, the one that mode or router chose.
    public var taskType: TaskType
    public var privacyLevel: PrivacyLevel
    public var intent: QuestionIntent?
    /// Whether the question may take another route if the chosen one fails. An answer of the rules in place of a model
    /// is no other route.
    public var isFallbackAllowed: Bool
    /// Whether the answer does not come from the requested engine.
    public var usedFallback: Bool
    /// The reason for the fallback; `none` without one.
    public var fallbackReason: String
    /// Whether the person confirmed a fallback to the server.
    public var fallbackConfirmed: ConfirmationStatus
    /// Whether the person confirmed the prompt of a constraint.
    public var constraintConfirmed: ConfirmationStatus
    /// The confidence of the answer, 0 to 1; nil for an error.
    public var confidence: Double?
    /// The estimated number of tokens in the question's words. Constraints and the router use it.
    public var questionTokenCount: Int
    /// A keyed digest of the question's words; nil for a question without words, or without a key.
    public var questionHash: String?
    /// The length of the question's words in bytes.
    public var questionLength: Int
    public var latencyMilliseconds: Double
    /// The stages that the question reached.
    public var stages: [StageTime]
    /// The constraints that were evaluated, in their order.
    public var evaluated: [ConstraintID]
    /// The constraints that applied.
    public var applied: [ConstraintID]
    public var warnings: [String]
    /// The reason of the constraint that blocked the question.
    public var violationReason: String?
    /// The side effects of the answer: `ai_mediation_event`, a row of the feed.
    public var sideEffects: [String]
    /// The grounding of a tip, a push-back or a coach's answer; nil for other operations and for errors.
    public var grounding: Grounding?

    /// Whether a model was asked, but the rules answered in its place.
    public var isModelReplaced: Bool { usedFallback && asked != nil }

    public init(
        id: ExecutionID, provider: String, model: String? = nil, asked: AskedModel? = nil,
        route: RoutingDecision.Route?, rule: RoutingRule?, claimedRule: RoutingRule? = nil, taskType: TaskType,
        privacyLevel: PrivacyLevel, intent: QuestionIntent?, isFallbackAllowed: Bool, usedFallback: Bool,
        fallbackReason: String, fallbackConfirmed: ConfirmationStatus = .none,
        constraintConfirmed: ConfirmationStatus = .none, confidence: Double?, questionTokenCount: Int,
        questionHash: String? = nil, questionLength: Int = 0, latencyMilliseconds: Double, stages: [StageTime] = [],
        policy: PolicyResult, warnings: [String], sideEffects: [String], grounding: Grounding? = nil
    ) {
        self.id = id
        self.provider = provider
        self.model = model
        self.asked = asked
        self.route = route
        self.rule = rule
        self.claimedRule = claimedRule
        self.taskType = taskType
        self.privacyLevel = privacyLevel
        self.intent = intent
        self.isFallbackAllowed = isFallbackAllowed
        self.usedFallback = usedFallback
        self.fallbackReason = fallbackReason
        self.fallbackConfirmed = fallbackConfirmed
        self.constraintConfirmed = constraintConfirmed
        self.confidence = confidence
        self.questionTokenCount = questionTokenCount
        self.questionHash = questionHash
        self.questionLength = questionLength
        self.latencyMilliseconds = latencyMilliseconds
        self.stages = stages
        evaluated = policy.evaluated
        applied = policy.appliedUntilBlock
        self.warnings = warnings
        violationReason = policy.violation?.reason
        self.sideEffects = sideEffects
        self.grounding = grounding
        reason = derivedReason
    }

    /// The reason for the route, derived from the other members.
    public var derivedReason: String? { rule?.reason(route, taskType, privacyLevel, fallback: fallbackConfirmed) }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.required("id")
        provider = try fields.required("provider")
        model = try fields.optional("model")
        asked = try fields.optional("asked")
        route = try fields.optional("route")
        rule = try fields.optional("rule_id")
        reason = try fields.optional("reason")
        claimedRule = try fields.optional("claimed_rule_id")
        taskType = try fields.required("task_type")
        privacyLevel = try fields.required("privacy_level")
        intent = try fields.optional("intent")
        isFallbackAllowed = try fields.required("fallback_allowed")
        usedFallback = try fields.required("used_fallback")
        fallbackReason = try fields.required("fallback_reason")
        fallbackConfirmed = try ConfirmationStatus("fallback_confirmed", in: fields)
        constraintConfirmed = try fields.defaulted("constraint_confirmed", to: .none)
        confidence = try fields.optional("confidence")
        questionTokenCount = try fields.required("token_count")
        questionHash = try fields.optional("question_hash")
        questionLength = try fields.defaulted("question_length", to: 0)
        latencyMilliseconds = try fields.required("latency_ms")
        stages = try fields.defaulted("stages", to: [])
        evaluated = try fields.required("evaluated")
        applied = try fields.required("applied")
        warnings = try fields.required("warnings")
        violationReason = try fields.optional("violation_reason")
        sideEffects = try fields.required("side_effects")
        grounding = try fields.optional("grounding")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id)
            json.field("provider", provider)
            json.field("model", model)
            json.field("asked", asked)
            json.field("route", route)
            json.field("rule_id", rule)
            json.field("reason", reason)
            json.field("claimed_rule_id", claimedRule)
            json.field("task_type", taskType)
            json.field("privacy_level", privacyLevel)
            json.field("intent", intent)
            json.field("fallback_allowed", isFallbackAllowed)
            json.field("used_fallback", usedFallback)
            json.field("fallback_reason", fallbackReason)
            json.field("fallback_confirmed", fallbackConfirmed)
            json.field("constraint_confirmed", constraintConfirmed)
            json.field("confidence", confidence)
            json.field("token_count", questionTokenCount)
            json.field("question_hash", questionHash)
            json.field("question_length", questionLength)
            json.field("latency_ms", latencyMilliseconds)
            json.field("stages", stages)
            json.field("evaluated", evaluated)
            json.field("applied", applied)
            json.field("warnings", warnings)
            json.field("violation_reason", violationReason)
            json.field("side_effects", sideEffects)
            json.field("grounding", grounding)
        }
    }
}
