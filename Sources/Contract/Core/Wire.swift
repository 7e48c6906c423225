import JSON

/// A value that can be decoded from JSON: a scalar, a list or an object.
public protocol WireReadable: Sendable {
    init(json: JSONValue) throws(InvalidInput)
}

/// A value that can be encoded as JSON.
public protocol WireOutput: Sendable {
    func write(to json: inout JSONWriter)
}

/// A JSON object that is decoded field by field. Unknown members are ignored.
public protocol WireInput: WireReadable {
    init(_ fields: FieldReader) throws(InvalidInput)
}

extension WireInput {
    public init(json: JSONValue) throws(InvalidInput) {
        guard case .object(let object) = json else { throw .wrongType("an object", json) }
        try self.init(FieldReader(object))
    }
}

/// A value that can be decoded and encoded.
public typealias WireValue = WireReadable & WireOutput
/// An object that can be decoded and encoded, also as the whole body of a request or response.
public typealias WireObject = WireInput & WireOutput & WireContent

/// A value that is encoded as the members of an object, so that others can add members to it.
public protocol WireMembers: WireOutput {
    /// Writes the members, without braces.
    func writeMembers(to json: inout JSONWriter)
}

extension WireMembers {
    public func write(to json: inout JSONWriter) {
        json.object { json in writeMembers(to: &json) }
    }
}

extension WireOutput {
    /// The value as a JSON document.
    public var jsonBytes: [UInt8] {
        JSONWriter.document { write(to: &$0) }
    }
}

/// A field of an update: absent, null or a value.
public enum Patch<Value: Sendable>: Sendable {
    /// Keeps the current value.
    case absent
    /// Clears the value.
    case null
    case value(Value)

    /// Returns the value after the update.
    public func applied(to current: Value?) -> Value? {
        switch self {
        case .absent: current
        case .null: nil
        case .value(let value): value
        }
    }

    public var isAbsent: Bool {
        if case .absent = self { true } else { false }
    }
}

extension Patch: Equatable where Value: Equatable {}
extension Patch: Hashable where Value: Hashable {}

/// The fields of one JSON object, by name.
///
/// `required` needs a value, `optional` returns nil for absence and for null, and `patch` distinguishes them. Errors
/// name the field.
public struct FieldReader: Sendable {
    private let object: JSONObject
    /// The record of the names that are read, and the index of this object in it; nil to record none.
    private let nameRecord: (names: KnownNames, partIndex: Int)?

    public init(_ object: JSONObject) {
        self.object = object
        nameRecord = KnownNames.current.map { ($0, $0.addPart(object.members.map(\.key))) }
    }

    /// Returns the value of a member, and marks the name as known.
    private func value(_ name: String) -> JSONValue? {
        if let nameRecord { nameRecord.names.markKnown(name, in: nameRecord.partIndex) }
        return object[name]
    }

    public func required<Value: WireReadable>(
        _ name: String, as _: Value.Type = Value.self
    ) throws(InvalidInput) -> Value {
        guard let json = value(name) else { throw .required(name) }
        return try read(json, name)
    }

    public func optional<Value: WireReadable>(
        _ name: String, as _: Value.Type = Value.self
    ) throws(InvalidInput) -> Value? {
        guard let json = value(name), json != .null else { return nil }
        return try read(json, name)
    }

    /// Returns the value of a field, or `fallback` if it is absent. Null is refused.
    public func defaulted<Value: WireReadable>(_ name: String, to fallback: Value) throws(InvalidInput) -> Value {
        guard let json = value(name) else { return fallback }
        return try read(json, name)
    }

    public func patch<Value: WireReadable>(
        _ name: String, as _: Value.Type = Value.self
    ) throws(InvalidInput) -> Patch<Value> {
        guard let json = value(name) else { return .absent }
        return json == .null ? .null : .value(try read(json, name))
    }

    /// Refuses fields that people could mistake for fields of this object. A field that is null is not refused.
    /// - Parameter message: the message of the error.
    public func refuse(_ names: [String], _ message: String) throws(InvalidInput) {
        for name in names where object[name].map({ $0 != .null }) ?? false {
            throw InvalidInput(message, field: name)
        }
    }

    private func read<Value: WireReadable>(_ json: JSONValue, _ name: String) throws(InvalidInput) -> Value {
        do {
            return try Value(json: json)
        } catch {
            throw error.nested(in: name)
        }
    }
}

// MARK: Limits

extension FieldReader {
    /// Returns a text whose length in Unicode scalars (as in JSON Schema) is in the range.
    public func text(_ name: String, _ length: ClosedRange<Int>) throws(InvalidInput) -> String {
        try Self.checked(try required(name), name, length)
    }

    public func optionalText(_ name: String, _ length: ClosedRange<Int>) throws(InvalidInput) -> String? {
        guard let text: String = try optional(name) else { return nil }
        return try Self.checked(text, name, length)
    }

    public func textPatch(_ name: String, _ length: ClosedRange<Int>) throws(InvalidInput) -> Patch<String> {
        let patch: Patch<String> = try patch(name)
        if case .value(let text) = patch { _ = try Self.checked(text, name, length) }
        return patch
    }

    public func secret(_ name: String, _ length: ClosedRange<Int>) throws(InvalidInput) -> Secret {
        Secret(try text(name, length))
    }

    /// Returns a password of an allowed length without control characters.
    public func newPassword(_ name: String) throws(InvalidInput) -> Secret {
        let password = try text(name, Secret.passwordLengths)
        guard !password.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw .controlCharacters(in: name)
        }
        return Secret(password)
    }

    /// Returns a code in the form in which codes are compared. In this form its length is in the range.
    public func code(_ name: String, _ length: ClosedRange<Int>) throws(InvalidInput) -> String {
        try Self.checked(normalizedCode(try text(name, 0...64)), name, length)
    }

    public func integer(_ name: String, _ bounds: ClosedRange<Int>) throws(InvalidInput) -> Int {
        guard let value = try optionalInteger(name, bounds) else { throw .required(name) }
        return value
    }

    public func optionalInteger(_ name: String, _ bounds: ClosedRange<Int>) throws(InvalidInput) -> Int? {
        guard let value: Int = try optional(name) else { return nil }
        guard bounds.contains(value) else {
            throw .outOfRange(bounds, name)
        }
        return value
    }

    private static func checked(
        _ text: String, _ name: String, _ length: ClosedRange<Int>
    ) throws(InvalidInput) -> String {
        let count = text.unicodeScalars.count
        if count < length.lowerBound { throw .tooShort(length.lowerBound, name) }
        guard count <= length.upperBound else { throw .tooMany("characters", max: length.upperBound, in: name) }
        return text
    }
}
