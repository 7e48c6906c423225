import NagzAI

/// An error in the input: the wire name of the field, and what is wrong with it.
public struct InvalidInput: Error, Hashable, Sendable {
    /// A path for nested fields (`totals.open`, `items[3].id`); nil for the body as a whole.
    public var field: String?
    /// The end of a sentence whose subject is the field. It repeats nothing of the input.
    public var message: String
    /// The code of the AI operations for the error; nil for most.
    public var code: ExecutionCode?

    public init(_ message: String, field: String? = nil, code: ExecutionCode? = nil) {
        self.field = field
        self.message = message
        self.code = code
    }

    /// Returns the error with the path in an enclosing object.
    /// - Parameter name: the name or index of this value there.
    func nested(in name: String) -> InvalidInput {
        guard let field else { return InvalidInput(message, field: name, code: code) }
        return InvalidInput(message, field: field.hasPrefix("[") ? name + field : name + "." + field, code: code)
    }
}
