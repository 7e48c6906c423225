import JSON

/// Why a request cannot be understood: the field at fault by its wire name, and a sentence for a person.
public struct InvalidInput: Error, Hashable, Sendable {
    /// Dotted where it lies deeper (`totals.open`, `items[3].id`); nil where the body as a whole is at fault.
    public var field: String?
    /// What is wrong. It quotes nothing of the input.
    public var message: String

    public init(_ message: String, field: String? = nil) {
        self.field = field
        self.message = message
    }

    /// The same fault seen from one level further out.
    func inside(_ name: String) -> InvalidInput {
        guard let field else { return InvalidInput(message, field: name) }
        return InvalidInput(message, field: field.hasPrefix("[") ? name + field : name + "." + field)
    }

    static func wrongType(_ expected: String, _ found: JSONValue) -> InvalidInput {
        InvalidInput("must be \(expected), not \(found.kind)")
    }
}
