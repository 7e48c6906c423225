// The closed enumerations of the AI's settings, constraints and routing. The raw values are stored or sent.

/// The places where a person allows a question to be answered: `local` on the device alone, `cloud` by the server or a
/// third party, `auto` by any of them.
public enum PrivacyLevel: String, Sendable, CaseIterable { case local, cloud, auto }

/// The purpose of a question, if its sender names one. It matters only to constraints with a condition on it, and to
/// devices that answer only some purposes.
public enum QuestionIntent: String, Sendable, CaseIterable { case informational, analytical, retrieval }

/// The state of the network. It is `offline` shortly after an attempt that established no connection, and `degraded`
/// after other or repeated faults. A question is sent to a server only if the state is `online`.
public enum NetworkState: String, Sendable, CaseIterable { case online, offline, degraded }

/// A person's choice of what may answer their questions.
public enum AIMode: String, Sendable, CaseIterable {
    /// The rules alone, without a model.
    case heuristic
    /// Any available model, or the rules.
    case auto
    /// Only the operating system's model on the device.
    case onDeviceOnly = "on_device_only"
    /// Only the device: a model behind its own gateway, or the rules.
    case localOnly = "local_only"
    /// Only the person's own provider answers, with their own key.
    case byoOnly = "byo_only"
    /// Nothing answers.
    case off

    /// Creates a mode from its name, or from `apple_only`, which a public client uses for `on_device_only`.
    public init?(named name: String) {
        self.init(rawValue: name == "apple_only" ? AIMode.onDeviceOnly.rawValue : name)
    }
}

/// The kind of engine that answers a question.
public enum TaskType: String, Sendable, CaseIterable {
    /// The rules alone, without a model.
    case heuristic
    /// A model on the machine that answers: the device or the server.
    case localModel = "local_llm"
    /// A model of a third party.
    case cloudModel = "cloud_llm"
    /// Part of the API, but not available.
    case retrieval = "rag_retrieval"
    /// Part of the API, but not available.
    case hybridRetrieval = "hybrid_rag"
}

/// The third parties that a person can have a key for.
public enum KeyProvider: String, Sendable, CaseIterable {
    case openai, anthropic
    /// Another service with OpenAI's protocol.
    case custom
}

/// The people whose questions a constraint applies to: everybody in the family, or only the constraint's owner.
public enum ConstraintScope: String, Sendable, CaseIterable { case family, own }

/// The purpose of a constraint. It has no effect on the evaluation.
public enum ConstraintType: String, Sendable, CaseIterable { case privacy, cost, performance, intent }

/// The field of a question that a condition of a constraint reads.
public enum ConstraintField: String, Sendable, CaseIterable {
    /// The words of the question.
    case content
    case tokenCount = "token_count"
    case intent
    case privacyLevel = "privacy_level"
}

/// The comparison of a condition of a constraint. `contains` and `notContains` are for the content, `exceeds` and
/// `lessThan` for the number of tokens.
public enum ConstraintOperator: String, Sendable, CaseIterable {
    case contains, notContains, equals, notEquals, exceeds, lessThan
}
