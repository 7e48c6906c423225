import JSON

// Schemas are JSON values, whose members keep their written order.

extension JSONValue {
    static func reference(_ schema: String) -> JSONValue { ["$ref": .string("#/components/schemas/" + schema)] }

    /// Whether these keywords are a complete schema: they contain `type`, `$ref` or `anyOf`.
    var isCompleteSchema: Bool { self["type"] != nil || self["$ref"] != nil || self["anyOf"] != nil }

    /// Returns this schema with the keywords added.
    func adding(_ keywords: JSONValue?) -> JSONValue {
        guard case .object(let added)? = keywords, case .object(var object) = self else { return self }
        for member in added.members { object[member.key] = member.value }
        return .object(object)
    }

    /// This schema with null as a further value. A schema without `type`, such as a reference, becomes one of two
    /// alternatives in `anyOf`, and its default moves beside `anyOf`.
    var nullableSchema: JSONValue {
        guard case .object(var object) = self else { return self }
        guard let type = object["type"] else {
            let fallback = object["default"]
            object["default"] = nil
            return JSONValue.object(["anyOf": [.object(object), ["type": "null"]]]).adding(
                fallback.map { ["default": $0] })
        }
        if case .array = type { return self }
        object["type"] = .array([type, "null"])
        if case .array(let values)? = object["enum"] { object["enum"] = .array(values + [.null]) }
        return .object(object)
    }

    /// Returns the JSON text, indented by two spaces for each level. A value is on one line if it fits in 100 columns,
    /// or if it is an object of flat members or an array of scalars.
    func indentedText(indent: String = "") -> String {
        let singleLine = singleLineText
        switch self {
        case .object(let object) where !object.isEmpty:
            if indent.count + singleLine.count <= 100 || object.members.allSatisfy({ $0.value.isFlat }) {
                return singleLine
            }
            let members = object.members.map {
                "\(indent)  \(Self.quoted($0.key)): \($0.value.indentedText(indent: indent + "  "))"
            }
            return "{\n" + members.joined(separator: ",\n") + "\n\(indent)}"
        case .array(let elements) where !elements.isEmpty:
            if indent.count + singleLine.count <= 100 || elements.allSatisfy(\.isScalar) { return singleLine }
            let lines = elements.map { "\(indent)  " + $0.indentedText(indent: indent + "  ") }
            return "[\n" + lines.joined(separator: ",\n") + "\n\(indent)]"
        default: return singleLine
        }
    }

    private var isScalar: Bool {
        switch self {
        case .object, .array: false
        default: true
        }
    }

    /// Whether the value is a scalar, an array of scalars, or an object with at most one member, a scalar.
    private var isFlat: Bool {
        switch self {
        case .object(let object): object.count <= 1 && object.members.allSatisfy { $0.value.isScalar }
        case .array(let elements): elements.allSatisfy(\.isScalar)
        default: true
        }
    }

    private var singleLineText: String {
        switch self {
        case .object(let object):
            object.isEmpty
                ? "{}"
                : "{ "
                    + object.members.map { Self.quoted($0.key) + ": " + $0.value.singleLineText }
                    .joined(separator: ", ") + " }"
        case .array(let elements): "[" + elements.map(\.singleLineText).joined(separator: ", ") + "]"
        default: String(decoding: JSONWriter.document { $0.value(self) }, as: UTF8.self)
        }
    }

    private static func quoted(_ text: String) -> String {
        String(decoding: JSONWriter.document { $0.string(text) }, as: UTF8.self)
    }
}
