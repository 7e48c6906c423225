import JSON

// Schemas are JSON values, whose members keep their written order.

extension JSONValue {
    static func reference(_ schema: String) -> JSONValue { ["$ref": .string("#/components/schemas/" + schema)] }

    /// Whether it says a type itself.
    var isWholeSchema: Bool { self["type"] != nil || self["$ref"] != nil || self["anyOf"] != nil }

    /// This schema with `keywords` in it.
    func with(_ keywords: JSONValue?) -> JSONValue {
        guard case .object(let added)? = keywords, case .object(var object) = self else { return self }
        for member in added.members { object[member.key] = member.value }
        return .object(object)
    }

    /// This schema, or null. The default of a schema that is elsewhere stays beside the alternatives.
    var orNull: JSONValue {
        guard case .object(var object) = self else { return self }
        guard let type = object["type"] else {
            let fallback = object["default"]
            object["default"] = nil
            return JSONValue.object(["anyOf": [.object(object), ["type": "null"]]]).with(
                fallback.map { ["default": $0] })
        }
        if case .array = type { return self }
        object["type"] = .array([type, "null"])
        if case .array(let values)? = object["enum"] { object["enum"] = .array(values + [.null]) }
        return .object(object)
    }

    /// Two spaces for each level; on one line what fits there, and what has no level below it.
    func written(indent: String = "") -> String {
        let inline = onOneLine
        switch self {
        case .object(let object) where !object.isEmpty:
            if indent.count + inline.count <= 100 || object.members.allSatisfy({ $0.value.isFlat }) { return inline }
            let members = object.members.map {
                "\(indent)  \(Self.quoted($0.key)): \($0.value.written(indent: indent + "  "))"
            }
            return "{\n" + members.joined(separator: ",\n") + "\n\(indent)}"
        case .array(let elements) where !elements.isEmpty:
            if indent.count + inline.count <= 100 || elements.allSatisfy(\.isScalar) { return inline }
            return "[\n" + elements.map { "\(indent)  " + $0.written(indent: indent + "  ") }.joined(separator: ",\n")
                + "\n\(indent)]"
        default: return inline
        }
    }

    private var isScalar: Bool {
        switch self {
        case .object, .array: false
        default: true
        }
    }

    /// Whether it has at most one level of scalars.
    private var isFlat: Bool {
        switch self {
        case .object(let object): object.count <= 1 && object.members.allSatisfy { $0.value.isScalar }
        case .array(let elements): elements.allSatisfy(\.isScalar)
        default: true
        }
    }

    private var onOneLine: String {
        switch self {
        case .object(let object):
            object.isEmpty
                ? "{}"
                : "{ " + object.members.map { Self.quoted($0.key) + ": " + $0.value.onOneLine }.joined(separator: ", ")
                    + " }"
        case .array(let elements): "[" + elements.map(\.onOneLine).joined(separator: ", ") + "]"
        default: String(decoding: JSONWriter.document { $0.value(self) }, as: UTF8.self)
        }
    }

    private static func quoted(_ text: String) -> String {
        String(decoding: JSONWriter.document { $0.string(text) }, as: UTF8.self)
    }
}
