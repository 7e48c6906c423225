/// A request to the AI: to answer one of the mediator's questions, or to read words as the draft of a nag.
public enum AskedOperation: Hashable, Sendable, CaseIterable, RawRepresentable {
    case operation(AIOperationID)
    case intent

    public static let allCases = AIOperationID.allCases.map(Self.operation) + [.intent]

    public init?(rawValue: String) {
        guard let found = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = found
    }

    public var rawValue: String {
        switch self {
        case .operation(let id): id.rawValue
        case .intent: "intent"
        }
    }

    /// The task of a model for it; nil for an operation of figures alone.
    public var modelTask: ModelTask? { ModelTask(rawValue: rawValue) }
}
