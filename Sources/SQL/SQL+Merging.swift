/// Merges statements of one shape, for requests that wait at the same time: they share the round trip and the
/// database's cost of starting a statement.
///
/// The values become a table, `request`, with one row for each statement: the columns `value_1`, `value_2`, … and
/// `ordinal`, from 1. The table is passed as arrays, so one prepared statement serves any number of requests.
extension SQL {
    /// The placeholder after `WITH` that becomes the definition of the table `request` in a merged statement.
    ///
    /// A statement with this placeholder controls its own merging. It MUST name the table with `\(merged:)`, have the
    /// table in scope wherever it uses a value, and return `ordinal` as its first column.
    public static let requestTable = SQL(pieces: [.requestTable])

    /// Merges statements of one shape. The merged statement returns the rows of all of them. The first column is the
    /// `ordinal` of the statement to which a row belongs.
    ///
    /// A statement without `requestTable` MUST be a `SELECT`. Returns nil if the statements have no values, have
    /// runtime text, or have an array among their values.
    public static func merged(_ statements: [SQL]) -> SQL? {
        guard let first = statements.first, first.runtimeTexts.isEmpty, !first.values.isEmpty else { return nil }
        let types = first.values.map(\.type)
        let arrayTypes = types.compactMap(\.arrayType)
        guard arrayTypes.count == types.count else { return nil }

        // Only the first array is expanded, and the others are read by position: PostgreSQL builds a table of its own for
        // every array that it expands.
        var tableDefinition: [Piece] = [
            .literal("unnest("), .value(arrayTypes[0]), .literal(") WITH ORDINALITY AS request (value_1, ordinal)"),
        ]
        for (index, type) in arrayTypes.enumerated().dropFirst() {
            tableDefinition += [
                .literal(index == 1 ? " CROSS JOIN LATERAL (SELECT (" : ", ("), .value(type),
                .literal(")[ordinal::integer] AS "), .requestValue(index + 1),
            ]
        }
        if arrayTypes.count > 1 { tableDefinition.append(.literal(") others")) }

        var pieces: [Piece] = []
        var valueCount = 0
        var definesRequestTable = false
        for piece in first.pieces {
            switch piece.kind {
            case .value:
                valueCount += 1
                pieces.append(.requestValue(valueCount))
            case .onlyMerged: pieces.append(piece.asLiteral)
            case .requestTable:
                definesRequestTable = true
                pieces += [.literal("request AS (SELECT * FROM ")] + tableDefinition + [.literal("), ")]
            default: pieces.append(piece)
            }
        }
        if !definesRequestTable {
            pieces =
                [.literal("SELECT request.ordinal, answer.* FROM ")] + tableDefinition
                + [.literal(" CROSS JOIN LATERAL (")] + pieces
                + [.literal(") answer")]
        }
        var merged = SQL(pieces: pieces)
        merged.values = types.indices.map { index in .array(types[index], statements.map { $0.values[index] }) }
        return merged
    }
}
