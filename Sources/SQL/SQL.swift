/// A statement, or a part of one, with its values separate from its text.
///
/// The text consists of literals (`StaticString`). Values enter only through `\(…)` and are sent as parameters, so a
/// statement built from a runtime string does not compile:
///
///     let sql: SQL = "SELECT status FROM nags WHERE family_id = \(family) AND id = \(nag)"
public struct SQL: Sendable, ExpressibleByStringInterpolation {
    var pieces: [Piece]
    /// The values, in the order of their placeholders.
    public internal(set) var values: [SQLValue] = []
    /// The texts of the pieces of kind `runtimeText`, in their order.
    private(set) var runtimeTexts: [String] = []

    public init(stringLiteral text: StaticString) { pieces = text.utf8CodeUnitCount == 0 ? [] : [.literal(text)] }

    public init(stringInterpolation: StringInterpolation) { self = stringInterpolation.sql }

    /// Creates a statement from runtime text, for migrations and names that cannot be parameters. MUST NOT contain
    /// input.
    public init(unsafeSQL text: String) {
        pieces = [.runtimeText]
        runtimeTexts = [text]
    }

    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var sql = SQL(pieces: [])
        private let interpolationCount: Int

        public init(literalCapacity _: Int, interpolationCount: Int) {
            self.interpolationCount = interpolationCount
            // Most interpolations are values; those that are parts have more pieces.
            sql.pieces.reserveCapacity(8 * interpolationCount + 1)
        }

        public mutating func appendLiteral(_ text: StaticString) {
            if text.utf8CodeUnitCount > 0 { sql.pieces.append(.literal(text)) }
        }

        /// Appends a value, which is bound as a parameter.
        @inlinable
        public mutating func appendInterpolation(_ value: some SQLBindable) { append(value.sqlValue) }

        @inlinable
        public mutating func appendInterpolation<Value: SQLBindable>(_ value: Value?) {
            append(value?.sqlValue ?? .null(Value.sqlType))
        }

        /// Appends a value that is often nil. Nil becomes the text `NULL` instead of a parameter, so it is neither sent
        /// nor merged.
        @inlinable
        public mutating func appendInterpolation<Value: SQLBindable>(rare value: Value?) {
            if let value { append(value.sqlValue) } else { appendLiteral("NULL") }
        }

        /// Appends a part of the statement; its parameters are renumbered.
        public mutating func appendInterpolation(_ part: SQL) {
            if !part.values.isEmpty { reserveValues() }
            sql.append(part)
        }

        /// Appends a constant of the program as text, so that the planner knows it: for example a limit.
        public mutating func appendInterpolation(literal number: Int) { sql.pieces.append(.number(number)) }

        /// Appends text that is used only if the statement is merged with others.
        public mutating func appendInterpolation(merged text: StaticString) { sql.pieces.append(.onlyMerged(text)) }

        @usableFromInline
        mutating func append(_ value: SQLValue) {
            reserveValues()
            sql.pieces.append(.value(value.type))
            sql.values.append(value)
        }

        /// Reserves capacity before the first value is appended: many statements have no values.
        private mutating func reserveValues() {
            if sql.values.isEmpty { sql.values.reserveCapacity(2 * interpolationCount) }
        }
    }

    init(pieces: [Piece]) { self.pieces = pieces }

    private mutating func append(_ part: SQL) {
        pieces.append(contentsOf: part.pieces)
        if !part.values.isEmpty { values.append(contentsOf: part.values) }
        if !part.runtimeTexts.isEmpty { runtimeTexts.append(contentsOf: part.runtimeTexts) }
    }

    /// Joins parts with `separator` between them.
    public static func joined(_ parts: [SQL], separator: StaticString) -> SQL {
        var joined = SQL(pieces: [])
        for (index, part) in parts.enumerated() {
            if index > 0, separator.utf8CodeUnitCount > 0 { joined.pieces.append(.literal(separator)) }
            joined.append(part)
        }
        return joined
    }

    /// The text with placeholders `$1`, `$2`, … in the order of `values`.
    public var text: String {
        var text = ""
        text.reserveCapacity(512)
        var valueCount = 0
        var runtimeTexts = runtimeTexts.makeIterator()
        for piece in pieces {
            switch piece.kind {
            case .literal: text += piece.text
            case .runtimeText: text += runtimeTexts.next() ?? ""
            case .value:
                valueCount += 1
                text += "$\(valueCount)"
            case .number: text += "\(piece.number)"
            case .requestTable, .onlyMerged: break
            case .requestValue: text += "value_\(piece.number)"
            }
        }
        return text
    }

    /// The key that identifies the text without building it: the addresses of its literals and the types of the values
    /// between them. Nil for a statement with runtime text. Statements with equal keys have one *shape*: the same text
    /// and the same types of values.
    public var statementKey: StatementKey? { runtimeTexts.isEmpty ? StatementKey(pieces: pieces) : nil }

    /// The identity of a statement's text; fast to compare and to hash.
    public struct StatementKey: Hashable, Sendable {
        fileprivate let pieces: [Piece]

        public func hash(into hasher: inout Hasher) {
            // These are addresses of the program's own literals, which no attacker chooses: a simple hash is enough.
            hasher.combine(pieces.reduce(0) { ($0 << 7 | $0 >> 57) ^ $1.word })
        }
    }
}
