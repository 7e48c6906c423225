/// The path and query parameters of an operation.
public protocol WireParameters: Sendable {
    init(_ parameters: ParameterReader) throws(InvalidInput)
    func write(to parameters: inout ParameterWriter)
}

/// The parameters of operations without path and query parameters.
public struct NoParameters: WireParameters, Hashable {
    public init() {}
    public init(_: ParameterReader) {}
    public func write(to _: inout ParameterWriter) {}
}

/// The parameters of one request by name, percent-decoded.
public struct ParameterReader: Sendable {
    public typealias Pair = (name: String, value: String)

    private let path: [Pair]
    private let query: [Pair]
    /// The record of the names that are read, and the index of the query in it; nil to record none.
    private let nameRecord: (names: KnownNames, partIndex: Int)?

    /// - Parameter names: records the names that are read; nil to record none.
    public init(path: [Pair] = [], query: [Pair] = [], names: KnownNames? = nil) {
        self.path = path
        self.query = query
        nameRecord = names.map { ($0, $0.addPart(query.map(\.name))) }
    }

    public func path<Value: WireText>(_ name: String, as _: Value.Type = Value.self) throws(InvalidInput) -> Value {
        guard let pair = path.first(where: { $0.name == name }) else {
            throw .required(name)
        }
        return try read(pair)
    }

    public func query<Value: WireText>(_ name: String, as _: Value.Type = Value.self) throws(InvalidInput) -> Value {
        guard let value: Value = try optionalQuery(name) else { throw .required(name) }
        return value
    }

    public func optionalQuery<Value: WireText>(
        _ name: String, as _: Value.Type = Value.self
    ) throws(InvalidInput) -> Value? {
        guard let pair = try queryPair(name) else { return nil }
        return try read(pair)
    }

    /// Returns the value of a parameter that has several names. If two of them are given, their values must be equal.
    public func optionalQuery<Value: WireText & Equatable>(
        _ name: String, or others: String..., as _: Value.Type = Value.self
    ) throws(InvalidInput) -> Value? {
        var value: Value? = try optionalQuery(name)
        for other in others {
            guard let otherValue: Value = try optionalQuery(other) else { continue }
            guard value == nil || value == otherValue else {
                throw .contradicts(name, other)
            }
            value = otherValue
        }
        return value
    }

    /// Returns the query parameter as an integer: ASCII digits after an optional minus sign. A number of more than
    /// 64 bits is clamped, because no operation distinguishes such numbers.
    public func optionalInteger(_ name: String) throws(InvalidInput) -> Int? {
        guard let text = try queryPair(name)?.value.utf8 else { return nil }
        let isNegative = text.first == UInt8(ascii: "-")
        let digits = isNegative ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else {
            throw .notInteger(name)
        }
        let magnitude = digits.reduce(0) { sum, digit in
            let (product, productOverflow) = sum.multipliedReportingOverflow(by: 10)
            let (next, overflow) = product.addingReportingOverflow(Int(digit - UInt8(ascii: "0")))
            return productOverflow || overflow || sum == Int.max ? Int.max : next
        }
        return isNegative ? -magnitude : magnitude
    }

    public func integer(_ name: String) throws(InvalidInput) -> Int {
        guard let value = try optionalInteger(name) else { throw .required(name) }
        return value
    }

    /// Returns the parameter `limit`, clamped to 1…200.
    public func limit(default fallback: Int) throws(InvalidInput) -> Int {
        min(max(try optionalInteger("limit") ?? fallback, 1), PageRequest.maxLimit)
    }

    /// Returns the query parameter with a name, and marks the name as known; nil if it was not sent. A repeated name is
    /// refused, because implementations differ in which value they use.
    private func queryPair(_ name: String) throws(InvalidInput) -> Pair? {
        if let nameRecord { nameRecord.names.markKnown(name, in: nameRecord.partIndex) }
        let matches = query.filter { $0.name == name }
        guard matches.count <= 1 else { throw .givenTwice(name) }
        return matches.first
    }

    private func read<Value: WireText>(_ pair: Pair) throws(InvalidInput) -> Value {
        do {
            return try Value(wireText: pair.value)
        } catch {
            throw error.nested(in: pair.name)
        }
    }
}

/// Collects the parameters of a request and writes its target.
public struct ParameterWriter: Sendable {
    public private(set) var path: [ParameterReader.Pair] = []
    public private(set) var query: [ParameterReader.Pair] = []

    public init() {}

    public mutating func path(_ name: String, _ value: some WireText) {
        path.append((name, value.wireText))
    }

    public mutating func query(_ name: String, _ value: some WireText) {
        query.append((name, value.wireText))
    }

    public mutating func query(_ name: String, _ value: Int) {
        query.append((name, String(value)))
    }

    /// Writes nothing for nil.
    public mutating func query(_ name: String, _ value: (some WireText)?) {
        if let value { query(name, value) }
    }

    /// Returns the template with its parameters replaced, followed by the query.
    public func target(of template: String) -> String {
        var target = template
        for pair in path {
            guard let range = target.firstRange(of: "{\(pair.name)}") else { continue }
            target.replaceSubrange(range, with: percentEncoded(pair.value))
        }
        for (index, pair) in query.enumerated() {
            target += (index == 0 ? "?" : "&") + percentEncoded(pair.name) + "=" + percentEncoded(pair.value)
        }
        return target
    }
}

/// Returns the text with every byte outside RFC 3986's unreserved set as `%XX`.
func percentEncoded(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var output: [UInt8] = []
    for byte in text.utf8 {
        if isLetterOrDigit(byte) || "-._~".utf8.contains(byte) {
            output.append(byte)
        } else {
            output += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
    }
    return String(decoding: output, as: UTF8.self)
}
