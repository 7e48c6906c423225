// The closed enumerations of the AI policy: what a person asks for, what a constraint says, where a question may run.

/// Where a person allows a question to be answered. `local` never leaves the device.
public enum PrivacyLevel: String, Sendable, CaseIterable { case local, cloud, auto }

/// What a question is for, if its sender says so.
public enum QuestionIntent: String, Sendable, CaseIterable { case informational, analytical, retrieval }

/// Whether the device reaches the network. Only `online` counts as reached.
public enum NetworkState: String, Sendable, CaseIterable { case online, offline, degraded }

/// A person's choice of what may answer their questions.
public enum AIMode: String, Sendable, CaseIterable {
    /// The rules alone, without a model.
    case heuristic
    case auto
    case onDeviceOnly = "on_device_only"
    case localOnly = "local_only"
    /// Only the person's own provider, with their own key.
    case byoOnly = "byo_only"
    case off

    /// A mode by its name, or by the name that a public client has for `on_device_only`.
    public init?(named name: String) {
        self.init(rawValue: name == "apple_only" ? AIMode.onDeviceOnly.rawValue : name)
    }
}

/// What kind of engine answers a question.
public enum TaskType: String, Sendable, CaseIterable {
    case heuristic
    /// A model on this machine.
    case localModel = "local_llm"
    /// A model of a third party.
    case cloudModel = "cloud_llm"
    case retrieval = "rag_retrieval"
    case hybridRetrieval = "hybrid_rag"
}

/// The third parties that a person can have a key for.
public enum KeyProvider: String, Sendable, CaseIterable {
    case openai, anthropic
    /// Another service with OpenAI's protocol.
    case custom
}

/// Whose questions a constraint applies to: everybody's in the family, or its owner's.
public enum ConstraintScope: String, Sendable, CaseIterable { case family, own }

public enum ConstraintType: String, Sendable, CaseIterable { case privacy, cost, performance, intent }

/// What a condition of a constraint looks at.
public enum ConstraintField: String, Sendable, CaseIterable {
    case content
    case tokenCount = "token_count"
    case intent
    case privacyLevel = "privacy_level"
}

/// How a condition of a constraint compares.
public enum ConstraintOperator: String, Sendable, CaseIterable {
    case contains, notContains, equals, notEquals, exceeds, lessThan
}
