import Domain

/// The effect of a constraint on a question. Texts have 1 to 280 characters.
public enum ConstraintAction: Hashable, Sendable {
    case block(reason: String)
    /// Keeps the question on the device. The server may still answer one without a person's words.
    case forceLocal
    /// Sends the question to the server, unless its privacy level or `requiresOffline` keeps it on the device.
    case forceCloud
    case requireConfirmation(prompt: String)
    case warn(message: String)

    /// Creates an action from the parts of its wire form.
    /// - Parameter text: the value of the field that `Kind.textFieldName` names.
    /// - Throws: a fault for an unknown type, or for a text that is missing, empty or too long.
    public init(type: String, text: String?) throws(ConstraintFault) {
        guard let kind = Kind(rawValue: type) else { throw ConstraintFault("action.type", "is not a known action") }
        let text = text ?? ""
        let action: ConstraintAction =
            switch kind {
            case .block: .block(reason: text)
            case .forceLocal: .forceLocal
            case .forceCloud: .forceCloud
            case .requireConfirmation: .requireConfirmation(prompt: text)
            case .warn: .warn(message: text)
            }
        self = try action.checked()
    }

    /// The kinds of actions, strongest first.
    public enum Kind: String, Sendable, CaseIterable, Comparable {
        case block
        case forceLocal = "force_local"
        case forceCloud = "force_cloud"
        case requireConfirmation = "require_confirmation"
        case warn

        /// The name of the action's text on the wire; nil for an action without a text.
        public var textFieldName: String? {
            switch self {
            case .block: "reason"
            case .requireConfirmation: "prompt"
            case .warn: "message"
            case .forceLocal, .forceCloud: nil
            }
        }

        /// A stronger kind is smaller.
        public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

        /// 0 for the strongest kind.
        private var rank: Int {
            switch self {
            case .block: 0
            case .forceLocal: 1
            case .forceCloud: 2
            case .requireConfirmation: 3
            case .warn: 4
            }
        }
    }

    public var kind: Kind {
        switch self {
        case .block: .block
        case .forceLocal: .forceLocal
        case .forceCloud: .forceCloud
        case .requireConfirmation: .requireConfirmation
        case .warn: .warn
        }
    }

    /// The text that a person reads; nil for an action without a text.
    public var text: String? {
        switch self {
        case .block(let text), .requireConfirmation(let text), .warn(let text): text
        case .forceLocal, .forceCloud: nil
        }
    }

    /// Returns the action if its text is valid.
    func checked() throws(ConstraintFault) -> ConstraintAction {
        guard let field = kind.textFieldName, let text else { return self }
        guard !trimmed(text).isEmpty else { throw ConstraintFault("action.\(field)", "must not be empty") }
        guard text.unicodeScalars.count <= ConstraintLimit.maxActionTextLength else {
            throw ConstraintFault(
                "action.\(field)", "must have at most \(ConstraintLimit.maxActionTextLength) characters")
        }
        return self
    }
}
