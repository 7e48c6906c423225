/// A kind of request to the AI: one of the mediator's operations, or `intent`, which drafts a nag from words.
public enum AskedOperation: Hashable, Sendable, CaseIterable, RawRepresentable {
    case operation(AIOperationID)
    case intent

    public static let allCases = AIOperationID.allCases.map(Self.operation) + [.intent]

    public init?(rawValue: String) {
        guard let match = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = match
    }

    public var rawValue: String {
        switch self {
        case .operation(let id): id.rawValue
        case .intent: "intent"
        }
    }

    /// The model's task; nil for an operation whose response has only figures.
    public var modelTask: ModelTask? { ModelTask(rawValue: rawValue) }
}
