import Domain
import JSON
import NagzAI

/// How an answer came about.
public struct ExecutionReport: Hashable, WireObject {
    public var id: ExecutionID
    public var provider: String
    public var model: String?
    public var route: String
    public var rule: RoutingRule?
    /// The rule as people read it.
    public var reason: String?
    /// What the client asked for; `heuristic` where it said nothing.
    public var taskType: TaskType
    public var privacyLevel: PrivacyLevel
    public var intent: QuestionIntent?
    public var isFallbackAllowed: Bool
    /// Whether something else answered than was asked for.
    public var usedFallback: Bool
    /// Why; `none` without a fallback.
    public var fallbackReason: String
    public var isFallbackConfirmed: Bool
    /// 0 to 1; nil for an error.
    public var confidence: Double?
    public var tokenCount: Int
    public var latencyMilliseconds: Double
    /// The constraints that were evaluated, in their order, and those that applied.
    public var evaluated: [ConstraintID]
    public var applied: [ConstraintID]
    public var warnings: [String]
    /// Why a constraint blocked the question.
    public var violation: String?
    /// What the answer left behind: `ai_mediation_event`, a row of the feed.
    public var sideEffects: [String]
    /// What a tip or a push-back was grounded in; nil for other operations and for errors.
    public var grounding: Grounding?

    public init(
        id: ExecutionID, provider: String, model: String? = nil, route: String, rule: RoutingRule?, taskType: TaskType,
        privacyLevel: PrivacyLevel, intent: QuestionIntent?, isFallbackAllowed: Bool, usedFallback: Bool,
        fallbackReason: String, isFallbackConfirmed: Bool = false, confidence: Double?, tokenCount: Int,
        latencyMilliseconds: Double, policy: PolicyResult, warnings: [String], sideEffects: [String],
        grounding: Grounding? = nil
    ) {
        self.id = id
        self.provider = provider
        self.model = model
        self.route = route
        self.rule = rule
        reason = rule?.text
        self.taskType = taskType
        self.privacyLevel = privacyLevel
        self.intent = intent
        self.isFallbackAllowed = isFallbackAllowed
        self.usedFallback = usedFallback
        self.fallbackReason = fallbackReason
        self.isFallbackConfirmed = isFallbackConfirmed
        self.confidence = confidence
        self.tokenCount = tokenCount
        self.latencyMilliseconds = latencyMilliseconds
        evaluated = policy.evaluated
        applied = policy.applied
        self.warnings = warnings
        violation = policy.violation?.reason
        self.sideEffects = sideEffects
        self.grounding = grounding
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.required("id")
        provider = try fields.required("provider")
        model = try fields.optional("model")
        route = try fields.required("route")
        rule = try fields.optional("rule_id")
        reason = try fields.optional("reason")
        taskType = try fields.required("task_type")
        privacyLevel = try fields.required("privacy_level")
        intent = try fields.optional("intent")
        isFallbackAllowed = try fields.required("fallback_allowed")
        usedFallback = try fields.required("used_fallback")
        fallbackReason = try fields.required("fallback_reason")
        isFallbackConfirmed = try fields.required("fallback_confirmed")
        confidence = try fields.optional("confidence")
        tokenCount = try fields.required("token_count")
        latencyMilliseconds = try fields.required("latency_ms")
        evaluated = try fields.required("evaluated")
        applied = try fields.required("applied")
        warnings = try fields.required("warnings")
        violation = try fields.optional("violation_reason")
        sideEffects = try fields.required("side_effects")
        grounding = try fields.optional("grounding")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id)
            json.field("provider", provider)
            json.field("model", model)
            json.field("route", route)
            json.field("rule_id", rule)
            json.field("reason", reason)
            json.field("task_type", taskType)
            json.field("privacy_level", privacyLevel)
            json.field("intent", intent)
            json.field("fallback_allowed", isFallbackAllowed)
            json.field("used_fallback", usedFallback)
            json.field("fallback_reason", fallbackReason)
            json.field("fallback_confirmed", isFallbackConfirmed)
            json.field("confidence", confidence)
            json.field("token_count", tokenCount)
            json.field("latency_ms", latencyMilliseconds)
            json.field("evaluated", evaluated)
            json.field("applied", applied)
            json.field("warnings", warnings)
            json.field("violation_reason", violation)
            json.field("side_effects", sideEffects)
            json.field("grounding", grounding)
        }
    }
}
