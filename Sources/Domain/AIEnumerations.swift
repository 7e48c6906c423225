// The closed enumerations of the AI policy: what a person asks for, what a constraint says, where a question may run.

/// The places where a person allows a question to be answered. `local` never leaves the device.
public enum PrivacyLevel: String, Sendable, CaseIterable { case local, cloud, auto }

/// The purpose of a question, if its sender names one.
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
    /// Only the person's own provider answers, with their own key.
    case byoOnly = "byo_only"
    case off

    /// A mode by its name, or by the name that a public client has for `on_device_only`.
    public init?(named name: String) {
        self.init(rawValue: name == "apple_only" ? AIMode.onDeviceOnly.rawValue : name)
    }
}

/// The kind of engine that answers a question.
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

/// The people whose questions a constraint applies to: everybody in the family, or its owner.
public enum ConstraintScope: String, Sendable, CaseIterable { case family, own }

public enum ConstraintType: String, Sendable, CaseIterable { case privacy, cost, performance, intent }

/// The field of a question that a condition of a constraint reads.
public enum ConstraintField: String, Sendable, CaseIterable {
    case content
    case tokenCount = "token_count"
    case intent
    case privacyLevel = "privacy_level"
}

/// The comparison of a condition of a constraint.
public enum ConstraintOperator: String, Sendable, CaseIterable {
    case contains, notContains, equals, notEquals, exceeds, lessThan
}
