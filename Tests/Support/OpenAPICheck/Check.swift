import JSON

/// A violation of a schema, and where it occurs.
public struct Violation: Hashable, Sendable, CustomStringConvertible {
    /// `/items/0/id`; empty for the value as a whole.
    public let place: String
    public let message: String

    public var description: String { "\(place.isEmpty ? "/" : place): \(message)" }
}

/// How strictly an object must match its schema.
public enum Strictness: Sendable {
    /// The strictness of responses: every described property must be present, and no other.
    case exact
    /// The strictness of JSON Schema: required properties must be present, and others may be.
    case schema
}

extension OpenAPIDocument {
    /// The violations of the component schema with that name; empty if there are none.
    public func check(
        _ value: JSONValue, against name: String, _ strictness: Strictness = .exact
    ) -> [Violation] {
        guard let schema = schema(name) else {
            return [Violation(place: "", message: "the document has no schema \(name)")]
        }
        return check(value, schema: schema, strictness)
    }

    /// The violations of a schema, for the keywords that this project's document uses.
    public func check(_ value: JSONValue, schema: JSONValue, _ strictness: Strictness = .exact) -> [Violation] {
        violations(value, schema, place: "", strictness)
    }

    private func violations(
        _ value: JSONValue, _ schema: JSONValue, place: String, _ strictness: Strictness
    ) -> [Violation] {
        if schema["$ref"] != nil { return violations(value, resolved(schema), place: place, strictness) }
        func violation(_ message: String) -> [Violation] { [Violation(place: place, message: message)] }

        guard schema.objectValue != nil else { return violation("its schema cannot be found") }
        if let choices = schema["anyOf"]?.arrayValue {
            let outcomes = choices.map { violations(value, $0, place: place, strictness) }
            return outcomes.contains([]) ? [] : outcomes.max { depth($0) < depth($1) } ?? []
        }
        let types = schema["type"]?.arrayValue?.compactMap(\.stringValue) ?? schema["type"]?.stringValue.map { [$0] }
        if let types, !types.contains(where: { value.isOfType($0) }) {
            return violation("is \(value.kindWithArticle), not \(types.joined(separator: " or "))")
        }
        if let allowed = schema["enum"]?.arrayValue, !allowed.contains(value) {
            return violation("is none of the listed values")
        }
        switch value {
        case .string(let text): return textFaults(text, schema).flatMap(violation)
        case .integer, .double: return numberFaults(value.doubleValue ?? 0, schema).flatMap(violation)
        case .array(let elements):
            guard let items = schema["items"] else { return [] }
            return elements.enumerated().flatMap { index, element in
                violations(element, items, place: "\(place)/\(index)", strictness)
            }
        case .object(let object): return objectViolations(object, schema, place: place, strictness)
        case .null, .bool: return []
        }
    }

    private func objectViolations(
        _ object: JSONObject, _ schema: JSONValue, place: String, _ strictness: Strictness
    ) -> [Violation] {
        let properties = schema["properties"]?.objectValue ?? JSONObject()
        let rest = schema["additionalProperties"]
        var found: [Violation] = []
        var needed = (schema["required"]?.arrayValue ?? []).compactMap(\.stringValue)
        if strictness == .exact { needed += properties.members.map(\.key).filter { !needed.contains($0) } }
        for name in needed where object[name] == nil {
            found.append(Violation(place: place, message: "lacks \(name)"))
        }
        for member in object.members {
            let inner = "\(place)/\(member.key)"
            if let property = properties[member.key] {
                found += violations(member.value, property, place: inner, strictness)
            } else if let rest, rest.objectValue != nil {
                found += violations(member.value, rest, place: inner, strictness)
            } else if rest == .bool(false) || (rest == nil && strictness == .exact) {
                found.append(Violation(place: inner, message: "is not described"))
            }
        }
        return found
    }

    private func depth(_ violations: [Violation]) -> Int { violations.map(\.place.utf8.count).max() ?? 0 }
}

// MARK: Scalars

private func textFaults(_ text: String, _ schema: JSONValue) -> [String] {
    var faults: [String] = []
    let length = Int64(text.unicodeScalars.count)
    if let least = schema["minLength"]?.integerValue, length < least { faults.append("is shorter than \(least)") }
    if let most = schema["maxLength"]?.integerValue, length > most { faults.append("is longer than \(most)") }
    if let pattern = schema["pattern"]?.stringValue {
        if let expression = try? Regex(pattern).matchingSemantics(.unicodeScalar) {
            if text.firstMatch(of: expression) == nil { faults.append("does not match \(pattern)") }
        } else {
            faults.append("has a pattern that cannot be read: \(pattern)")
        }
    }
    switch schema["format"]?.stringValue {
    case "uuid":
        if !isUUID(text) { faults.append("is no UUID") }
    case "date-time":
        if !isDateTime(text) { faults.append("is no date-time with a zone") }
    case "email":
        if text.wholeMatch(of: /[^@\s]+@[^@\s]+\.[^@\s]+/) == nil { faults.append("is no email address") }
    default: break
    }
    return faults
}

// A regular expression is compiled at each use, which took a sixth of the tests' own time for these two.

private func isUUID(_ text: String) -> Bool {
    matches(Array(text.utf8), "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh")
}

private func isDateTime(_ text: String) -> Bool {
    var bytes = Array(text.utf8)
    switch bytes.last {
    case UInt8(ascii: "Z"), UInt8(ascii: "z"): bytes.removeLast()
    default:
        guard matches(bytes.suffix(6), "+dd:dd") || matches(bytes.suffix(6), "-dd:dd") else { return false }
        bytes.removeLast(6)
    }
    let fraction = bytes.dropFirst(19)
    guard
        fraction.isEmpty
            || fraction.count > 1 && matches(fraction, "." + String(repeating: "d", count: fraction.count - 1))
    else { return false }
    return matches(bytes.prefix(19), "dddd-dd-ddTdd:dd:dd") || matches(bytes.prefix(19), "dddd-dd-ddtdd:dd:dd")
}

/// Returns whether the bytes match the pattern: `h` is a hexadecimal digit, `d` a decimal one, and every other
/// character is itself.
private func matches(_ bytes: some Collection<UInt8>, _ pattern: String) -> Bool {
    bytes.elementsEqual(pattern.utf8) { byte, wanted in
        let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        return switch wanted {
        case UInt8(ascii: "d"): isDigit
        case UInt8(ascii: "h"): isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
        default: byte == wanted
        }
    }
}

private func numberFaults(_ number: Double, _ schema: JSONValue) -> [String] {
    var faults: [String] = []
    if let least = schema["minimum"]?.doubleValue, number < least { faults.append("is less than \(least)") }
    if let most = schema["maximum"]?.doubleValue, number > most { faults.append("is more than \(most)") }
    return faults
}

extension JSONValue {
    fileprivate func isOfType(_ name: String) -> Bool {
        switch name {
        case "null": self == .null
        case "boolean": boolValue != nil
        case "integer": integerValue != nil
        case "number": doubleValue != nil
        case "string": stringValue != nil
        case "array": arrayValue != nil
        case "object": objectValue != nil
        default: false
        }
    }
}
