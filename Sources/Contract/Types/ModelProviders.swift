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
    /// How many tokens a prompt and its answer have together; nil for no limit.
    public var contextTokens: Int?
    public var tasks: [TaskKind]
    public var isAvailable: Bool
    /// An `UnavailabilityReason`, `adults_only` or `third_party_models_off`; nil if it is available.
    public var reason: String?
    /// Whether it answers the caller's questions at present.
    public var isActive: Bool

    public init(
        name: String, reach: Reach, worksOffline: Bool, contextTokens: Int?, tasks: [TaskKind], reason: String?,
        isActive: Bool
    ) {
        self.name = name
        self.reach = reach
        self.worksOffline = worksOffline
        self.contextTokens = contextTokens
        self.tasks = tasks
        isAvailable = reason == nil
        self.reason = reason
        self.isActive = isActive
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        name = try fields.required("name")
        reach = try fields.required("reach")
        worksOffline = try fields.required("offline")
        contextTokens = try fields.optional("context")
        tasks = try fields.required("tasks")
        isAvailable = try fields.required("available")
        reason = try fields.optional("reason")
        isActive = try fields.required("active")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("name", name)
            json.field("reach", reach)
            json.field("offline", worksOffline)
            json.field("context", contextTokens)
            json.field("tasks", tasks)
            json.field("available", isAvailable)
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
