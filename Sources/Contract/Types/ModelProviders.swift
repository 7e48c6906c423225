import JSON
import NagzAI

/// Something that can answer questions, and whether it can answer the caller's.
public struct ModelProviderItem: Hashable, WireObject {
    /// `heuristic`, `server_gateway`, or the provider of a key.
    public var name: String
    /// The narrowest: the rules run on devices too.
    public var reach: Reach
    /// Whether it works without the internet.
    public var worksOffline: Bool
    /// Its model; nil for the rules, and where none is configured.
    public var model: String?
    /// Whether it can be given tools.
    public var supportsTools: Bool
    /// Whether it can be held to a form of the answer.
    public var supportsSchemas: Bool
    /// The number of tokens that a prompt and its answer have together, as declared; nil for no limit.
    public var contextTokens: Int?
    /// The time that an answer takes, in milliseconds.
    public var latencyMilliseconds: Double
    /// Whether that was measured, on the latest answer; else it is what is declared.
    public var isLatencyMeasured: Bool
    /// The kinds of task that an operation asks of it.
    public var tasks: [TaskKind]
    /// Whether a check has reached it.
    public var isAvailable: Bool
    /// The seconds since the check; nil where there was none, and for the rules.
    public var checkAgeSeconds: Int?
    /// An `UnavailabilityReason`, `not_checked`, `adults_only` or `third_party_models_off`; nil if it is available.
    public var reason: String?
    /// Whether the caller's mode and choice ask it.
    public var isActive: Bool

    public static let notChecked = "not_checked"
    public static let adultsOnly = "adults_only"
    public static let thirdPartiesOff = "third_party_models_off"

    public init(
        name: String, reach: Reach, worksOffline: Bool, model: String? = nil, supportsTools: Bool = false,
        supportsSchemas: Bool = true, contextTokens: Int?, latencyMilliseconds: Double = 1,
        isLatencyMeasured: Bool = false, tasks: [TaskKind], checkAgeSeconds: Int? = nil, reason: String?,
        isActive: Bool
    ) {
        self.name = name
        self.reach = reach
        self.worksOffline = worksOffline
        self.model = model
        self.supportsTools = supportsTools
        self.supportsSchemas = supportsSchemas
        self.contextTokens = contextTokens
        self.latencyMilliseconds = latencyMilliseconds
        self.isLatencyMeasured = isLatencyMeasured
        self.tasks = tasks
        self.checkAgeSeconds = checkAgeSeconds
        isAvailable = reason == nil
        self.reason = reason
        self.isActive = isActive
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        name = try fields.required("name")
        reach = try fields.required("reach")
        worksOffline = try fields.required("offline")
        model = try fields.optional("model")
        supportsTools = try fields.defaulted("tools", to: false)
        supportsSchemas = try fields.defaulted("schema", to: true)
        contextTokens = try fields.optional("context")
        latencyMilliseconds = try fields.defaulted("latency_ms", to: 0)
        isLatencyMeasured = try fields.defaulted("latency_measured", to: false)
        tasks = try fields.required("tasks")
        isAvailable = try fields.required("available")
        checkAgeSeconds = try fields.optional("check_age_seconds")
        reason = try fields.optional("reason")
        isActive = try fields.required("active")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("name", name)
            json.field("reach", reach)
            json.field("offline", worksOffline)
            json.field("model", model)
            json.field("tools", supportsTools)
            json.field("schema", supportsSchemas)
            json.field("context", contextTokens)
            json.field("latency_ms", latencyMilliseconds)
            json.field("latency_measured", isLatencyMeasured)
            json.field("tasks", tasks)
            json.field("available", isAvailable)
            json.field("check_age_seconds", checkAgeSeconds)
            json.field("reason", reason)
            json.field("active", isActive)
        }
    }
}

/// All of them, from the narrowest reach to the widest.
public struct ModelProviderList: Hashable, WireObject {
    public var items: [ModelProviderItem]

    public init(items: [ModelProviderItem]) { self.items = items }

    public init(_ fields: FieldReader) throws(InvalidInput) { items = try fields.required("items") }

    public func write(to json: inout JSONWriter) { json.object { $0.field("items", items) } }
}
