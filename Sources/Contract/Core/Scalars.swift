import Domain
import JSON

/// A scalar that has a text, so that it can also be a path or query parameter. In JSON it is that text as a string,
/// except that a `Bool` is `true` or `false`.
public protocol WireText: WireReadable, WireOutput {
    init(wireText: String) throws(InvalidInput)
    var wireText: String { get }
}

extension WireText {
    public init(json: JSONValue) throws(InvalidInput) {
        try self.init(wireText: try String(json: json))
    }

    public func write(to json: inout JSONWriter) { json.string(wireText) }
}

extension String: WireValue {
    /// Refuses U+0000, which PostgreSQL's text type cannot store.
    public init(json: JSONValue) throws(InvalidInput) {
        guard case .string(let text) = json else { throw .wrongType("a string", json) }
        try text.refuseNUL()
        self = text
    }

    public func write(to json: inout JSONWriter) { json.string(self) }

    func refuseNUL() throws(InvalidInput) {
        if utf8.contains(0) { throw .containsNUL }
    }
}

extension String: WireText {
    public init(wireText: String) throws(InvalidInput) {
        try wireText.refuseNUL()
        self = wireText
    }
    public var wireText: String { self }
}

extension Bool: WireText {
    public init(json: JSONValue) throws(InvalidInput) {
        guard case .bool(let value) = json else { throw .wrongType("true or false", json) }
        self = value
    }

    public init(wireText: String) throws(InvalidInput) {
        guard let value = Bool(wireText) else { throw .notBoolean }
        self = value
    }

    public var wireText: String { description }
    public func write(to json: inout JSONWriter) { json.bool(self) }
}

extension Int: WireValue {
    public init(json: JSONValue) throws(InvalidInput) {
        guard json.doubleValue != nil else { throw .wrongType("an integer", json) }
        guard let value = json.integerValue.flatMap(Int.init(exactly:)) else {
            throw .not64BitInteger
        }
        self = value
    }

    public func write(to json: inout JSONWriter) { json.integer(self) }
}

extension Double: WireValue {
    public init(json: JSONValue) throws(InvalidInput) {
        guard let value = json.doubleValue else { throw .wrongType("a number", json) }
        self = value
    }

    public func write(to json: inout JSONWriter) { json.double(self) }
}

extension Identifier: WireText {
    public init(wireText: String) throws(InvalidInput) {
        guard let id = Self(wireText) else { throw .notUUID }
        self = id
    }

    public var wireText: String { description }
    public func write(to json: inout JSONWriter) { json.uuid(high: high, low: low) }
}

extension Timestamp: WireText {
    public init(wireText: String) throws(InvalidInput) {
        guard let moment = Timestamp(rfc3339: wireText), (Timestamp.firstWritable...Timestamp.lastWritable) ~= moment
        else { throw .notDateTime }
        self = moment
    }

    public var wireText: String { min(max(self, .firstWritable), .lastWritable).rfc3339 }
    public func write(to json: inout JSONWriter) { json.timestamp(microseconds: microseconds) }

    /// The first and last times with a four-digit year: 0001-01-01T00:00:00Z and the last microsecond of 9999.
    static let firstWritable = Timestamp(microseconds: -62_135_596_800_000_000)
    static let lastWritable = Timestamp.lastSecond + Timestamp.Span(microseconds: 999_999)
}

extension JSONWriter {
    /// Writes a quoted RFC 3339 time in UTC with three fraction digits, directly from a database row's microseconds. A
    /// time outside the years 1…9999 is clamped.
    public mutating func timestamp(microseconds: Int64) {
        let moment = min(max(Timestamp(microseconds: microseconds), .firstWritable), .lastWritable)
        string(packed: moment.rfc3339Words)
    }
}

extension TimeOfDay: WireText {
    public init(wireText: String) throws(InvalidInput) {
        guard let time = TimeOfDay(wireText) else { throw .notTimeOfDay }
        self = time
    }

    public var wireText: String { description }
}

// MARK: Free-form values

extension JSONObject: WireValue {
    public init(json: JSONValue) throws(InvalidInput) {
        guard case .object(let object) = json else { throw .wrongType("an object", json) }
        guard !json.containsNUL else { throw .containsNUL }
        self = object
    }

    public func write(to json: inout JSONWriter) { json.value(.object(self)) }
}

extension JSONValue {
    /// Whether a string or name contains U+0000.
    fileprivate var containsNUL: Bool {
        switch self {
        case .string(let text): text.utf8.contains(0)
        case .array(let elements): elements.contains(where: \.containsNUL)
        case .object(let object): object.members.contains { $0.key.utf8.contains(0) || $0.value.containsNUL }
        default: false
        }
    }
}

extension Dictionary: WireReadable where Key == String, Value == String {
    public init(json: JSONValue) throws(InvalidInput) {
        let object = try JSONObject(json: json)
        self.init(minimumCapacity: object.count)
        for member in object.members {
            do {
                self[member.key] = try String(json: member.value)
            } catch {
                throw error.nested(in: member.key)
            }
        }
    }
}

extension Dictionary: WireOutput where Key == String, Value == String {
    /// Writes the members sorted by name, so that the same map gives the same bytes.
    public func write(to json: inout JSONWriter) {
        json.object { json in
            for (name, text) in sorted(by: { $0.key < $1.key }) {
                json.key(escaping: name)
                json.string(text)
            }
        }
    }
}

extension Array: WireReadable where Element: WireReadable {
    public init(json: JSONValue) throws(InvalidInput) {
        guard case .array(let values) = json else { throw .wrongType("an array", json) }
        self.init()
        reserveCapacity(values.count)
        for (index, value) in values.enumerated() {
            do {
                append(try Element(json: value))
            } catch {
                throw error.nested(in: "[\(index)]")
            }
        }
    }
}

extension Array: WireOutput where Element: WireOutput {
    public func write(to json: inout JSONWriter) {
        json.array { json in
            for element in self { element.write(to: &json) }
        }
    }
}

// MARK: Fields

extension JSONWriter {
    /// Writes a member of an object.
    @inlinable
    public mutating func field(_ name: StaticString, _ value: some WireOutput) {
        key(name)
        value.write(to: &self)
    }

    /// Writes a member of an object; null for nil.
    @inlinable
    public mutating func field(_ name: StaticString, _ value: (some WireOutput)?) {
        key(name)
        if let value { value.write(to: &self) } else { null() }
    }

    /// Writes a member of an object; nothing for nil.
    @inlinable
    public mutating func fieldIfPresent(_ name: StaticString, _ value: (some WireOutput)?) {
        if let value { field(name, value) }
    }

    /// Writes a member of an update: nothing, null or a value.
    public mutating func patch<Value: WireOutput>(_ name: StaticString, _ patch: Patch<Value>) {
        switch patch {
        case .absent: break
        case .null:
            key(name)
            null()
        case .value(let value): field(name, value)
        }
    }
}
